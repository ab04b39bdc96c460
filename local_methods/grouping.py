"""Groups of at least k points: after random seeds (Aggarwal and Yu) or after k-means (Banerjee et al.; Kim, Figure 3).

Both papers compare every point with every seed, which for groups of a fixed size is quadratic in the number of points.
Up to `MOST_SEEDS` groups we do so too. Beyond, the points are first cut into cells, by the same k-means with the same
lower bound on sizes, and every cell is grouped by itself: at each step a point is compared with a bounded number of
seeds, and there are few steps. Points of a cell that are all equal are grouped as they stand. Because n/k is rounded
down in every cell, there may be a few groups fewer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixbayes.local_methods.arithmetic.k_means import k_means
from mixbayes.local_methods.points import Points
from mixbayes.local_methods.tables import Floats

Groups = NDArray[np.intp]
"""The number of each point's group, from 0 without gaps."""
Advance = Callable[[int], None]
"""Called with how many more points have found their group."""

MOST_SEEDS = 128
MOST_CELLS = 16
"""With more at a time, to find the cells would take longer than to find the groups in them."""
KMEANS_STEPS = 100


def groups_by_kmeans(points: Points, k: int, random: np.random.Generator, advance: Advance) -> Groups:
    """⌊n/k⌋ clusters of k-means; those with fewer than k points are filled from larger ones."""
    return _in_cells(points, k, random, advance, filled_clusters)


def groups_by_seeds(points: Points, k: int, random: np.random.Generator, advance: Advance) -> Groups:
    """⌊n/k⌋ random seeds; each takes the k-1 nearest points that are left, the remaining ones their nearest seed."""
    return _in_cells(points, k, random, advance, seeded_groups)


def filled_clusters(points: Points, k: int, clusters: int, random: np.random.Generator) -> Groups:
    """So many clusters of k-means, every one of at least k points.

    Smallest clusters first, an undersized one takes the points nearest to its centre from larger ones (steps 1-2 to
    1-5 of Figure 3). The figure lets a donor fall below k; here a donor gives only what it has beyond k.
    """
    found = k_means(points, clusters, int(random.integers(2**31)), rounds=KMEANS_STEPS)
    groups, centres = found.groups, found.centres
    sizes = np.bincount(groups, minlength=clusters)
    for cluster in np.argsort(sizes, kind="stable"):
        if sizes[cluster] < k:
            moved = _nearest_spare(points, groups, sizes, centres[cluster], k)[: k - sizes[cluster]]
            sizes -= np.bincount(groups[moved], minlength=clusters)
            groups[moved] = cluster
            sizes[cluster] = k
    return groups


def seeded_groups(points: Points, k: int, seeds: int, random: np.random.Generator) -> Groups:
    """So many random seeds, each with the k-1 nearest points that are left; the rest go to their nearest seed."""
    chosen = random.permutation(len(points))[:seeds]
    groups = np.full(len(points), -1)
    groups[chosen] = np.arange(seeds)
    left = np.flatnonzero(groups < 0)
    seeds_at = points.take(chosen).whole()
    for group, seed in enumerate(seeds_at):
        distances = points.take(left).squared_distances(seed)
        near = np.zeros(len(left), bool)
        near[np.argsort(distances, kind="stable")[: k - 1]] = True
        groups[left[near]] = group
        left = left[~near]
    groups[left] = _nearest(points.take(left), seeds_at)
    return groups


def _in_cells(
    points: Points,
    k: int,
    random: np.random.Generator,
    advance: Advance,
    grouped: Callable[[Points, int, int, np.random.Generator], Groups],
) -> Groups:
    wanted = len(points) // k
    if wanted <= 1:
        advance(len(points))
        return np.zeros(len(points), np.intp)
    if wanted <= MOST_SEEDS:
        groups = grouped(points, k, wanted, random)
        advance(len(points))
        return groups
    if points.all_equal():  # k-means would find one cluster, and fill the others with k points each
        advance(len(points))
        return np.minimum(np.arange(len(points)) // k, wanted - 1)
    cells = filled_clusters(points, k, min(MOST_CELLS, 2 * wanted // MOST_SEEDS), random)
    groups, begun = np.empty(len(points), np.intp), 0
    for cell in range(int(cells.max()) + 1):
        members = np.flatnonzero(cells == cell)
        groups[members] = begun + _in_cells(points.take(members), k, random, advance, grouped)
        begun = int(groups[members].max()) + 1
    return groups


def _nearest_spare(
    points: Points, groups: Groups, sizes: NDArray[np.integer[Any]], centre: Floats, k: int
) -> NDArray[np.intp]:
    """The points that clusters can spare, nearest to the centre first: of each cluster as many as it has beyond k."""
    candidates = np.flatnonzero(sizes[groups] > k)
    candidates = candidates[np.argsort(points.take(candidates).squared_distances(centre), kind="stable")]
    donors = groups[candidates]
    return candidates[_occurrence(donors) < (sizes - k)[donors]]


def _occurrence(numbers: NDArray[np.integer[Any]]) -> NDArray[np.intp]:
    """How many equal numbers stand before each."""
    order = np.argsort(numbers, kind="stable")
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    before = np.empty(len(numbers), np.intp)
    before[order] = np.arange(len(numbers)) - np.repeat(starts, np.diff(starts, append=len(numbers)))
    return before


def _nearest(points: Points, seeds: Floats) -> NDArray[np.intp]:
    found: Groups = np.empty(len(points), np.intp)
    for rows, block in points.blocks():
        found[rows] = np.stack([((block - seed) ** 2).sum(axis=1) for seed in seeds]).argmin(axis=0)
    return found
