"""Bounds and cut points that others will read: rounded, so that they are not the values of single patients."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_FEWEST = 4
"""Between bounds there are at least so many of the steps of which both are multiples."""
_DIGITS = (5, 2, 1)
_LONGER = (1, 2, 5, 10, 20)
_FINER = 2
"""Cut points have so many decimal places more than the bounds' step."""
_LARGEST = 300
"""No larger power of ten is surely a float."""
_MOST = sys.float_info.max


@dataclass(frozen=True)
class _Step:
    """digit · 10^exponent."""

    digit: int
    exponent: int

    def units(self, value: float) -> float:
        if self.exponent >= 0:
            return value / 10.0**self.exponent / self.digit
        more = max(0, -self.exponent - _LARGEST)  # what a power of ten cannot hold by itself
        return value * 10.0 ** (-self.exponent - more) * 10.0**more / self.digit

    def multiple(self, units: int) -> float:
        """The number nearest to so many steps."""
        return float(f"{units * self.digit}e{self.exponent}")


def outwards(low: float, high: float) -> tuple[float, float]:
    """Bounds with few digits that enclose these; two that are equal stay."""
    if not low < high:
        return low, high
    if math.isinf(high - low):
        return -_MOST, _MOST
    step = _step(high - low)
    below, above = math.floor(step.units(low)), math.ceil(step.units(high))
    # Products of floats may lie on the wrong side of a whole number by their rounding.
    below -= step.multiple(below) > low
    above += step.multiple(above) < high
    return max(step.multiple(below), -_MOST), min(step.multiple(above), _MOST)


def rounded(cuts: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """The cut points with few digits; those that become equal are one."""
    if not low < high:
        return cuts
    step = _Step(1, _step(high - low).exponent - _FINER)
    near = [step.multiple(round(step.units(cut))) for cut in cuts.tolist()]
    return np.unique(np.clip(near, low, high))


def grid(low: float, high: float, cells: int) -> list[float]:
    """The points at which a grid of at most so many cells, two or more, is cut: multiples of a round step."""
    if not low < high:
        return []
    exponent = math.floor(math.log10((high - low) / cells))
    found = (_between(_Step(digit, exponent), low, high) for digit in _LONGER)
    return next(cuts for cuts in found if len(cuts) < cells)


def _between(step: _Step, low: float, high: float) -> list[float]:
    """The multiples that lie between the bounds. Between bounds that nearly touch, several are the same number."""
    first, last = math.floor(step.units(low)), math.ceil(step.units(high))
    multiples = dict.fromkeys(map(step.multiple, range(first, last + 1)))
    return [cut for cut in multiples if low < cut < high]


def _step(width: float) -> _Step:
    """The largest of 1, 2, 5, 10, 20, 50, ... of which the width has enough."""
    exponent = math.floor(math.log10(width / _FEWEST))
    digit = next((digit for digit in _DIGITS if digit * 10.0**exponent * _FEWEST <= width), 1)
    return _Step(digit, exponent)
