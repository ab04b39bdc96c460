"""Logarithms that are the same on every processor, to the last bit.

Those of numpy and of the C library differ in the last digit with the processor's instructions. These are made of sums,
products and quotients alone, each rounded as IEEE 754 says, by the method of fdlibm's e_log.c (Sun Microsystems, 1993).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mixbayes.local_methods.tables import Floats

ROOT_HALF = 0.7071067811865476
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
INVERSE_LN2 = 1.4426950408889634
SERIES = (
    1.479819860511658591e-01,
    1.531383769920937332e-01,
    1.818357216161805012e-01,
    2.222219843214978396e-01,
    2.857142874366239149e-01,
    3.999999999940941908e-01,
    6.666666666666735130e-01,
)
"""The coefficients of s², s⁴, … of the remainder of log((1 + s)/(1 - s)), the last one first."""


def log(numbers: ArrayLike) -> Floats:
    """The natural logarithm of positive numbers, within one unit of the last digit."""
    exponents, above_one = _reduced(numbers)
    return exponents * LN2_HIGH - ((_correction(above_one) - exponents * LN2_LOW) - above_one)


def log2(numbers: ArrayLike) -> Floats:
    """The logarithm to base two of positive numbers; that of a power of two is exact."""
    exponents, above_one = _reduced(numbers)
    return exponents + (above_one - _correction(above_one)) * INVERSE_LN2


def _reduced(numbers: ArrayLike) -> tuple[Floats, Floats]:
    """e and f, where the number is 2ᵉ(1 + f) and 1 + f lies between the root of a half and that of two."""
    fractions, exponents = np.frexp(np.asarray(numbers, np.float64))
    low = fractions < ROOT_HALF
    return exponents - low.astype(np.float64), np.where(low, 2 * fractions, fractions) - 1


def _correction(above_one: Floats) -> Floats:
    """f - log(1 + f)."""
    ratio = above_one / (2 + above_one)
    square = ratio * ratio
    series = np.zeros_like(square)
    for coefficient in SERIES:
        series = (series + coefficient) * square
    half = 0.5 * above_one * above_one
    return half - ratio * (half + series)
