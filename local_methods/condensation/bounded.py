"""Normal numbers between public bounds whose mean and variance are those that are wanted.

What is drawn beyond a bound becomes the bound. That moves the mean and takes variance away, so the normal numbers are
drawn with other parameters, for which it does neither. Kim's Figure 3 has no bounds, and draws negative ages.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from mixbayes.local_methods.tables import Floats, Mask

SMALLEST = 1e-12
"""No determinant is taken to be nearer to zero."""
FAR = 4.0
"""Deviations from a bound beyond which it makes no difference."""
LEAST = 1e-9
"""A deviation below it is none."""
STEPS = 40
MOST_VARIANCE = 0.97
"""Of m(1 - m), the variance of numbers that are all at one of the bounds: no bounded numbers have more."""
FURTHEST = 1000.0
"""No mean is sought further from the bounds of 0 and 1 than this, and no larger deviation."""


def parameters(mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """Mean and deviation of the normal numbers that, cut off at 0 and 1, have this mean and this variance."""
    variance = np.clip(variance, 0, MOST_VARIANCE * mean * (1 - mean))
    deviation = np.sqrt(variance)
    near: Mask = (deviation > LEAST) & (np.minimum(mean, 1 - mean) < FAR * deviation)
    centre = mean.copy()
    centre[near], deviation[near] = _solved(mean[near], variance[near])
    return centre, deviation


def _solved(mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """By Newton's method, in the mean and the logarithm of the deviation."""
    square = variance + mean * mean
    least = np.sqrt(variance)  # cutting off only takes variance away
    centre, deviation = mean.copy(), least.copy()
    for _ in range(STEPS):
        found = _CutOff.at(centre, deviation)
        of_mean, of_square = mean - found.mean, square - found.square
        determinant = (
            found.mean_by_centre * found.square_by_deviation - found.mean_by_deviation * found.square_by_centre
        )
        safe = np.where(np.abs(determinant) < SMALLEST, SMALLEST, determinant)
        step = (of_mean * found.square_by_deviation - of_square * found.mean_by_deviation) / safe
        stretch = (found.mean_by_centre * of_square - found.square_by_centre * of_mean) / safe / deviation
        centre = np.clip(centre + np.clip(step, -deviation, deviation), -FURTHEST, FURTHEST)
        deviation = np.clip(deviation * np.exp(np.clip(stretch, -0.5, 0.5)), least, FURTHEST)
    return centre, deviation


@dataclass(frozen=True, eq=False)
class _CutOff:
    """Mean and mean square of normal numbers that are cut off at 0 and 1, and how they change with the parameters."""

    mean: Floats
    square: Floats
    mean_by_centre: Floats
    mean_by_deviation: Floats
    square_by_centre: Floats
    square_by_deviation: Floats

    @classmethod
    def at(cls, centre: Floats, deviation: Floats) -> _CutOff:
        low, high = -centre / deviation, (1 - centre) / deviation
        inside, above = ndtr(high) - ndtr(low), ndtr(-high)
        at_low, at_high = _density(low), _density(high)
        rest = at_low - at_high
        first = centre * inside + deviation * rest
        ends = inside + low * at_low - high * at_high
        second = centre * first + deviation * (centre * rest + deviation * ends)
        return cls(above + first, above + second, inside, rest, 2 * first, 2 * (centre * rest + deviation * ends))


def _density(x: Floats) -> Floats:
    return np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)
