"""k-means that finds the same clusters on every processor.

The steps are those of scikit-learn: greedy k-means++ (Arthur and Vassilvitskii), then Lloyd's. In scikit-learn the last
digits of a distance depend on the processor, and they decide if two centres are equally near, as happens with names.
Here points and centres lie on a fine grid, so distances are exact whole numbers. Of equally near centres, the first is
taken.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log
from typing import Any

import numpy as np

from mixbayes.local_methods.arithmetic.exact_products import whole_bits
from mixbayes.local_methods.points import BLOCK, Points
from mixbayes.local_methods.tables import Floats, Indices

TOLERANCE = 1e-4
"""Of the mean variance: centres that move less are at rest."""


UNSURE = 1e-3
"""A lead on the grid that roundings could feign. Distances there are below 2²⁷, and they move less than 2¹⁰ times."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """The cluster of each point, the centres, and the sum of squared distances from them."""

    groups: Indices
    centres: Floats
    inertia: float


def k_means(points: Points, clusters: int, seed: int, *, starts: int = 1, rounds: int = 300) -> Clusters:
    """The best clusters of several starts; the first of equally good ones."""
    grid = Grid.of(points)
    random = np.random.RandomState(seed)
    found = (_lloyd(grid, _seeds(grid.points, clusters, random), rounds) for _ in range(starts))
    best = min(found, key=lambda one: one.inertia)
    return Clusters(best.groups, grid.back(best.centres), float(np.ldexp(best.inertia, 2 * grid.exponent)))


@dataclass(frozen=True, eq=False)
class Grid:
    """Points as whole numbers of so few bits that products of them, summed over the columns, are exact."""

    points: Points = field(repr=False)
    centre: Floats
    exponent: int

    @staticmethod
    def of(points: Points) -> Grid:
        centre = points.sums(lambda block: block) / len(points)
        centred = points.changed(lambda part, at: part - centre[at])
        exponent = int(np.frexp(centred.largest())[1]) - whole_bits(4 * points.width)
        return Grid(centred.changed(lambda part, _: np.rint(np.ldexp(part, -exponent))), centre, exponent)

    def back(self, centres: Floats) -> Floats:
        """Centres in the coordinates of the points."""
        return self.centre + np.ldexp(centres, self.exponent)


def nearest(points: Points, centres: Floats) -> Indices:
    """The nearest centre of each point, the first of equals. Both are whole numbers, as those of a `Grid`."""
    found: Indices = np.empty(len(points), np.intp)
    squares, twice = (centres**2).sum(axis=1), 2 * np.ascontiguousarray(centres.T)
    for rows, block in points.blocks():
        found[rows] = (squares - block @ twice).argmin(axis=1)
    return found


def _seeds(points: Points, clusters: int, random: np.random.RandomState) -> Floats:
    """Points drawn by their squared distance to the nearest one drawn before, the best of a few at a time."""
    rows, trials = len(points), 2 + int(log(clusters))
    squares = points.by_row(lambda block, _: (block**2).sum(axis=1))
    seeds = [int(random.choice(rows, p=np.full(rows, 1 / rows)))]
    distances = _squared_distances(points, squares, np.array(seeds))[0]
    while len(seeds) < clusters:
        drawn = random.uniform(size=trials) * distances.sum()
        tried = np.searchsorted(np.cumsum(distances), drawn).clip(max=rows - 1)
        left = _squared_distances(points, squares, tried)
        np.minimum(distances, left, out=left)
        best = int(left.sum(axis=1).argmin())
        distances = left[best].copy()  # not the others with it
        seeds.append(int(tried[best]))
    return points.take(np.array(seeds)).whole()


def _squared_distances(points: Points, squares: Floats, to: Indices) -> Floats:
    distances = np.empty((len(to), len(points)))
    ends, lengths = points.take(to).whole(), squares[to][:, None]
    for rows, block in points.blocks():
        distances[:, rows] = lengths + squares[rows] - 2 * (ends @ block.T)
    return distances


def _lloyd(grid: Grid, centres: Floats, rounds: int) -> Clusters:
    points, sums, followed = grid.points, _Sums(grid.points, len(centres)), Followed(grid.points)
    least = TOLERANCE * _variances(points).mean()
    for _ in range(rounds):
        groups = followed.of(centres)
        if not sums.move(groups):
            break
        before, centres = centres, sums.means(centres)
        if ((centres - before) ** 2).sum() <= least:
            groups = followed.of(centres)
            break
    else:
        groups = followed.of(centres)
    inertia = points.by_row(lambda block, rows: ((block - centres[groups[rows]]) ** 2).sum(axis=1)).sum()
    return Clusters(groups, centres, float(inertia))


def _variances(points: Points) -> Floats:
    means = points.sums(lambda block: block) / len(points)
    return points.sums(lambda block: (block - means) ** 2) / len(points)


class Followed:
    """The nearest centre of each point, as the centres move: Hamerly's bounds.

    A point that was nearer to its centre than to any other by more than centres have moved since is not looked at.
    """

    def __init__(self, points: Points) -> None:
        self._points = points
        self._centres: Any = None
        self._groups: Indices = np.zeros(len(points), np.intp)
        self._ahead = np.zeros(len(points))
        """By how much the nearest centre is nearer than the next one, at least."""

    def of(self, centres: Floats) -> Indices:
        """The first of equally near ones."""
        if self._centres is not None:
            self._ahead -= _approached(self._centres, centres)[self._groups]
        self._centres, self._groups = centres, self._groups.copy()
        near = np.flatnonzero(self._ahead <= UNSURE)
        squares, twice = (centres**2).sum(axis=1), 2 * np.ascontiguousarray(centres.T)
        for start in range(0, len(near), BLOCK):
            rows = near[start : start + BLOCK]
            block = self._points.take(rows).whole()
            self._groups[rows], self._ahead[rows] = _first_and_lead(squares - block @ twice, (block**2).sum(axis=1))
        return self._groups


def _approached(before: Floats, after: Floats) -> Floats:
    """For each centre, by how much it may have fallen back behind the one of the others that moved the farthest."""
    moved = np.sqrt(((after - before) ** 2).sum(axis=1))
    order = np.argsort(moved)
    others = np.full(len(moved), moved[order[-1]])
    others[order[-1]] = moved[order[-2]] if len(moved) > 1 else 0.0
    return moved + others


def _first_and_lead(distances: Floats, squares: Floats) -> tuple[Indices, Floats]:
    """The nearest centre, and how much farther the next one is, of squared distances less the points' own squares."""
    every = np.arange(len(distances))
    first = distances.argmin(axis=1)
    least = np.sqrt(distances[every, first] + squares)
    distances[every, first] = np.inf
    return first, np.sqrt(distances.min(axis=1) + squares) - least


class _Sums:
    """The sum of the points of each cluster. It is exact, so points can move from one to another."""

    def __init__(self, points: Points, clusters: int) -> None:
        self._points = points
        self._sums = np.zeros((clusters, points.width))
        self._sizes = np.zeros(clusters)
        self._groups: Any = None

    def move(self, groups: Indices) -> bool:
        """Put every point into its cluster; whether any moved."""
        if self._groups is None:
            self._add(self._points, groups, 1.0)
            self._groups = groups
            return True
        moved = np.flatnonzero(groups != self._groups)
        points = self._points.take(moved)
        self._add(points, self._groups[moved], -1.0)
        self._add(points, groups[moved], 1.0)
        self._groups = groups
        return bool(moved.size)

    def means(self, before: Floats) -> Floats:
        """The centres, on the grid. Clusters that lost all their points get the points farthest from their centres."""
        sums, sizes = self._sums.copy(), self._sizes.copy()
        empty = np.flatnonzero(sizes == 0)
        if empty.size:
            distances = self._points.by_row(lambda block, rows: ((block - before[self._groups[rows]]) ** 2).sum(axis=1))
            far = np.argsort(-distances, kind="stable")[: empty.size]
            points = self._points.take(far).whole()
            np.subtract.at(sums, self._groups[far], points)
            np.subtract.at(sizes, self._groups[far], 1)
            sums[empty], sizes[empty] = points, 1
        return np.where(sizes[:, None] > 0, np.rint(sums / np.maximum(sizes, 1)[:, None]), before)

    def _add(self, points: Points, groups: Indices, times: float) -> None:
        clusters = len(self._sizes)
        self._sizes += times * np.bincount(groups, minlength=clusters)
        columns = np.ascontiguousarray(points.numbers.T)
        of_numbers = [np.bincount(groups, column, clusters)[:, None] for column in columns]
        of_lists = [
            np.bincount(groups * len(lines) + places, minlength=clusters * len(lines)).reshape(clusters, -1) @ lines
            for lines, places in zip(points.lists, points.places, strict=True)
        ]
        self._sums += times * np.column_stack([*of_numbers, *of_lists])
