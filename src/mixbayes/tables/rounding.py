"""Bounds and cut points that others will read: rounded, so that they are not the values of single patients."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

_STEPS = 10
"""Bounds are multiples of a power of ten that has at least so many steps between them."""
_FINER = 100
"""Cut points are multiples of that power of ten by this number."""


def outwards(low: float, high: float) -> tuple[float, float]:
    """Bounds with few digits that enclose these; two that are equal stay."""
    if not low < high:
        return low, high
    exponent = _exponent(low, high)
    below, above = math.floor(_units(low, exponent)), math.ceil(_units(high, exponent))
    # Products of floats may lie on the wrong side of a whole number by their rounding.
    below -= _multiple(below, exponent) > low
    above += _multiple(above, exponent) < high
    return _multiple(below, exponent), _multiple(above, exponent)


def rounded(cuts: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """The cut points with few digits; those that become equal are one."""
    if not low < high:
        return cuts
    exponent = _exponent(low, high) - round(math.log10(_FINER))
    near = [_multiple(round(_units(cut, exponent)), exponent) for cut in cuts.tolist()]
    return np.unique(np.clip(near, low, high))


def _exponent(low: float, high: float) -> int:
    return math.floor(math.log10((high - low) / _STEPS))


def _units(value: float, exponent: int) -> float:
    return value / 10.0**exponent if exponent >= 0 else value * 10.0**-exponent


def _multiple(units: int, exponent: int) -> float:
    """The nearest number to units · 10^exponent."""
    return float(f"{units}e{exponent}")
