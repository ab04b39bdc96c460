"""How far two clusterings of the same rows agree: Roy, section 5.3."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score

from mixbayes.local_methods.arithmetic.k_means import k_means as k_means_of
from mixbayes.local_methods.points import Points

Labels = NDArray[np.integer]

STARTS = 10
OTHER_SEED = 1000
"""Added to the seed of k-means, to see how far its clusters of one table differ among themselves."""


@dataclass(frozen=True)
class Clustering:
    """How far two clusterings of the same rows agree."""

    misclassification_error: float
    adjusted_rand: float

    @staticmethod
    def of(original: Labels, released: Labels) -> Clustering:
        """By both measures."""
        return Clustering(misclassification_error(original, released), adjusted_rand(original, released))


def k_means(rows: NDArray[np.float64], clusters: int, seed: int) -> NDArray[np.int32]:
    """The cluster of each row; fewer clusters than asked for where there are fewer different rows."""
    different = len(np.unique(rows, axis=0))
    return k_means_of(Points(rows), min(clusters, different), seed, starts=STARTS).groups.astype(np.int32)


def misclassification_error(original: Labels, released: Labels) -> float:
    """The differences of the sizes of matched clusters, summed, over the number of rows.

    The paper, after Oliveira and Zaiane, prints the difference of the clusters where it means that of their sizes, and
    does not say which cluster answers to which: here those that share the most rows in all. A row that moves counts
    twice, and two that change places do not count: `adjusted_rand` sees them.
    """
    if not len(original):
        return np.nan
    shared = _shared(original, released)
    before, after = linear_sum_assignment(shared, maximize=True)
    return float(abs(shared.sum(1)[before] - shared.sum(0)[after]).sum() / len(original))


def adjusted_rand(original: Labels, released: Labels) -> float:
    """Which pairs of rows are together in both, adjusted for chance: 1 for the same clusters, 0 for unrelated ones."""
    return float(adjusted_rand_score(original, released)) if len(original) else np.nan


def _shared(original: Labels, released: Labels) -> NDArray[np.int64]:
    """How many rows each cluster of the one shares with each of the other; square, with empty clusters added."""
    side = 1 + max(original.max(), released.max())
    return np.bincount(original * side + released, minlength=side * side).reshape(side, side)
