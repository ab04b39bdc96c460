"""How many rows share each combination of quasi-identifiers: in a projection, and after rejoining the projections.

Projections share no column but the class, so who rejoins them pairs the rows of a class in every way. A combination
(q₁, …, q_w) then has Σ_y Π_k n_k(q_k, y) rows, n_k(q, y) being those of class y with q in projection k. The paper
claims that this is never below the smallest n_k. With two classes that is so: either all n_k(q_k, y) are positive,
and the products are at least n_1(q_1, 0) and n_1(q_1, 1); or one is zero, and the other class has all of its k rows.
With three it is not: (0, 1, 2) and (2, 1, 0) have three rows each and one in common.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod

import numpy as np

from mixbayes.local_methods.coded import Coded
from mixbayes.local_methods.tables import Codes, Floats

MOST_KEPT = 256
"""Beyond so many vectors of one kind, neighbours are replaced by what is below both."""
HUGE = 2.0**53


class Levels:
    """The anonymity level of sets of features for the outsider who finds the lowest, each computed once.

    Where a combination has rows of fewer classes than it should the level is 0.
    """

    def __init__(
        self, coded: Coded, identifiers: Collection[Collection[int]], class_in_key: bool = False, least_classes: int = 1
    ) -> None:
        self._coded = coded
        self._identifiers = [frozenset(known) for known in identifiers]
        self._class_in_key = class_in_key
        self._least_classes = least_classes
        self._known: dict[tuple[int, ...], int] = {}

    def of_group(self, group: Sequence[int]) -> int:
        """The rows of the rarest combination of quasi-identifiers; all rows if there are none."""
        keys = [tuple(at for at in group if at in known) for known in self._identifiers]
        return min(map(self._of_key, keys))

    def of_groups(self, groups: Sequence[Sequence[int]]) -> int:
        """The smallest of them."""
        return min(map(self.of_group, groups), default=self._coded.rows)

    def _of_key(self, key: tuple[int, ...]) -> int:
        if key not in self._known:
            self._known[key] = self._level(key)
        return self._known[key]

    def _level(self, key: Sequence[int]) -> int:
        if not key:
            return self._coded.rows
        if self._least_classes > 1 and self._diversity(key) < self._least_classes:
            return 0
        return int(np.bincount(self._coded.combined(key, self._class_in_key)).min())

    def _diversity(self, key: Sequence[int]) -> int:
        return diversity(self._coded.class_counts(self._coded.combined(key)))


def diversity(counts: Codes) -> int:
    """The fewest classes that the rows of a combination have."""
    return int((counts > 0).sum(axis=1).min())


def rejoined_diversity(counts: Sequence[Codes]) -> int:
    """The same after rejoining: a combination keeps the classes that it has in every projection."""
    places = np.ones((1, counts[0].shape[1]), bool)
    for projection in counts:
        both = places[:, None, :] & np.unique(projection > 0, axis=0)[None]
        both = both.reshape(-1, both.shape[2])
        places = np.unique(both[both.any(axis=1)], axis=0)
    return int(places.sum(axis=1).min())


def rejoined_level(counts: Sequence[Codes]) -> int:
    """The rows of the rarest combination after rejoining, from combinations × classes of each projection.

    Exact, unless there are more than `MOST_KEPT` vectors of which none is below another, or more than `HUGE` rows; then
    it is a lower bound.
    """
    least = np.ones((1, counts[0].shape[1]))
    for projection in sorted(counts, key=len):
        products = least[:, None, :] * _least(projection.astype(np.float64))[None]
        least = _least(np.minimum(products.reshape(-1, products.shape[2]), HUGE))
    return max(int(min(least.sum(axis=1).min(), HUGE)), rejoined_level_with_class(counts))


def rejoined_level_with_class(counts: Sequence[Codes]) -> int:
    """The same with the class in the key: the rows of one class that share the rarest combination."""
    every = range(counts[0].shape[1])  # also a class without rows, but beyond the sums it is not the least
    return min(prod(int(c[c[:, y] > 0, y].min(initial=c.sum() + 1)) for c in counts) for y in every)


def _least(vectors: Floats) -> Floats:
    """Those that are positive somewhere and not above another one that is positive in the same places.

    Whatever both are multiplied by, a vector above another ends above it, and at zero only together with it.
    """
    vectors = np.unique(vectors[vectors.any(axis=1)], axis=0)
    places, kind = np.unique(vectors > 0, axis=0, return_inverse=True)
    return np.vstack([_least_alike(vectors[kind.ravel() == at]) for at in range(len(places))])


def _least_alike(vectors: Floats) -> Floats:
    vectors = vectors[vectors.sum(axis=1).argsort(kind="stable")]
    kept = []
    while len(vectors):
        kept.append(vectors[0])
        vectors = vectors[(vectors < vectors[0]).any(axis=1)]
    front = np.array(kept)
    return front if len(front) <= MOST_KEPT else _lowered(front)


def _lowered(front: Floats) -> Floats:
    """Half as many: two neighbours become the smaller of each of their parts."""
    front = front[np.lexsort(front.T[::-1])]
    while len(front) > MOST_KEPT:
        pairs = np.vstack([front, front[-1:]]) if len(front) % 2 else front
        front = np.minimum(pairs[::2], pairs[1::2])
    return front
