"""Numbers as intervals, cut where the class changes: Fayyad and Irani's minimum description length.

The paper says "supervised discretization" and no more. Cuts are learned from the training rows alone. A released
number is the mean of its interval, a missing one stays missing, and nominal columns are left as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mixbayes.local_methods.arithmetic.logarithms import log2
from mixbayes.local_methods.errors import UnfitTable
from mixbayes.local_methods.tables import MISSING, Codes, Column, Floats, Nominal, Numeric, Table


@dataclass(frozen=True, eq=False)
class Intervals:
    """The cuts of one column, each belonging to the interval below it, and the means of the intervals between them."""

    cuts: Floats = field(repr=False)
    means: Floats = field(repr=False)

    @staticmethod
    def learn(numbers: Floats, labels: Codes, classes: int) -> Intervals:
        """From the present cells of a column and the classes of their rows."""
        present = ~np.isnan(numbers)
        numbers, labels = numbers[present], labels[present]
        return Intervals.between(mdl_cuts(numbers, labels, classes), numbers)

    @staticmethod
    def between(cuts: Floats, numbers: Floats) -> Intervals:
        """The intervals between these cuts, with the means of these numbers."""
        return Intervals(cuts, _means(numbers, np.searchsorted(cuts, numbers), len(cuts) + 1))

    def of(self, numbers: Floats) -> Codes:
        """The interval of each number; the last, of one that is missing."""
        return np.searchsorted(self.cuts, numbers).clip(max=len(self.cuts))

    def __call__(self, column: Numeric) -> Numeric:
        means = self.means[self.of(column.numbers)]
        return Numeric(np.where(column.missing, np.nan, means))


@dataclass(frozen=True, eq=False)
class Discretiser:
    """The intervals of each numeric column of a table, by the column's position."""

    intervals: Mapping[int, Intervals]
    kept: Mapping[int, frozenset[object]] = field(default_factory=dict)
    """Of nominal columns that were made coarser, the values that stay. All others there become missing."""
    coarser: Sequence[int] = ()
    """The columns that were made coarser."""

    @staticmethod
    def learn(table: Table, labels: Nominal) -> Discretiser:
        columns = enumerate(table.columns)
        classes = len(labels.values)
        return Discretiser(
            {at: Intervals.learn(c.numbers, labels.codes, classes) for at, c in columns if isinstance(c, Numeric)}
        )

    def __call__(self, table: Table) -> Table:
        """The table with its numbers replaced by the means of their intervals, and coarser columns."""
        coarser = {at: _only(table.columns[at], values) for at, values in self.kept.items()}
        return table.with_columns(coarser | {at: self._column(table, at) for at in self.intervals})

    def _column(self, table: Table, at: int) -> Column:
        column = table.columns[at]
        if isinstance(column, Numeric):
            return self.intervals[at](column)
        if column.missing.all():
            return Numeric(np.full(len(column), np.nan))
        raise UnfitTable(f"Column {table.names[at]!r} held numbers when cuts were learned; now it holds texts.")


def _only(column: Column, values: Collection[object]) -> Column:
    if isinstance(column, Numeric):
        return column
    stays = np.array([*(value in values for value in column.values.tolist()), False])
    return column.with_codes(np.where(stays[column.codes], column.codes, MISSING))


def mdl_cuts(numbers: Floats, labels: Codes, classes: int) -> Floats:
    """Where to cut: at the least class entropy, and again on both sides, as long as a cut pays for its description."""
    values, at = np.unique(numbers, return_inverse=True)
    counts = np.bincount(at * classes + labels, minlength=len(values) * classes).reshape(-1, classes)
    below = np.vstack([np.zeros((1, classes), np.int64), counts.cumsum(axis=0)])
    cuts, waiting = [], [(0, len(values))]
    while waiting:
        low, high = waiting.pop()
        cut = _cut(below, low, high)
        if cut is not None:
            cuts.append(cut)
            waiting += [(low, cut), (cut, high)]
    return _between(values, np.sort(np.array(cuts, np.int64)))


def _cut(below: Codes, low: int, high: int) -> int | None:
    """The first value above the best cut of the values from `low` to below `high`, if it pays."""
    if high - low < 2:
        return None
    left = below[low + 1 : high] - below[low]
    right = below[high] - below[low + 1 : high]
    whole = (below[high] - below[low])[None]
    rows = whole.sum()
    split = (left.sum(axis=1) * entropy(left) + right.sum(axis=1) * entropy(right)) / rows
    best = int(split.argmin())
    gain = float(entropy(whole)[0] - split[best])
    price = log2(rows - 1) + _description(whole, left[best : best + 1], right[best : best + 1])
    return low + 1 + best if gain > price / rows else None


def _description(whole: Codes, left: Codes, right: Codes) -> float:
    """log₂(3^c − 2) − (c·H − c₁·H₁ − c₂·H₂), c being the classes that occur; for many, 3^c − 2 is 3^c."""
    present = int((whole > 0).sum())
    told = log2(3**present - 2) if present < 30 else present * log2(3)
    return float(told - (_weighed(whole) - _weighed(left) - _weighed(right)))


def _weighed(counts: Codes) -> float:
    return float((counts > 0).sum() * entropy(counts)[0])


def entropy(counts: Codes) -> Floats:
    """In bits, for each row of class counts."""
    share = counts / counts.sum(axis=1, keepdims=True)
    return -(share * log2(np.where(share > 0, share, 1))).sum(axis=1)


def _between(values: Floats, above: Codes) -> Floats:
    """Midway between neighbours, or at the lower one if no number lies between."""
    low, high = values[above - 1], values[above]
    middle = low / 2 + high / 2
    return np.where((middle > low) & (middle < high), middle, low)


def _means(numbers: Floats, interval: Codes, intervals: int) -> Floats:
    counts = np.bincount(interval, minlength=intervals)
    low, high = np.full(intervals, np.inf), np.full(intervals, -np.inf)
    np.minimum.at(low, interval, numbers)
    np.maximum.at(high, interval, numbers)
    with np.errstate(over="ignore"):
        means: Floats = np.bincount(interval, numbers, minlength=intervals) / np.maximum(counts, 1)
    if not np.isfinite(means).all():  # the sum was too large: divided first, the last digit is less exact
        means = np.bincount(interval, numbers / counts[interval], minlength=intervals).astype(np.float64)
    return np.clip(means, low, high) + 0.0  # a zero has no sign
