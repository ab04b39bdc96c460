"""Confidence intervals of 95 % over patients.

A patient who was asked about in several repetitions counts once, with the share of them that was right: repetitions
make no new patients.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

NORMAL = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""


@dataclass(frozen=True)
class Interval:
    """A share, or a difference of two, and where it can lie."""

    value: float
    low: float
    high: float

    @property
    def side(self) -> int:
        """1 where all of it is above zero, -1 where all of it is below, else 0."""
        return int(self.low > 0) - int(self.high < 0)


def share(right: NDArray[np.float64]) -> Interval:
    """Wilson's interval: of use for few patients too, and never beyond 0 or 1."""
    patients, mean, square = len(right), float(right.mean()), NORMAL**2
    centre = (mean + square / (2 * patients)) / (1 + square / patients)
    half = NORMAL * sqrt(mean * (1 - mean) / patients + square / (4 * patients**2)) / (1 + square / patients)
    return Interval(mean, max(0.0, centre - half), min(1.0, centre + half))


def paired(first: NDArray[np.float64], second: NDArray[np.float64]) -> Interval:
    """The first share less the second, of the same patients, after Agresti and Min (2005).

    Half a patient is added to each cell of the two-by-two table. So two classifiers that never differ still have an
    interval, the wider the fewer patients there are.
    """
    difference = first - second
    patients = len(difference) + 2
    shifted = float(difference.sum()) / patients
    spread = sqrt(max(0.0, float((difference**2).sum()) + 1 - patients * shifted**2)) / patients
    return Interval(float(difference.mean()), max(-1.0, shifted - NORMAL * spread), min(1.0, shifted + NORMAL * spread))
