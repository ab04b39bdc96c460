"""Points in blocks of neighbours, to find the farthest and the nearest of the remaining points.

A block is a leaf of a kd-tree with the box around its remaining points. The bounds from the boxes are rounded in the
same steps as the distances, and rounding is monotone. So a skipped block cannot hold a point that a search of all
points would find, not even one at the same distance.
"""

from __future__ import annotations

from sys import float_info

import numpy as np

from mixbayes.local_methods.perturbation_tree.kd_partition import partition
from mixbayes.local_methods.tables import Floats, Indices


def squared(differences: Floats, weights: Floats) -> Floats:
    """Weighted squares, summed over the first axis from its first entry to its last."""
    np.square(differences, out=differences)
    differences *= weights.reshape(-1, *[1] * (differences.ndim - 1))
    total = differences[0]
    for squares in differences[1:]:
        total += squares
    return total


class Blocks:
    """Rows of `points`, in blocks; they are taken out one group after another.

    Every block has room for as many rows as the largest. Equal rows cannot be divided, so no two should be equal.
    """

    def __init__(self, points: Floats, weights: Floats, rows: Indices, size: int) -> None:
        self._weights = weights
        block = partition(points[rows], size, 1, "median", np.random.default_rng(0))
        order = np.argsort(block, kind="stable")
        counts = np.bincount(block)
        self._width = max(2, int(counts.max()))
        slots = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        places = block[order] * self._width + slots
        self._place: Indices = np.full(len(points), -1, dtype=np.intp)
        self._place[rows[order]] = places
        held: Indices = np.full(len(counts) * self._width, -1, dtype=np.intp)
        held[places] = rows[order]
        self._rows = held.reshape(len(counts), self._width)
        self._cells = np.ascontiguousarray(points.T[:, self._rows])
        self._low = np.empty((points.shape[1], len(counts)))
        self._high = np.empty_like(self._low)
        self._fit(np.arange(len(counts)))

    def _fit(self, blocks: Indices) -> None:
        """Draw the boxes of these blocks around what is left in them."""
        gone = self._rows[blocks] < 0
        cells = self._cells[:, blocks]
        self._low[:, blocks] = np.where(gone, np.inf, cells).min(axis=2)
        self._high[:, blocks] = np.where(gone, -np.inf, cells).max(axis=2)

    def remove(self, rows: Indices) -> None:
        places = self._place[rows]
        self._rows.reshape(-1)[places] = -1
        self._fit(np.unique(places // self._width))

    def farthest(self, point: Floats) -> int:
        """The row farthest from the point, the first of several."""
        bounds = squared(np.maximum(point[:, None] - self._low, self._high - point[:, None]), self._weights)
        bounds[np.isinf(self._low[0])] = -np.inf
        _, distances = self._look(point, np.array([bounds.argmax()]), -np.inf)
        rows, distances = self._look(point, np.flatnonzero(bounds >= distances.max()), -np.inf)
        return int(rows[distances == distances.max()].min())

    def nearest(self, point: Floats, k: int) -> tuple[Indices, Floats]:
        """Rows, and their distances: all within a distance that k rows have, or all that are left if they are fewer."""
        outside = np.maximum(self._low - point[:, None], point[:, None] - self._high)
        bounds = squared(np.maximum(outside, 0.0, out=outside), self._weights)
        radius = self._radius(point, bounds, k)
        rows, distances = self._look(point, np.flatnonzero(bounds <= radius), np.inf)
        within = distances <= radius
        return rows[within], distances[within]

    def _radius(self, point: Floats, bounds: Floats, k: int) -> float:
        """A distance within which there are k rows, or all."""
        radius, blocks = np.inf, 1 + k // self._width
        while np.isinf(radius) and blocks < len(bounds):
            blocks = min(2 * blocks, len(bounds))
            _, distances = self._look(point, np.argpartition(bounds, blocks - 1)[:blocks], np.inf)
            radius = np.partition(distances, k - 1, axis=None)[k - 1] if distances.size >= k else np.inf
        return min(float(radius), float_info.max)

    def _look(self, point: Floats, blocks: Indices, gone: float) -> tuple[Indices, Floats]:
        """The rows in these blocks and their distances, `gone` where a row is no longer there."""
        rows = self._rows.take(blocks, axis=0)
        cells = self._cells.take(blocks, axis=1)
        cells -= point[:, None, None]
        distances = squared(cells, self._weights)
        distances[rows < 0] = gone
        return rows, distances
