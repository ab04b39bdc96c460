"""The moments of a Gaussian attribute: what a hospital sums up of its numbers, exactly.

A number becomes an integer x between 0 and 2^f, its place between the public bounds. For every class the block holds n,
Σx and Σx² of the patients with a number, and how many have none. Σx² travels as two sums, of the low and of the high
half of x², so that every sum stays below 2^63.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.by_class import ByClass
from mixbayes.protocol.attributes.elsewhere import Arithmetic, Expression, flag
from mixbayes.protocol.attributes.kind import Integers
from mixbayes.protocol.attributes.totals import occurrences, totals

NUMERIC_BITS = 24
"""f."""
ABSENT_CODE = (1 << NUMERIC_BITS) + 1
"""The code of a missing cell: one more than the largest number."""

PRESENT, SUM, SQUARES_LOW, SQUARES_HIGH, ABSENT = range(5)
"""The rows of the block."""
MOMENTS = [PRESENT, SUM, SQUARES_LOW, SQUARES_HIGH]
MOST_EACH = (1.0, 2.0**NUMERIC_BITS, math.inf, 2.0**NUMERIC_BITS, 1.0)
"""What a patient adds to each row at most; the low halves of squares say nothing by themselves."""


def scaled(values: NDArray[np.float64], low: float, high: float) -> NDArray[np.int32]:
    """Numbers as codes: integers in [0, 2^f], ties to even; beyond the bounds they are clipped."""
    place = _place(np.clip(values, low, high), low, high)
    return np.where(np.isnan(place), ABSENT_CODE, place).astype(np.int32)


def _place(values: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """Numbers within the bounds become their codes."""
    values -= low
    values /= high - low
    values *= 2**NUMERIC_BITS
    return np.rint(values, out=values)


def scaled_elsewhere(value: Expression, low: float, high: float, by: Arithmetic) -> Expression:
    """What `scaled` makes of numbers; of a missing one anything."""
    width, most = high - low, 2.0**NUMERIC_BITS
    clipped = by.choose(
        value < by.number(low), by.number(low), by.choose(value > by.number(high), by.number(high), value)
    )
    above = by.once(clipped - by.number(low))
    # A database may refuse a quotient too small for a float64. One below 1/(4·2^f) becomes 0 in any case.
    place = above / by.number(width) * by.number(most)
    return by.nearest(by.once(by.choose(above > by.number(width / (4 * most)), place, by.number(0.0))))


def moments_of(absent: Expression, code: Expression, by: Arithmetic) -> list[Expression]:
    """What `add_moments` adds to each row of the block."""
    x = by.once(by.choose(absent, by.number(0.0), code))
    half = by.number(2.0**NUMERIC_BITS)
    high = by.once(by.floor(x * x / half))
    missing = flag(absent, by)
    return [by.number(1.0) - missing, x, x * x - high * half, high, missing]


def add_moments(block: Words, codes: Integers, labels: Integers, times: Integers | None = None) -> None:
    """Add the moments of these patients to the block."""
    classes = block.shape[1]
    cell = labels + classes * (codes == ABSENT_CODE)
    squares = codes * codes
    block[[PRESENT, ABSENT]] += occurrences(cell, 2 * classes, times).reshape(2, classes)
    block[SUM] += totals(cell, codes, classes, times)
    block[SQUARES_LOW] += totals(cell, squares & ((1 << NUMERIC_BITS) - 1), classes, times)
    block[SQUARES_HIGH] += totals(cell, squares >> NUMERIC_BITS, classes, times)


def add_numbers(block: Words, values: NDArray[np.float64], patients: ByClass, low: float, high: float) -> int:
    """The same from numbers, which may be not-a-number; how many of them lay beyond the bounds."""
    if not len(patients):
        return 0
    sums = np.empty((3, len(patients)))
    x, squares_low, squares_high = sums
    values.take(patients.order, out=x, mode="clip")  # numpy would copy to `out` if it checked the order
    missing, beyond = _brought_inside(x, low, high)
    np.multiply(_place(x, low, high), x, out=squares_low)
    np.multiply(squares_low, 2.0**-NUMERIC_BITS, out=squares_high)
    np.floor(squares_high, out=squares_high)
    squares_low -= squares_high * 2.0**NUMERIC_BITS
    absent = patients.sums(missing) if missing is not None else np.zeros_like(patients.sizes)
    block[PRESENT, patients.present] += patients.sizes - absent
    block[SUM : SQUARES_HIGH + 1, patients.present] += patients.sums(sums)
    block[ABSENT, patients.present] += absent
    return beyond


def _brought_inside(values: NDArray[np.float64], low: float, high: float) -> tuple[NDArray[np.bool_] | None, int]:
    """Clip numbers to the bounds, and let missing ones count as the lower bound, code 0. Which these are, if any;
    and how many were clipped.
    """
    smallest, largest = values.min(), values.max()
    if low <= smallest and largest <= high:  # never with not-a-number
        return None, 0
    missing = np.isnan(values)
    values[missing] = low
    beyond = int(np.count_nonzero((values < low) | (values > high)))
    np.clip(values, low, high, out=values)
    return missing, beyond


def whole_moments(block: Words, label: int) -> tuple[int, int, int]:
    """n, S1 = Σx and S2 = Σx² of one class."""
    n, s1, low, high = (int(block[row, label]) for row in MOMENTS)
    return n, s1, low + (high << NUMERIC_BITS)
