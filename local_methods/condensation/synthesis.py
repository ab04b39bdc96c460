"""Synthetic rows with the mean and the covariance of a group, in expectation (Kim, Figure 3).

A sample is drawn along the principal axes of the group, with the eigenvalues as variances. Nothing centres or whitens
the sample: a release with the exact moments of a group of whole numbers tells their exact sums, from which the rows can
be computed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mixbayes.local_methods.arithmetic.axes import at_right_angles, factor
from mixbayes.local_methods.arithmetic.exact_products import gram, product
from mixbayes.local_methods.tables import Floats

Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]
"""Independent numbers of mean zero and variance one."""

FINEST = 2.0**-20
"""Normal numbers are drawn in multiples of it: beyond three and a half deviations they come from a logarithm of the C
library, and its last digit follows the processor."""


def normal(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Standard normal numbers."""
    return np.rint(random.standard_normal(shape) / FINEST) * FINEST


def uniform(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Numbers between -√3 and √3."""
    return np.sqrt(3.0) * random.uniform(-1, 1, shape)


DISTRIBUTIONS: dict[str, Draw] = {"gaussian": normal, "uniform": uniform}


def deviations_like(centred: Floats, random: np.random.Generator, draw: Draw) -> Floats:
    """As many new rows, of mean zero and with the covariance of these rows, whose mean is zero: in expectation."""
    new = np.zeros_like(centred)
    varied = np.flatnonzero(centred.any(axis=0))
    axes = _axes(centred[:, varied], draw)
    new[:, varied] = product(draw(random, (len(centred), len(axes))), axes) / np.sqrt(len(centred))
    return new


def _axes(centred: Floats, draw: Draw) -> Floats:
    """B with BᵀB = AᵀA and as many rows as A has rank: the principal axes, each as long as its singular value.

    A normal sample looks alike along any axes, so there they need not be the principal ones.
    """
    axes = factor(gram(centred), len(centred) - 1)
    return axes if draw is normal else at_right_angles(axes, axes.shape[1])
