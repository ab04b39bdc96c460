"""Synthetic rows with the moments of a group, exactly.

Kim's Figure 3 draws along the principal axes of a group with the eigenvalues as variances, so that mean and covariance
are the group's in expectation. Here the drawn sample is whitened first - centred, and made orthonormal - and then
coloured with the group's covariance: its mean and covariance are the group's to the last digits.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mixbayes.local_methods.tables import Codes, Floats

NEGLIGIBLE = 1e-12
"""Of the largest eigenvalue: directions below it are rounding errors."""

Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]

DISTRIBUTIONS: dict[str, Draw] = {
    "gaussian": lambda random, shape: random.standard_normal(shape),
    "uniform": lambda random, shape: random.uniform(-1, 1, shape),
}


def recoloured(rows: Floats, random: np.random.Generator, draw: Draw = DISTRIBUTIONS["gaussian"]) -> Floats:
    """As many new rows with the same mean and the same covariance."""
    mean = rows.mean(axis=0)
    axes = principal_axes(rows - mean)
    white = draw(random, (len(rows), len(axes)))
    white, _ = np.linalg.qr(white - white.mean(axis=0))
    return mean + white @ axes


def principal_axes(centred: Floats) -> Floats:
    """B with BᵀB = AᵀA and as many rows as A has rank: the axes, each as long as its singular value."""
    tall = centred.shape[0] > centred.shape[1]
    values, vectors = np.linalg.eigh(centred.T @ centred if tall else centred @ centred.T)
    kept = values > NEGLIGIBLE * max(values[-1], 0) if len(values) else np.zeros(0, bool)
    kept &= values > 0
    if tall:
        return np.sqrt(values[kept])[:, None] * vectors[:, kept].T
    return (vectors[:, kept].T @ centred)[-(len(centred) - 1) :]


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
