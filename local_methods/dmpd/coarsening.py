"""Coarser columns: values that too few rows share are merged, so that the column need not be left out.

The paper leaves open how DMPD is combined with generalisation, and this is the simplest way. An interval that too few
rows share is merged with the neighbour that costs the least class entropy, until enough rows share every interval. The
values of a nominal column that too few rows share become missing cells. If these are still too few, the next rarest
values join them. A missing number has no neighbour, so a column with too few of them stays as it is. So does a column
that would have one value left.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np

from mixbayes.local_methods.dmpd.discretisation import Discretiser, Intervals, entropy
from mixbayes.local_methods.tables import Codes, Mask, Nominal, Numeric, Table

Shared = Callable[[Codes], Mask]
"""Which rows of class counts are of enough rows."""


@dataclass(frozen=True)
class EnoughShare:
    """At least k rows, of one class if the class is in the key, and of so many classes."""

    k: int
    class_in_key: bool
    least_classes: int

    def __call__(self, counts: Codes) -> Mask:
        rows = np.where(counts > 0, counts, self.k).min(axis=1) if self.class_in_key else counts.sum(axis=1)
        return (rows >= self.k) & ((counts > 0).sum(axis=1) >= self.least_classes)


def coarsened(
    discretiser: Discretiser, table: Table, labels: Nominal, columns: Collection[int], shared: Shared
) -> Discretiser:
    """The discretiser with these columns so coarse that enough rows share every value, where that can be."""
    intervals, kept = dict(discretiser.intervals), {}
    for at in columns:
        column = table.columns[at]
        if isinstance(column, Numeric):
            intervals[at] = _wider(intervals[at], column, labels, shared)
        else:
            kept[at] = _kept(column, labels, shared)
    kept = {at: values for at, values in kept.items() if values}
    wider = {at for at, found in intervals.items() if len(found.cuts) < len(discretiser.intervals[at].cuts)}
    return Discretiser(intervals, kept, sorted(wider | kept.keys()))


def _wider(intervals: Intervals, column: Numeric, labels: Nominal, shared: Shared) -> Intervals:
    present = ~column.missing
    numbers, interval = column.numbers[present], intervals.of(column.numbers[present])
    counts = _class_counts(interval, len(intervals.means), labels.codes[present], labels)
    gone = _class_counts(np.zeros((~present).sum(), np.int64), 1, labels.codes[~present], labels)
    if gone.any() and not shared(gone)[0]:
        return intervals
    return Intervals.between(intervals.cuts[merged(counts, shared)], numbers)


def merged(counts: Codes, shared: Shared) -> Codes:
    """Which cuts remain between intervals, of which the classes are counted."""
    cuts = list(range(len(counts) - 1))
    while cuts and not (enough := shared(counts)).all():
        at = int(np.where(enough, counts.sum() + 1, counts.sum(axis=1)).argmin())
        beside = [left for left in (at - 1, at) if 0 <= left < len(cuts)]
        left = min(beside, key=lambda left: _lost(counts[left], counts[left + 1]))
        counts = np.vstack([counts[:left], counts[left : left + 2].sum(axis=0, keepdims=True), counts[left + 2 :]])
        del cuts[left]
    return np.array(cuts, np.int64)


def _lost(one: Codes, other: Codes) -> float:
    """The bits about the class that merging two intervals costs."""
    parts = np.stack([one + other, one, other])
    bits = entropy(parts) * parts.sum(axis=1)
    return float(bits[0] - bits[1] - bits[2])


def _kept(column: Nominal, labels: Nominal, shared: Shared) -> frozenset[object]:
    """The values that stay; none, if all do, or if no two different cells would be left."""
    counts = _class_counts(column.codes + 1, len(column.values) + 1, labels.codes, labels)
    hidden = joined(counts, shared)
    stay = counts[1:].any(axis=1) & ~hidden
    return frozenset(column.values[stay].tolist()) if hidden.any() else frozenset()


def joined(counts: Codes, shared: Shared) -> Mask:
    """Which values join the missing cells, whose class counts are the first row."""
    rows = counts.sum(axis=1)
    hidden = (rows > 0) & ~shared(counts)
    hidden[0] = True
    together = counts[hidden].sum(axis=0, keepdims=True)
    others = np.flatnonzero(~hidden & (rows > 0))
    for value in others[rows[others].argsort(kind="stable")]:
        if not together.any() or shared(together)[0]:
            break
        hidden[value] = True
        together = together + counts[value]
    return hidden[1:]


def _class_counts(codes: Codes, many: int, classes: Codes, labels: Nominal) -> Codes:
    cells = codes * len(labels.values) + classes
    return np.bincount(cells, minlength=many * len(labels.values)).reshape(many, len(labels.values))
