"""What all kinds of condensation share: groups are drawn anew, and the release is checked against them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions
from threadpoolctl import threadpool_limits

from mixbayes.local_methods.arithmetic.scaling import largest_exponents
from mixbayes.local_methods.base import KEEPING_CONSTRAINTS, LocalMethod, Progress, Records, Released, Work
from mixbayes.local_methods.condensation.resynthesis import resynthesised
from mixbayes.local_methods.condensation.synthesis import DISTRIBUTIONS
from mixbayes.local_methods.coordinates import nominals, numerics
from mixbayes.local_methods.grouping import Advance, Groups, groups_by_kmeans, groups_by_seeds
from mixbayes.local_methods.guarantee import Guarantee
from mixbayes.local_methods.originals import in_original, without_originals
from mixbayes.local_methods.tables import Codes, Floats, Mask, Nominal, Numeric, Table

LEAST_ROWS = 3
"""The smallest group: two rows with a given mean and covariance are the two rows themselves."""

GROUPINGS = {"random": groups_by_seeds, "kmeans": groups_by_kmeans}

ROUNDING = 1e-6
"""In standard deviations of a column: how far rounding may move the mean of a group, or its (co)variance."""

CONDENSING_CONSTRAINTS: Mapping[str, Any] = {
    **KEEPING_CONSTRAINTS,
    "distribution": [StrOptions(set(DISTRIBUTIONS))],
}


class Condensing(LocalMethod):
    """Groups of at least `group_size_` rows, each drawn anew with its own statistics.

    A subclass says how the rows are grouped. A released row stands where a row of its group stood, in no order within
    the group.
    """

    LEARNED: ClassVar[tuple[str, ...]] = ("group_size", "groups_formed", "suppressed_cells")
    NOT_PROMISED: ClassVar[str] = ""

    distribution: str

    @abstractmethod
    def _grouped(self, work: Work) -> tuple[Groups, int]:
        """The group of every row, and the size that every group has at least."""

    def _pools(self, work: Work) -> Codes:
        """Which groups may be taken together where too few of their rows have a number: here, all."""
        return np.zeros(work.table.rows, np.int64)

    def _release(self, work: Work) -> Released:
        # One thread: several add up in an order of their own, and the last digit of a mean could move a row. Besides,
        # the matrices of a group are so small that threads would spend their time on waiting for each other.
        exponents = _exponents(work.table)
        with threadpool_limits(1):
            released = self._condensed(replace(work, table=_scaled(work.table, -exponents)))
        return replace(released, table=_scaled(released.table, exponents))

    def _condensed(self, work: Work) -> Released:
        groups, size = self._grouped(work)
        pools = self._pools(work)
        draw = DISTRIBUTIONS[self.distribution]
        drawn = resynthesised(_labelled(work), groups, pools, size, work.random, draw, work.progress)
        table, labels = _unlabelled(drawn, work)
        table = without_originals(table, work.table, groups, work.random)
        self.suppressed_cells_ = table.missing_cells() - work.table.missing_cells()
        self.groups_, self.group_size_, self.groups_formed_ = groups, size, int(groups.max()) + 1
        return Released(table, labels)

    def _guarantee(self, work: Work, released: Released) -> Guarantee:
        smallest = int(np.bincount(self.groups_).min())
        originals = in_original(released.table, work.table).any()
        exponents = _exponents(work.table)
        before, after = (_scaled(_labelled(records), -exponents) for records in (work, released))
        return Guarantee(
            claim=f"every released row is drawn from the statistics of a group of at least {self.group_size_} rows, "
            "and none is a row of the original",
            privacy=True,
            measured=smallest,
            holds=bool(
                smallest >= self.group_size_
                and not originals
                and groups_stand_for(before, after, self.groups_, self.group_size_)
            ),
            not_promised=self.NOT_PROMISED,
        )


def groups_stand_for(original: Table, released: Table, groups: Groups, k: int) -> bool:
    """Whether every group of the release has the moments of its original, where k rows had the number and still have.

    And no value more often: suppression may have made it rarer.
    """
    numbers = zip(numerics(original), numerics(released), strict=True)
    values = zip(nominals(original), nominals(released), strict=True)
    return _same_moments(
        [_Moments(before.numbers, after.numbers, groups, k) for (_, before), (_, after) in numbers], groups
    ) and all(_no_value_gained(before, after, groups) for (_, before), (_, after) in values)


class _Moments:
    """A numeric column before and after, and in which groups its moments are to be equal."""

    def __init__(self, before: Floats, after: Floats, groups: Groups, k: int) -> None:
        present = _present(before, groups)
        self.complete = (present == _present(after, groups)) & (present >= k)
        self.whole = self.complete & (present == np.bincount(groups))
        self.spread = np.nanstd(before) + np.abs(np.nanmean(before)) * np.sqrt(np.finfo(float).eps)
        means = _means(before, groups), _means(after, groups)
        self.moved = np.abs(means[0] - means[1])
        self.before, self.after = before - means[0][groups], after - means[1][groups]


def _same_moments(columns: Sequence[_Moments], groups: Groups) -> bool:
    """Means and variances; and covariances, where a group has all numbers of both columns."""
    return all((one.moved[one.complete] <= ROUNDING * one.spread).all() for one in columns) and all(
        _same_covariance(one, other, one.complete if one is other else one.whole & other.whole, groups)
        for one, other in combinations_with_replacement(columns, 2)
    )


def _same_covariance(one: _Moments, other: _Moments, where: Mask, groups: Groups) -> bool:
    moved = np.abs(_means(one.before * other.before, groups) - _means(one.after * other.after, groups))
    return bool((moved[where] <= ROUNDING * one.spread * other.spread).all())


def _no_value_gained(before: Nominal, after: Nominal, groups: Groups) -> bool:
    (old, had), (new, has) = (_counted(column, groups) for column in (before, after))
    at = np.searchsorted(old, new)
    return bool(np.isin(new, old).all() and (has <= had[at]).all())


def _counted(column: Nominal, groups: Groups) -> tuple[Codes, Codes]:
    """The values in each group, as numbers in their order, and how often they are there."""
    keys = groups.astype(np.int64) * (len(column.values) + 1) + column.codes
    return np.unique(keys[~column.missing], return_counts=True)


def _present(numbers: Floats, groups: Groups) -> Codes:
    return np.bincount(groups[~np.isnan(numbers)], minlength=int(groups.max()) + 1)


def _means(numbers: Floats, groups: Groups) -> Floats:
    return np.bincount(groups, np.nan_to_num(numbers)) / np.maximum(_present(numbers, groups), 1)


def _exponents(table: Table) -> Codes:
    """By which powers of two the numeric columns have to be divided to lie between -1 and 1."""
    return np.array([largest_exponents(column.numbers[:, None])[0] for _, column in numerics(table)], np.int64)


def _scaled(table: Table, exponents: Codes) -> Table:
    """Each numeric column times a power of two, which rounds nothing."""
    scaled = zip(numerics(table), exponents, strict=True)
    return table.with_columns({at: Numeric(np.ldexp(column.numbers, power)) for (at, column), power in scaled})


def _labelled(records: Records) -> Table:
    """The table with the classes as its last column, so that they are dealt out like any nominal column."""
    table = records.table
    return table if records.labels is None else Table((*table.names, ""), (*table.columns, records.labels), table.rows)


def _unlabelled(drawn: Table, work: Work) -> tuple[Table, Nominal | None]:
    if work.labels is None:
        return drawn, None
    labels = drawn.columns[-1]
    table = Table(work.table.names, drawn.columns[:-1], drawn.rows)
    return table, labels if isinstance(labels, Nominal) else None


def advance(progress: Progress, total: int) -> Advance:
    """Counts grouped rows towards the total."""
    done = 0

    def step(rows: int) -> None:
        nonlocal done
        done += rows
        progress("grouping rows", done, total)

    return step
