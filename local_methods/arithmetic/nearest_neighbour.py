"""The nearest neighbour, the same one on every processor: its distances are whole numbers, and exact."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.neighbors import KDTree

from mixbayes.local_methods.arithmetic.exact_products import whole_bits
from mixbayes.local_methods.arithmetic.k_means import nearest
from mixbayes.local_methods.points import Points
from mixbayes.local_methods.tables import Codes, Floats, Indices

ROOM = 2
"""Bits left for points that lie outside of those learned from; farther out they count as four times as far."""

MOST_COLUMNS = 15
"""With more, a tree is slower than comparing all with all."""

AT_ONCE = 4096
"""Points compared with at a time."""


class NearestNeighbour:
    """Gives every point the class of the point that is nearest to it, of those learned from."""

    def fit(self, points: Floats, codes: Codes) -> Self:
        bits = whole_bits(4 * points.shape[1])
        self._largest = 2.0**bits
        self._exponent = int(np.frexp(abs(points).max(initial=0))[1]) + ROOM - bits
        self._points, self._codes = self._on_grid(points), codes
        self._tree: Any = KDTree(self._points) if points.shape[1] <= MOST_COLUMNS else None
        return self

    def predict(self, points: Floats) -> Codes:
        return self._codes[self._nearest(self._on_grid(points))]

    def _on_grid(self, points: Floats) -> Floats:
        with np.errstate(over="ignore"):
            scaled = np.ldexp(points, -self._exponent)
        return np.rint(np.clip(scaled, -self._largest, self._largest))

    def _nearest(self, asked: Floats) -> Indices:
        if self._tree is not None:
            return self._tree.query(asked, return_distance=False)[:, 0] if len(asked) else np.empty(0, np.intp)
        found: Indices = np.zeros(len(asked), np.intp)
        least = np.full(len(asked), np.inf)
        for start in range(0, len(self._points), AT_ONCE):
            at = start + nearest(Points(asked), self._points[start : start + AT_ONCE])
            distances = ((asked - self._points[at]) ** 2).sum(axis=1)
            found = np.where(distances < least, at, found)
            least = np.minimum(distances, least)
        return found
