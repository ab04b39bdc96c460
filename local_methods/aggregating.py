"""What microaggregation and the perturbation tree share: confidential cells are replaced by the means of groups."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from mixbayes.local_methods.base import KEEPING_CONSTRAINTS, LocalMethod, Released, Work
from mixbayes.local_methods.confidential import confidential_columns
from mixbayes.local_methods.errors import UnfitTable
from mixbayes.local_methods.guarantee import Guarantee
from mixbayes.local_methods.measures.release import k_anonymity
from mixbayes.local_methods.tables import Floats, Indices, Mask, Table

NO_GROUP = -1
"""Where the cells are missing in the release."""

AGGREGATING_CONSTRAINTS: Mapping[str, Any] = {
    **KEEPING_CONSTRAINTS,
    "confidential": [list, tuple, None],
}


class Aggregating(LocalMethod):
    """Releases the means of groups in the confidential columns, and everything else as it is.

    A subclass says how many rows a group has at least, and how the rows are grouped.
    """

    LEARNED: ClassVar[tuple[str, ...]] = ("groups_formed", "suppressed_cells")

    confidential: Sequence[str] | None

    @property
    @abstractmethod
    def _least(self) -> int:
        """How many rows a group has at least."""

    @property
    def _jointly(self) -> bool:
        """Whether the groups of a row are the same in all confidential columns."""
        return True

    @abstractmethod
    def _grouped(self, work: Work, at: Sequence[int]) -> Indices:
        """The group of each row, or of each cell in the columns at these positions."""

    def _release(self, work: Work) -> Released:
        if work.table.rows < self._least:
            raise UnfitTable(
                f"Groups are to have {self._least} rows at least, but n_samples = {work.table.rows}. "
                "Choose smaller groups."
            )
        at = confidential_columns(work.table, self.confidential)
        values = work.table.numbers(at)
        groups = self._grouped(work, at)
        released = group_means(values, groups)
        self.groups_, self.groups_formed_ = groups, int(groups.max()) + 1
        self.suppressed_cells_ = int(np.isnan(released).sum() - np.isnan(values).sum())
        return Released(work.table.with_numbers(released, at), work.labels)

    def _guarantee(self, work: Work, released: Released) -> Guarantee:
        at = confidential_columns(released.table, self.confidential)
        shown = [released.table.names[p] for p in at]
        columns = released.table.select(at)
        parts = [columns] if self._jointly else [columns.select([j]) for j in range(len(at))]
        counts = [count for part in parts if (count := _rarest(part)) is not None]
        what = "combination" if self._jointly and len(at) > 1 else "value"
        return Guarantee(
            claim=f"Every released {what} of {', '.join(shown)} is shared by at least {self._least} rows",
            measured=float(min(counts)) if counts else None,
            holds=min(counts, default=self._least) >= self._least,
            people=f"{self._least}-anonymity of {', '.join(shown)}" if self._jointly or len(at) == 1 else None,
            not_promised="that single numbers stay hidden: the mean of a group times its size is its sum, few whole "
            "numbers can have a given sum, and all of a group may have the same number",
        )


def _rarest(table: Table) -> int | None:
    """How many rows share the rarest combination, of those in which any cell is left."""
    return k_anonymity(table.only(np.flatnonzero(~table.empty())).columns)


def group_means(values: Floats, groups: Indices) -> Floats:
    """The mean of each group in each column, in the places of its values; not-a-number where there is no group.

    Groups are of rows, or of the cells of each column. Where all values of a group are equal, the mean is too, to the
    last bit.
    """
    if groups.ndim > 1:
        return np.column_stack([group_means(values[:, [j]], groups[:, j]) for j in range(values.shape[1])])
    means = np.full(values.shape, np.nan)
    order = np.argsort(groups, kind="stable")[np.count_nonzero(groups == NO_GROUP) :]
    if order.size:
        starts = np.flatnonzero(np.diff(groups[order], prepend=NO_GROUP))
        sizes = np.diff(starts, append=order.size)
        for j, column in enumerate(values.T):
            means[order, j] = np.repeat(_means(column[order], starts, sizes), sizes)
    return means


def _means(ordered: Floats, starts: Indices, sizes: Indices) -> Floats:
    low, high = np.minimum.reduceat(ordered, starts), np.maximum.reduceat(ordered, starts)
    return np.clip(np.add.reduceat(ordered, starts) / sizes, low, high) + 0.0  # a zero has no sign


def grouped_alike(missing: Mask, least: int, group: Callable[[Indices, Indices], Indices]) -> Indices:
    """The group of each row, among the rows that lack the same confidential cells.

    So a missing cell stays missing, and a mean stands for as many people as its group has. Where fewer than `least`
    rows lack the same cells, they get no group. `group` is asked for the groups of some rows by some columns.
    """
    groups: Indices = np.full(len(missing), NO_GROUP, dtype=np.intp)
    patterns, which = np.unique(missing, axis=0, return_inverse=True)
    order = np.argsort(which, kind="stable")
    following = 0
    for pattern, rows in zip(patterns, np.split(order, np.cumsum(np.bincount(which))[:-1]), strict=True):
        present = np.flatnonzero(~pattern)
        if len(rows) >= least and present.size:
            groups[rows] = following + group(rows, present)
            following = int(groups[rows].max()) + 1
    return groups
