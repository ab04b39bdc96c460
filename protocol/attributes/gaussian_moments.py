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
"""With more of them, `add_products` is slower than `add_moments`."""

PRESENT, SUM, SQUARES_LOW, SQUARES_HIGH, ABSENT = range(5)
"""The rows of the block."""
MOMENTS = [PRESENT, SUM, SQUARES_LOW, SQUARES_HIGH]


def scaled(values: NDArray[np.float64], low: float, high: float) -> NDArray[np.int32]:
    """Numbers as codes: integers in [0, 2^f], ties to even; beyond the bounds they are clipped."""
    place = placed(np.clip(values, low, high), low, high)
    return np.where(np.isnan(place), ABSENT_CODE, place).astype(np.int32)


def placed(values: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """The codes of numbers within the bounds, in float64."""
    place = values - low
    place /= high - low
    place *= 2**NUMERIC_BITS
    return np.rint(place, out=place)


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


def add_products(block: Words, codes: NDArray[np.float64], labels: Integers) -> None:
    """The same for at most 2^15 patients, none of whom lacks the number, as a product of matrices.

    That is faster where there are few classes. All sums stay below 2^53, so that the order of summing does not matter.
    """
    moments = np.empty((len(MOMENTS), len(codes)))
    moments[PRESENT] = 1
    moments[SUM] = codes
    square = np.multiply(codes, codes, out=moments[SQUARES_LOW])
    high = np.multiply(square, 2.0**-NUMERIC_BITS, out=moments[SQUARES_HIGH])
    np.floor(high, out=high)
    square -= high * 2**NUMERIC_BITS
    of_class = (labels == np.arange(block.shape[1])[:, None]).astype(np.float64)
    block[MOMENTS] += (moments @ of_class.T).astype(np.uint64)


def whole_moments(block: Words, label: int) -> tuple[int, int, int]:
    """n, S1 = Σx and S2 = Σx² of one class."""
    n, s1, low, high = (int(block[row, label]) for row in MOMENTS)
    return n, s1, low + (high << NUMERIC_BITS)
