"""Rows divided by a kd-tree: steps 1 to 4 of Roy's perturbation tree.

A node is cut across the attribute with the largest variance, measured on the scaled table, at its mid-range or median.
If that leaves too few rows on one side (the paper releases single records), the cut moves to the nearest place that
leaves enough rows on both sides. "Until attributes are exhausted" is read as: until no attribute has such a place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mixbayes.local_methods.arithmetic.scaling import Scaling, near_unit, spreads
from mixbayes.local_methods.tables import Floats, Indices, Mask

Split = Literal["midrange", "median"]

CACHED_ROWS = 1 << 14
"""More rows than this are taken apart before the next level, so that a level stays in the processor's cache."""

ALIKE: Mapping[Scaling, float] = {"min-max": 1.0, "z-score": 1 - 2.0**-40}
"""Of the largest variance: so large ones count as equal to it, and the first such column is cut. In the root all
z-scores have a variance of one, but for roundings."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How nodes are cut: where they hold more than `largest` rows, leaving at least `least` on each side."""

    largest: int
    least: int
    split: Split
    weights: Floats
    alike: float
    random: np.random.Generator


@dataclass(frozen=True, slots=True)
class Level:
    """Nodes of one depth, their rows side by side."""

    columns: Floats
    rows: Indices
    sizes: Indices

    @property
    def starts(self) -> Indices:
        return np.cumsum(self.sizes) - self.sizes

    def sums(self, values: Floats) -> Floats:
        return np.add.reduceat(values, self.starts)

    def counts(self, rows: Mask) -> Indices:
        return np.add.reduceat(rows, self.starts, dtype=np.intp)

    def only(self, nodes: Mask) -> Level:
        return self if nodes.all() else self.taken(np.flatnonzero(np.repeat(nodes, self.sizes)), self.sizes[nodes])

    def taken(self, places: Indices, sizes: Indices) -> Level:
        return Level(self.columns.take(places, axis=1), self.rows[places], sizes)

    def parts(self) -> list[Level]:
        """The level in two, if it is too large for the cache."""
        if self.rows.size <= CACHED_ROWS or self.sizes.size == 1:
            return [self]
        first = max(1, int(np.searchsorted(self.starts, self.rows.size // 2)))
        at = int(self.sizes[:first].sum())
        return [
            Level(self.columns[:, :at], self.rows[:at], self.sizes[:first]),
            Level(self.columns[:, at:], self.rows[at:], self.sizes[first:]),
        ]


def partition(
    points: Floats,
    largest: int,
    least: int,
    split: Split,
    random: np.random.Generator,
    scaling: Scaling = "min-max",
) -> Indices:
    """The leaf of each row, numbered from 0. Each holds `least` rows or more, if there are as many.

    More than `largest` are in a leaf only where no attribute can be cut.
    """
    columns, weights = _scaled_columns(points, scaling)
    rule = Rule(largest, least, split, weights, ALIKE[scaling], random)
    leaf: Indices = np.zeros(len(points), dtype=np.intp)
    leaves = 1
    root = Level(columns, np.arange(len(points)), np.array([len(points)]))
    pending = [root] if len(points) > largest else []
    del columns, root  # the levels below are copies
    while pending:
        level, order, sizes = _halved(pending.pop(), rule)
        leaf[level.rows[order]] = leaves + np.repeat(np.arange(sizes.size), sizes)
        leaves += sizes.size
        large = sizes > largest
        if large.any():
            pending += level.taken(order[np.repeat(large, sizes)], sizes[large]).parts()
    return np.unique(leaf, return_inverse=True)[1]


def _scaled_columns(points: Floats, scaling: Scaling) -> tuple[Floats, Floats]:
    """The columns brought to about one, and what their variances are multiplied by."""
    scaled = near_unit(points)
    return np.ascontiguousarray(scaled.T), 1 / spreads(scaled, scaling) ** 2


def _halved(level: Level, rule: Rule) -> tuple[Level, Indices, Indices]:
    """The nodes that can be cut, the order of their rows that puts the halves side by side, and the halves' sizes."""
    right, cut = _sides(level, _variances(level, rule), rule)
    if not cut.all():
        right, level = right[np.repeat(cut, level.sizes)], level.only(cut)
    rights = level.counts(right)
    return level, _gathered(level, right, rights), np.stack([level.sizes - rights, rights], axis=1).ravel()


def _gathered(level: Level, right: Mask, rights: Indices) -> Indices:
    """The order that puts the left rows of each node before its right ones, both as they stood."""
    lefts = level.sizes - rights
    left_before = np.cumsum(~right)
    here = np.arange(right.size)
    to_left = left_before - 1 + np.repeat(np.cumsum(rights) - rights, level.sizes)
    to_right = here - left_before + np.repeat(np.cumsum(lefts), level.sizes)
    order = np.empty_like(here)
    order[np.where(right, to_right, to_left)] = here
    return order


def _variances(level: Level, rule: Rule) -> Floats:
    """The variance of each attribute in each node, in two passes, because nodes deep down are narrow."""
    variances = np.empty((len(level.columns), level.sizes.size))
    for column, weight, into in zip(level.columns, rule.weights, variances, strict=True):
        deviations = column - np.repeat(level.sums(column) / level.sizes, level.sizes)
        deviations *= deviations
        into[:] = level.sums(deviations) / level.sizes * weight
    return variances


def _sides(level: Level, variances: Floats, rule: Rule) -> tuple[Mask, Mask]:
    """Which rows go to the right, and which nodes can be cut at all."""
    attributes = (variances >= rule.alike * variances.max(axis=0)).argmax(axis=0)
    values = level.columns[np.repeat(attributes, level.sizes), np.arange(level.rows.size)]
    right = _beyond_middle(level, values, rule)
    rights = level.counts(right)
    cut = np.minimum(rights, level.sizes - rights) >= rule.least
    if not cut.all():
        short = ~cut
        where = np.repeat(short, level.sizes)
        right[where], cut[short] = _beyond_nearest(level.only(short), values[where], rights[short], rule.least)
    if not cut.all():
        rest = np.where(np.arange(len(variances))[:, None] == attributes, 0.0, variances)
        again = ~cut & (rest.max(axis=0) > 0)
        if again.any():
            where = np.repeat(again, level.sizes)
            right[where], cut[again] = _sides(level.only(again), rest[:, again], rule)
    return right, cut


def _beyond_middle(level: Level, values: Floats, rule: Rule) -> Mask:
    """The rows above the mid-range or median. Those on it go to one side, by lot: the paper's epsilon."""
    middle = _midranges(level, values) if rule.split == "midrange" else _medians(level, values)
    middle = np.repeat(middle, level.sizes)
    along = np.repeat(rule.random.random(level.sizes.size) < 0.5, level.sizes)
    return (values > middle) | ((values == middle) & along)


def _midranges(level: Level, values: Floats) -> Floats:
    return (np.minimum.reduceat(values, level.starts) + np.maximum.reduceat(values, level.starts)) / 2


def _medians(level: Level, values: Floats) -> Floats:
    low, high = _at_ranks(level, values, (level.sizes - 1) // 2, level.sizes // 2)
    return (low + high) / 2


def _at_ranks(level: Level, values: Floats, *ranks: Indices) -> list[Floats]:
    """The values that stand in these places of each node once it is sorted."""
    if level.sizes.size == 1:
        return list(np.partition(values, np.concatenate(ranks))[np.stack(ranks)])
    ordered = values[np.lexsort((values, np.repeat(np.arange(level.sizes.size), level.sizes)))]
    return [ordered[level.starts + rank] for rank in ranks]


def _beyond_nearest(level: Level, values: Floats, rights: Indices, least: int) -> tuple[Mask, Mask]:
    """The rows above the place nearest to the wanted cut that leaves `least` on each side, and where there is one."""
    mirrored = np.repeat(rights < level.sizes - rights, level.sizes)
    outward = np.where(mirrored, -values, values)
    (last,) = _at_ranks(level, outward, np.minimum(least, level.sizes) - 1)
    outer = outward <= np.repeat(last, level.sizes)
    return outer == mirrored, level.counts(outer) <= level.sizes - least
