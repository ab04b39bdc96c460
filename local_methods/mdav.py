"""Multivariate microaggregation by maximum distance to the average vector: MDAV, as sdcMicro has it.

While 3k rows or more are left: r is the row farthest from their centre, s the one farthest from r; r's k nearest rows
are a group, then s's. With 2k or more, one group around r. What remains is the last group. Distances are squared and
each column is divided by its variance over all rows. Of rows equally far the first is farthest; of rows equally near
the last are nearest.

Here distances are of double precision, where sdcMicro rounds them to single, and the centre is that of an exact sum,
which no order of the rows can change.
"""

from __future__ import annotations

from math import isqrt

import numpy as np

from mixbayes.local_methods.blocks import Blocks
from mixbayes.local_methods.exact_sums import ExactSums
from mixbayes.local_methods.grouping import Advance
from mixbayes.local_methods.outskirts import Outskirts
from mixbayes.local_methods.scaling import near_unit
from mixbayes.local_methods.tables import Floats, Indices, Mask

SMALLEST_BLOCK = 32
"""Rows. Blocks grow with the root of the table, so that bounds and distances take their share of the time alike."""


def mdav(points: Floats, k: int, done: Advance) -> Indices:
    """The group of each row: k rows in each, and up to 2k - 1 in the last. `done` is told how many rows have one."""
    left = Ungrouped(points)
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

    def __init__(self, points: Floats) -> None:
        self.count = len(points)
        self._points = near_unit(points)
        self._weights = _inverse_variances(self._points)
        self._sums = ExactSums(self._points)
        self._here: Mask = np.ones(len(points), dtype=np.bool_)
        self._outskirts: Outskirts | None = None
        self._renew_blocks()

    def rows(self) -> Indices:
        return np.flatnonzero(self._here)

    def farthest_from_centre(self) -> Floats:
        centre = self._sums.rounded() / self.count
        if self._outskirts is None or self._outskirts.worn:
            self._outskirts = Outskirts(self._points, self._weights, self.rows(), centre)
        return self._points[self._outskirts.farthest(centre, self._here)]

    def farthest_from(self, point: Floats) -> Floats:
        return self._points[self._blocks.farthest(point)]

    def take_nearest(self, point: Floats, k: int) -> Indices:
        near = self._blocks.nearest(point, k)
        self._here[near] = False
        self._sums.remove(near)
        self._blocks.remove(near)
        self.count -= k
        if self.count < self._held / 2:
            self._renew_blocks()
        return near

    def _renew_blocks(self) -> None:
        size = max(SMALLEST_BLOCK, isqrt(self.count) // 4)
        self._blocks = Blocks(self._points, self._weights, self.rows(), size)
        self._held = self.count


def _inverse_variances(points: Floats) -> Floats:
    """One over the variance of each column, and one for a constant column."""
    varied = points.max(axis=0) > points.min(axis=0)
    return 1 / np.where(varied, points.var(axis=0), 1.0)
