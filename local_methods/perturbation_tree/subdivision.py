"""Large leaves divided by k-means: step 5 of Roy's perturbation tree.

Roy's Table 5.2 releases records unchanged that k-means left alone. Here a cluster with fewer than `least` rows is
dissolved: each of its rows joins the nearest remaining cluster. k-means is written out here, because most leaves have a
dozen rows, and scikit-learn's k-means takes several times as long for these.
"""

from __future__ import annotations

import numpy as np

from mixbayes.local_methods.arithmetic.scaling import Scaling, to_scale
from mixbayes.local_methods.grouping import Advance
from mixbayes.local_methods.tables import Floats, Indices

MOST_CENTRES = 16
"""Clusters sought at once; larger leaves are divided again, so that distances take memory in proportion to the rows."""

ROUNDS = 100
"""Lloyd's algorithm comes to rest long before."""


def subdivide(
    points: Floats,
    leaf: Indices,
    largest: int,
    least: int,
    random: np.random.Generator,
    done: Advance,
    scaling: Scaling = "min-max",
) -> Indices:
    """The leaves, those with more than `largest` rows divided into groups of `least` to `largest`.

    Left whole are leaves whose rows are all the same, and those too small to be two groups. `done` is told how many
    rows were dealt with.
    """
    scaled = to_scale(points, scaling)
    groups = leaf.copy()
    following = int(leaf.max()) + 1
    pending = _large(np.arange(len(leaf)), leaf, largest)
    done(len(leaf) - sum(map(len, pending)))
    while pending:
        rows = pending.pop()
        if len(rows) < 2 * least or (scaled[rows] == scaled[rows[0]]).all():
            done(len(rows))
            continue
        parts = _divided(scaled[rows], largest, least, random)
        groups[rows] = following + parts
        following += int(parts.max()) + 1
        larger = _large(rows, parts, largest)
        done(len(rows) - sum(map(len, larger)))
        pending += larger
    return np.unique(groups, return_inverse=True)[1]


def _large(rows: Indices, groups: Indices, largest: int) -> list[Indices]:
    """The rows of each group that has more than `largest`."""
    sizes = np.bincount(groups)
    inside = np.flatnonzero(sizes[groups] > largest)
    inside = inside[np.argsort(groups[inside], kind="stable")]
    return np.split(rows[inside], np.cumsum(sizes[sizes > largest])[:-1]) if inside.size else []


def _divided(points: Floats, largest: int, least: int, random: np.random.Generator) -> Indices:
    centres = min(-(-len(points) // largest), len(points) // least, MOST_CENTRES)
    groups = _dissolved(points, *lloyd(points, centres, random), least)
    return groups if groups.max() else _halves(points)


def lloyd(points: Floats, centres: int, random: np.random.Generator) -> tuple[Indices, Floats]:
    """k-means from seeds drawn far apart: the cluster of each row, and the clusters' centres."""
    means = _seeds(points, centres, random)
    groups = _nearest(points, means)
    for _ in range(ROUNDS):
        means = _means(points, groups, means)
        moved = _nearest(points, means)
        if np.array_equal(moved, groups):
            break
        groups = moved
    return groups, means


def _seeds(points: Floats, centres: int, random: np.random.Generator) -> Floats:
    """Rows drawn one by one, each by its squared distance to those before: k-means++."""
    seeds = [points[random.integers(len(points))]]
    distances = _distances(points, seeds[0])
    while len(seeds) < centres and distances.any():
        seeds.append(points[random.choice(len(points), p=distances / distances.sum())])
        distances = np.minimum(distances, _distances(points, seeds[-1]))
    return np.array(seeds)


def _distances(points: Floats, to: Floats) -> Floats:
    return ((points - to) ** 2).sum(axis=1)


def _nearest(points: Floats, means: Floats) -> Indices:
    return np.stack([_distances(points, mean) for mean in means]).argmin(axis=0)


def _means(points: Floats, groups: Indices, before: Floats) -> Floats:
    """The mean of each cluster; one that lost all its rows stays where it was."""
    sizes = np.bincount(groups, minlength=len(before))[:, None]
    sums = np.stack([np.bincount(groups, column, len(before)) for column in points.T], axis=1)
    return np.where(sizes > 0, sums / np.maximum(sizes, 1), before)


def _dissolved(points: Floats, groups: Indices, means: Floats, least: int) -> Indices:
    """The clusters, numbered from 0, without those of fewer than `least` rows: the smallest goes first."""
    staying = np.arange(len(means))
    while True:
        sizes = np.bincount(groups, minlength=len(means))
        smallest = staying[sizes[staying].argmin()]
        if sizes[smallest] >= least or len(staying) == 1:
            return np.unique(groups, return_inverse=True)[1]
        staying = staying[staying != smallest]
        leaving = groups == smallest
        groups = np.where(leaving, -1, groups)
        groups[leaving] = staying[_nearest(points[leaving], means[staying])] if leaving.any() else 0


def _halves(points: Floats) -> Indices:
    """Two halves along the widest attribute, where k-means finds one lump and a few strays."""
    order = np.argsort(points[:, np.ptp(points, axis=0).argmax()], kind="stable")
    right: Indices = np.zeros(len(points), dtype=np.intp)
    right[order[len(order) // 2 :]] = 1
    return right
