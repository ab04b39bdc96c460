"""Scales columns whose values differ much in size."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Scaling = Literal["min-max", "z-score"]
"""What a column is divided by: its range or its standard deviation. Where a mean is moved to makes no difference."""


def near_unit(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each column times the power of two that brings its range to about one.

    Nothing is rounded: equal differences stay equal, and a value in the middle of two others stays there.
    Squares can then neither overflow nor vanish.
    """
    _, exponents = np.frexp(_half_range(points))
    return np.ldexp(points, -(exponents + 1))


def largest_exponents(columns: NDArray[np.float64]) -> NDArray[np.int64]:
    """By which powers of two the columns have to be divided to lie between -1 and 1; gaps are left out."""
    largest = np.abs(np.nan_to_num(columns)).max(axis=0)
    return np.frexp(largest)[1].astype(np.int64)


def to_scale(points: NDArray[np.float64], scaling: Scaling) -> NDArray[np.float64]:
    """Each column divided by its range or standard deviation."""
    scaled = near_unit(points)
    scaled /= spreads(scaled, scaling)
    return scaled


def spreads(points: NDArray[np.float64], scaling: Scaling) -> NDArray[np.float64]:
    """What the scaling divides each column by, and one for a constant column."""
    return ranges(points) if scaling == "min-max" else standard_deviations(points)


def standard_deviations(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The standard deviation of each column, and one for a constant column; gaps are left out."""
    exponents = largest_exponents(points)
    deviations = np.nanstd(np.ldexp(points, -exponents), axis=0)
    return np.where(constant(points), 1.0, np.ldexp(deviations, exponents))


def constant(points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which columns have the same value in every cell that is not a gap."""
    return np.asarray(np.nanmax(points, axis=0) == np.nanmin(points, axis=0))


def ranges(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The range of each column, and one for a constant column."""
    width = points.max(axis=0) - points.min(axis=0)
    return np.where(width > 0, width, 1.0)


def _half_range(points: NDArray[np.float64]) -> NDArray[np.float64]:
    return points.max(axis=0) / 2 - points.min(axis=0) / 2
