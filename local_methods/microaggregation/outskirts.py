"""The row farthest from a centre, where the centre moves little between two calls."""

from __future__ import annotations

import numpy as np

from mixbayes.local_methods.microaggregation.blocks import squared
from mixbayes.local_methods.tables import Floats, Indices, Mask

SLACK = 1e-12
"""Far more than roundings add up to in a distance, relatively."""

AT_MOST = 4
"""Looks at rows, per row that is left, before the rows are sorted anew."""


class Outskirts:
    """Rows sorted by their distance from an earlier centre.

    No distance changes by more than the centre has moved. So the row that is farthest now is among the first.
    """

    def __init__(self, points: Floats, weights: Floats, rows: Indices, centre: Floats) -> None:
        self._points, self._weights, self._centre = points, weights, centre
        inward = -np.sqrt(self._squared(rows, centre))
        order = np.argsort(inward, kind="stable")
        self._rows, self._inward = rows[order], inward[order]
        self._first = 0
        self._looks = 0

    @property
    def worn(self) -> bool:
        """Whether sorting anew would save time by now."""
        return self._looks > AT_MOST * len(self._rows)

    def farthest(self, centre: Floats, left: Mask) -> int:
        """The row farthest from the centre, the first of several, of those still left."""
        while not left[self._rows[self._first]]:
            self._first += 1
        best = np.sqrt(self._squared(self._rows[self._first, None], centre)[0])
        moved = np.sqrt(squared(centre - self._centre, self._weights))
        last = int(np.searchsorted(self._inward, moved * (1 + SLACK) - best * (1 - SLACK), side="right"))
        rows = self._rows[self._first : max(last, self._first + 1)]
        self._looks += len(rows)
        rows = rows[left[rows]]
        distances = self._squared(rows, centre)
        return int(rows[distances == distances.max()].min())

    def _squared(self, rows: Indices, to: Floats) -> Floats:
        return squared(np.ascontiguousarray((self._points[rows] - to).T), self._weights)
