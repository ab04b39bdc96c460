"""Exact sums of integers by cell, of patients one by one or of groups of alike patients."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Words

_Integers = NDArray[np.int64]


def occurrences(cells: _Integers, size: int, times: _Integers | None = None) -> Words:
    """How many patients are in each of `size` cells. There are fewer than 2^53, so that float64 counts them exactly."""
    return np.bincount(cells, times, minlength=size).astype(np.uint64)


def totals(cells: _Integers, values: _Integers, size: int, times: _Integers | None = None) -> Words:
    """The sum of values below 2^25 in each of the first `size` cells; what is in later cells is left out.

    Of 2^15 patients one by one a sum stays below 2^53, so that float64 holds it exactly. Sums of groups, of fewer than
    2^38 patients together, stay below 2^63 and are taken as integers.
    """
    if times is None:
        return np.bincount(cells, values, minlength=size)[:size].astype(np.uint64)
    weighted = values.astype(np.uint64) * times.astype(np.uint64)
    return np.array([weighted[cells == cell].sum(dtype=np.uint64) for cell in range(size)], np.uint64)
