"""Columns of very different size brought together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


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


def ranges(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The range of each column, and one for a constant column."""
    width = points.max(axis=0) - points.min(axis=0)
    return np.where(width > 0, width, 1.0)


def _half_range(points: NDArray[np.float64]) -> NDArray[np.float64]:
    return points.max(axis=0) / 2 - points.min(axis=0) / 2
