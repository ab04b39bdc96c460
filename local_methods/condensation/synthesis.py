"""Synthetic rows with the moments of a group, exactly.

Kim's Figure 3 draws along the principal axes of a group with the eigenvalues as variances, so that mean and covariance
are the group's in expectation. Here the drawn sample is whitened first - centred, and made orthonormal - and then
coloured with the group's covariance: its mean and covariance are the group's to the last digits.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mixbayes.local_methods.arithmetic.axes import at_right_angles, factor, orthonormal
from mixbayes.local_methods.arithmetic.exact_products import gram, product
from mixbayes.local_methods.tables import Codes, Floats

Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]

FINEST = 2.0**-20
"""Normal numbers are drawn in multiples of it: beyond three and a half deviations they come from a logarithm of the C
library, and its last digit follows the processor."""


def normal(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Standard normal numbers."""
    return np.rint(random.standard_normal(shape) / FINEST) * FINEST


def uniform(random: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Numbers between -1 and 1."""
    return random.uniform(-1, 1, shape)


DISTRIBUTIONS: dict[str, Draw] = {"gaussian": normal, "uniform": uniform}


def recoloured(rows: Floats, random: np.random.Generator, draw: Draw = normal) -> Floats:
    """As many new rows with the same mean and the same covariance."""
    new = np.tile(rows.mean(axis=0), (len(rows), 1))
    centred = rows - new
    varied = np.flatnonzero(centred.any(axis=0))
    axes = _axes(centred[:, varied], draw)
    white = draw(random, (len(rows), len(axes)))
    new[:, varied] += product(orthonormal(white - white.mean(axis=0)), axes)
    return new


def _axes(centred: Floats, draw: Draw) -> Floats:
    """B with BᵀB = AᵀA and as many rows as A has rank: the principal axes, each as long as its singular value.

    A normal sample looks alike along any axes, so there they need not be the principal ones.
    """
    axes = factor(gram(centred), len(centred) - 1)
    return axes if draw is normal else at_right_angles(axes, axes.shape[1])


def dealt(scores: Floats, indicator: Codes, values: Codes, random: np.random.Generator) -> Codes:
    """The values of a group dealt out to its new rows: each value as often as before, where its score is highest.

    `values` are the old cells, `indicator` says which column of the scores stands for which value. Rare values choose
    first. Values that share an indicator, and rows with equal scores, are dealt at random.
    """
    shuffled = random.permutation(values)
    chosen = indicator[shuffled]
    counts = np.bincount(chosen, minlength=scores.shape[1])
    order = [int(i) for i in np.argsort(counts, kind="stable") if counts[i]]
    if len(order) == 1:
        return shuffled
    new = np.empty_like(values)
    left = random.permutation(len(values))
    for i in order:
        best = np.zeros(len(left), bool)
        best[np.argsort(-scores[left, i], kind="stable")[: counts[i]]] = True
        new[left[best]] = shuffled[chosen == i]
        left = left[~best]
    return new
