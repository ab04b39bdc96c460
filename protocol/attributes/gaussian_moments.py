"""The moments of a Gaussian attribute: what a hospital sums up of its numbers, exactly.

A number becomes an integer x between 0 and 2^f, its place between the public bounds. For every class the block holds n,
Σx and Σx² of the patients with a number, and how many have none. Σx² travels as two sums, of the low and of the high
half of x², so that every sum stays below 2^63.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.elsewhere import Arithmetic, Expression, flag
from mixbayes.protocol.attributes.kind import Integers
from mixbayes.protocol.attributes.totals import occurrences, totals

NUMERIC_BITS = 24
"""f."""
ABSENT_CODE = (1 << NUMERIC_BITS) + 1
"""The code of a missing cell: one more than the largest number."""

FEW_CLASSES = 4
"""With more of them, a product of matrices takes longer than sums by class."""

PRESENT, SUM, SQUARES_LOW, SQUARES_HIGH, ABSENT = range(5)
"""The rows of the block."""
MOMENTS = [PRESENT, SUM, SQUARES_LOW, SQUARES_HIGH]


def scaled(values: NDArray[np.float64], low: float, high: float) -> NDArray[np.int32]:
    """Numbers as codes: integers in [0, 2^f], ties to even; beyond the bounds they are clipped."""
    share = (np.clip(values, low, high) - low) / (high - low)
    return np.where(np.isnan(values), ABSENT_CODE, np.rint(share * 2**NUMERIC_BITS)).astype(np.int32)


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
    if times is None and classes <= FEW_CLASSES:
        _add_products(block, codes, labels)
        return
    cell = labels + classes * (codes == ABSENT_CODE)
    squares = codes * codes
    block[[PRESENT, ABSENT]] += occurrences(cell, 2 * classes, times).reshape(2, classes)
    block[SUM] += totals(cell, codes, classes, times)
    block[SQUARES_LOW] += totals(cell, squares & ((1 << NUMERIC_BITS) - 1), classes, times)
    block[SQUARES_HIGH] += totals(cell, squares >> NUMERIC_BITS, classes, times)


def _add_products(block: Words, codes: Integers, labels: Integers) -> None:
    """The same as products of matrices, which are faster than one sum after the other. They stay below 2^53."""
    of_class = (labels == np.arange(block.shape[1])[:, None]).astype(np.float64)
    moments = np.empty((len(MOMENTS), len(codes)))
    np.not_equal(codes, ABSENT_CODE, out=moments[PRESENT])
    x = np.multiply(codes, moments[PRESENT], out=moments[SUM])
    square = x * x
    high = np.floor(square / 2**NUMERIC_BITS, out=moments[SQUARES_HIGH])
    np.subtract(square, high * 2**NUMERIC_BITS, out=moments[SQUARES_LOW])
    sums = (moments @ of_class.T).astype(np.uint64)
    block[MOMENTS] += sums
    block[ABSENT] += of_class.sum(axis=1).astype(np.uint64) - sums[PRESENT]


def whole_moments(block: Words, label: int) -> tuple[int, int, int]:
    """n, S1 = Σx and S2 = Σx² of one class."""
    n, s1, low, high = (int(block[row, label]) for row in MOMENTS)
    return n, s1, low + (high << NUMERIC_BITS)
