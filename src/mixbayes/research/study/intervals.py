"""Confidence intervals of 95 % over patients.

A patient who was asked about in several repetitions counts once, with the share of them that was right: repetitions
make no new patients.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from mixbayes.local_methods.attacks.claims import CONFIDENCE, ShareInterval


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
    return share_of(float(right.mean()), len(right))


def share_of(mean: float, patients: int) -> Interval:
    """The same, of so many patients."""
    found = ShareInterval.around(mean, patients)
    return Interval(found.value, found.low, found.high)


def paired(first: NDArray[np.float64], second: NDArray[np.float64]) -> Interval:
    """The first share less the second, of the same patients, after Agresti and Min (2005).

    Half a patient is added to each cell of the two-by-two table. So two classifiers that never differ still have an
    interval, the wider the fewer patients there are.
    """
    difference = first - second
    patients = len(difference) + 2
    shifted = float(difference.sum()) / patients
    spread = sqrt(max(0.0, float((difference**2).sum()) + 1 - patients * shifted**2)) / patients
    return Interval(
        float(difference.mean()), max(-1.0, shifted - CONFIDENCE * spread), min(1.0, shifted + CONFIDENCE * spread)
    )


def advantage(inside: NDArray[np.float64], outside: NDArray[np.float64]) -> Interval:
    """Of members over others, from the placements of each patient as a member and as one of the others.

    The advantage is the mean of either. Whom a patient is compared with is chance too, so both contribute to its error
    (as in DeLong's interval, but the same patients stand on both sides).
    """
    both = inside + outside
    value, reach = float(both.mean()) / 2, CONFIDENCE * float(both.std(ddof=1)) / sqrt(len(both))
    return Interval(value, max(-1.0, value - reach), min(1.0, value + reach))
