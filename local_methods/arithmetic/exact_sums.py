"""Exact sums of columns: subtracting a row again gives exactly the sum without it."""

from __future__ import annotations

from operator import lshift

import numpy as np
from numpy.typing import NDArray

SIGNIFICAND = 53


class ExactSums:
    """The sum of each column over the rows that are left, as an integer number of the column's smallest units."""

    def __init__(self, points: NDArray[np.float64]) -> None:
        fractions, exponents = np.frexp(points)
        exponents = exponents.astype(np.int64)
        self._units = exponents.min(axis=0) - SIGNIFICAND
        self._integers = np.ldexp(fractions, SIGNIFICAND).astype(np.int64)
        self._shifts = exponents - exponents.min(axis=0)
        self._sums = self._over(np.arange(len(points)))

    def remove(self, rows: NDArray[np.intp]) -> None:
        self._sums = [total - part for total, part in zip(self._sums, self._over(rows), strict=True)]

    def rounded(self) -> NDArray[np.float64]:
        """The nearest doubles to the sums."""
        units = self._units.tolist()
        return np.array([(s << max(u, 0)) / (1 << max(-u, 0)) for s, u in zip(self._sums, units, strict=True)])

    def _over(self, rows: NDArray[np.intp]) -> list[int]:
        columns = zip(self._integers[rows].T.tolist(), self._shifts[rows].T.tolist(), strict=True)
        return [sum(map(lshift, integers, shifts)) for integers, shifts in columns]
