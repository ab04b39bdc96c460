"""Multivariate microaggregation by maximum distance to the average vector: MDAV, as sdcMicro has it.

While 3k rows or more are left: r is the row farthest from their centre, s the one farthest from r; r's k nearest rows
are a group, then s's. With 2k or more, one group around r. What remains is the last group. Distances are squared and
each column is divided by its variance over all rows. Of rows equally far the first is farthest; of rows equally near
the last are nearest.

Here distances have double precision, while sdcMicro rounds them to single precision. The centre comes from an exact
sum, so the order of the rows cannot change it.
"""

from __future__ import annotations

from math import isqrt

import numpy as np

from mixbayes.local_methods.arithmetic.exact_sums import ExactSums
from mixbayes.local_methods.arithmetic.scaling import near_unit
from mixbayes.local_methods.grouping import Advance
from mixbayes.local_methods.microaggregation.blocks import Blocks
from mixbayes.local_methods.microaggregation.outskirts import Outskirts
from mixbayes.local_methods.tables import Floats, Indices, Mask

SMALLEST_BLOCK = 32
"""Rows. Blocks grow with the root of the table, so that bounds and distances take their share of the time alike."""


def mdav(points: Floats, k: int, done: Advance) -> Indices:
    """The group of each row: k rows in each, and up to 2k - 1 in the last. `done` is told how many rows have one."""
    scaled = near_unit(points)
    return weighted_mdav(scaled, _inverse_variances(scaled), k, done)


def weighted_mdav(points: Floats, weights: Floats, k: int, done: Advance) -> Indices:
    """The same with a weight for each column, of points so near to one that no square overflows or vanishes."""
    if len(points) < 2 * k:
        done(len(points))
        return np.zeros(len(points), dtype=np.intp)
    left = Ungrouped(points, weights)
    group: Indices = np.empty(len(points), dtype=np.intp)
    formed = 0
    while left.count >= 2 * k:
        r = left.farthest_from_centre()
        ends = [r, left.farthest_from(r)] if left.count >= 3 * k else [r]
        for end in ends:
            group[left.take_nearest(end, k)] = formed
            formed += 1
        done(k * len(ends))
    group[left.rows()] = formed
    done(left.count)
    return group


class Ungrouped:
    """The rows that have no group yet. What finds rows among them is made anew as they become fewer."""

    def __init__(self, points: Floats, weights: Floats) -> None:
        self.count = len(points)
        self._points, self._weights = points, weights
        self._sums = ExactSums(self._points)
        self._here: Mask = np.ones(len(points), dtype=np.bool_)
        self._stacks = Stacks(self._points)
        self._outskirts: Outskirts | None = None
        self._renew_blocks()

    def rows(self) -> Indices:
        return np.flatnonzero(self._here)

    def farthest_from_centre(self) -> Floats:
        centre = self._sums.rounded() / self.count
        if self._outskirts is None or self._outskirts.worn:
            self._outskirts = Outskirts(self._points, self._weights, self._stacks.lowest(), centre)
        return self._points[self._outskirts.farthest(centre, self._here)]

    def farthest_from(self, point: Floats) -> Floats:
        return self._points[self._blocks.farthest(point)]

    def take_nearest(self, point: Floats, k: int) -> Indices:
        near = self._stacks.nearest(*self._blocks.nearest(point, k), k)
        self._here[near] = False
        self._sums.remove(near)
        self._blocks.remove(self._stacks.take(near))
        self.count -= k
        if self._stacks.count < self._held / 2:
            self._renew_blocks()
        return near

    def _renew_blocks(self) -> None:
        self._held = self._stacks.count
        size = max(SMALLEST_BLOCK, isqrt(self._held) // 4)
        self._blocks = Blocks(self._points, self._weights, self._stacks.lowest(), size)


class Stacks:
    """Equal rows, the first lowest. They are taken from the top, so that the lowest stands for its stack to the end."""

    def __init__(self, points: Floats) -> None:
        self._order = np.lexsort(points.T)
        ordered = points[self._order]
        starts = np.flatnonzero(np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1)))
        lowest, sizes = self._order[starts], np.diff(starts, append=len(points))
        self._lowest: Indices = np.empty(len(points), dtype=np.intp)
        self._lowest[self._order] = np.repeat(lowest, sizes)
        self._start, self._height = np.zeros((2, len(points)), dtype=np.intp)
        self._start[lowest], self._height[lowest] = starts, sizes
        self.count = len(starts)

    def lowest(self) -> Indices:
        """The lowest row of each stack that is left."""
        return np.flatnonzero(self._height)

    def nearest(self, lowest: Indices, distances: Floats, k: int) -> Indices:
        """The k nearest rows of these stacks at these distances, the last of several at the same distance."""
        heights = self._height[lowest]
        if len(lowest) == heights.sum() == k:
            return lowest
        order = np.argsort(distances)
        reached = np.searchsorted(np.cumsum(heights[order]), k)
        within = distances <= distances[order[reached]]
        taken = np.minimum(heights[within], k)
        rows = self._tops(lowest[within], taken)
        return rows[np.lexsort((-rows, np.repeat(distances[within], taken)))[:k]]

    def _tops(self, lowest: Indices, taken: Indices) -> Indices:
        """So many rows from the top of each of these stacks."""
        ends = np.repeat(self._start[lowest] + self._height[lowest], taken)
        return self._order[ends - np.repeat(np.cumsum(taken), taken) + np.arange(taken.sum())]

    def take(self, rows: Indices) -> Indices:
        """Take these rows from the tops; the lowest rows of the stacks that are then gone."""
        lowest = self._lowest[rows]
        np.subtract.at(self._height, lowest, 1)
        gone = rows[rows == lowest]
        self.count -= len(gone)
        return gone


def _inverse_variances(points: Floats) -> Floats:
    """One over the variance of each column, and one for a constant column."""
    varied = points.max(axis=0) > points.min(axis=0)
    return 1 / np.where(varied, points.var(axis=0), 1.0)
