"""The anonymity rules: they replace the cells of a column, in the table or in new rows, by the values of the cut."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixbayes.local_methods.aggregating import NO_GROUP, group_means
from mixbayes.local_methods.errors import UnfitTable
from mixbayes.local_methods.generalisation.taxonomy import ROOT, Taxonomy
from mixbayes.local_methods.tables import MISSING, Codes, Column, Floats, Mask, Nominal, Numeric


class Rule(ABC):
    """Of one column."""

    @abstractmethod
    def __call__(self, column: Column) -> Column:
        """The column as it is released."""

    @property
    @abstractmethod
    def cut(self) -> list[Any]:
        """The cut in plain terms: names of nodes, values that are disclosed, or the numbers where it is cut."""

    @property
    @abstractmethod
    def silent(self) -> bool:
        """Whether no cell is released."""


@dataclass(frozen=True, eq=False)
class TaxonomyRule(Rule):
    """Each value becomes the node on the cut that it hangs below. A missing cell stays missing, unless at the root."""

    tree: Taxonomy
    nodes: Sequence[int]
    values: NDArray[Any] = field(repr=False)
    """What a release may hold: the values of the table first."""
    code: Codes = field(repr=False)
    """Of each node, among these."""

    @staticmethod
    def of(column: Nominal, tree: Taxonomy, nodes: Sequence[int]) -> TaxonomyRule:
        own = {str(value): code for code, value in enumerate(column.values.tolist())}
        others = [name for name in tree.written if name not in own]
        place = own | {name: len(own) + at for at, name in enumerate(others)}
        texts = column.values.dtype.kind == "U"
        values = np.array([*column.values.tolist(), *others], None if texts else object)
        code = np.array([*(place[name] for name in tree.written), MISSING])
        return TaxonomyRule(tree, nodes, values, code)

    def __call__(self, column: Column) -> Nominal:
        column = _nominal(column, self.tree.column)
        leaves = [self.tree.leaf_of(value) for value in column.values.tolist()]
        # A value that the taxonomy does not have is treated like a missing cell.
        leaf = np.array([*(self.tree.missing if at is None else at for at in leaves), self.tree.missing])
        on_cut = np.isin(self.tree.path[leaf], self.nodes)
        node = self.tree.path[leaf, on_cut.argmax(axis=1)]
        return Nominal(self.code[node][column.codes], self.values)

    @property
    def cut(self) -> list[str]:
        return [self.tree.written[node] for node in self.nodes if node != self.tree.missing]

    @property
    def silent(self) -> bool:
        return list(self.nodes) == [ROOT]


@dataclass(frozen=True, eq=False)
class SuppressionRule(Rule):
    """A disclosed value stays, any other becomes missing."""

    values: NDArray[Any] = field(repr=False)
    disclosed: Mask = field(repr=False)

    def __call__(self, column: Column) -> Nominal:
        column = _nominal(column, "")
        code = {value: at for at, value in enumerate(self.values.tolist()) if self.disclosed[at]}
        codes = np.array([*(code.get(value, MISSING) for value in column.values.tolist()), MISSING])
        return Nominal(codes[column.codes], self.values)

    @property
    def cut(self) -> list[Any]:
        return self.values[self.disclosed].tolist()

    @property
    def silent(self) -> bool:
        return not self.disclosed.any()


@dataclass(frozen=True, eq=False)
class IntervalRule(Rule):
    """A number becomes the mean of its interval's rows, because a federation counts numbers.

    If the column is a single interval, nothing is released: rows without a number would get its mean too.
    """

    cuts: Floats = field(repr=False)
    means: Floats = field(repr=False)
    whole: bool = False
    """Whether it was never refined."""

    @staticmethod
    def of(numbers: Floats, values: Floats, after: Sequence[int], *, whole: bool) -> IntervalRule:
        """From the different numbers and the ranks of those that end an interval."""
        at = np.array(after, np.int64)
        cuts = _between(values[at], values[at + 1])
        interval = np.searchsorted(cuts, numbers)
        group = np.where(np.isnan(numbers), NO_GROUP, interval)
        mean = group_means(numbers[:, None], group)[:, 0]
        means = np.full(len(cuts) + 1, np.nan)
        means[group[group != NO_GROUP]] = mean[group != NO_GROUP]
        return IntervalRule(cuts, means, whole)

    def __call__(self, column: Column) -> Numeric:
        if self.whole or column.missing.all():
            return Numeric(np.full(len(column), np.nan))
        if not isinstance(column, Numeric):
            raise UnfitTable("A column held numbers when its intervals were learned; now it holds texts.")
        means = self.means[np.searchsorted(self.cuts, column.numbers).clip(max=len(self.cuts))]
        return Numeric(np.where(column.missing, np.nan, means))

    @property
    def cut(self) -> list[float]:
        return self.cuts.tolist()

    @property
    def silent(self) -> bool:
        return self.whole


def _nominal(column: Column, name: str) -> Nominal:
    if isinstance(column, Nominal):
        return column
    if column.missing.all():
        return Nominal(np.full(len(column), MISSING, np.int64), np.empty(0, object))
    raise UnfitTable(f"Column {name!r} held values of a list when its cut was learned; now it holds numbers.")


def _between(low: Floats, high: Floats) -> Floats:
    """Midway between neighbours, or at the lower one if no number lies between."""
    middle = low / 2 + high / 2
    return np.where((middle > low) & (middle < high), middle, low)
