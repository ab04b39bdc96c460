"""Noise on the moments of a Gaussian attribute, and moments of it that a distribution may have.

Noise hides what one patient adds to a sum, so the sums are taken of numbers that lie as close to zero as they can. With
the middle of the bounds c = 2^(f−1) they are n, Σ (x − c) and Σ (⌊(x − c)² / 2^f⌋ − 2^(f−3)). A patient changes them by
1, by at most 2^(f−1) and by at most 2^(f−3), up or down: these are their units. Two facts keep all this in one word and
linear in what hospitals contribute: ⌊(x − c)² / 2^f⌋ = ⌊x² / 2^f⌋ − x + 2^(f−2), and Σ ⌊x² / 2^f⌋ is SQUARES_HIGH. The
low halves of the squares, which are less than one 2^24th of a patient's largest square, are left out.

Noise on a sum with the unit 2^u is 2^u·G + U: G is that of a count, and U is uniform from −2^(u−1) to 2^(u−1) − 1. It
reaches the lowest bit. A patient who moves the sum by d of its 2^u leaves the distribution as it is with the
probability 1 − d/2^u, and moves G by one otherwise; so no patient shows more than one who moves a count. (Each
computing party adds such a U of its own, A from 0 up and B below 0, so that there is one that the other does not know.
Two can only hide more.)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.gaussian_moments import NUMERIC_BITS, PRESENT, SQUARES_HIGH, SUM
from mixbayes.protocol.attributes.kind import IMAGINED

UNITS = (0, NUMERIC_BITS - 1, NUMERIC_BITS - 3)
"""Of n, of the sum and of the sum of squares."""
_MIDDLE = np.uint64(1 << NUMERIC_BITS - 1)
_MIDDLE_SQUARE = np.uint64((1 << NUMERIC_BITS - 1) - (1 << NUMERIC_BITS - 3))
"""What a patient in the middle of the bounds leaves of ⌊x² / 2^f⌋ − (x − c), taken halfway to one at a bound."""


def blurred_moments(block: Words, noise: Words) -> Words:
    """The moments with noise (3, K) on the three sums above. The low halves of squares, and missing cells, are zero."""
    of_count, of_sum, of_squares = noise
    found = np.zeros_like(block)
    found[PRESENT] = block[PRESENT] + of_count
    found[SUM] = block[SUM] + of_sum + _MIDDLE * of_count
    found[SQUARES_HIGH] = block[SQUARES_HIGH] + of_squares + of_sum + _MIDDLE_SQUARE * of_count
    return found


def clamped_moments(block: Words, positive: Callable[[Words], Words], one: int, spread: int) -> Words:
    """At least one patient, the mean within the bounds, the squares at most what that mean allows; then, evenly
    between the bounds, imagined patients.

    That the variance is not negative is seen to where it is computed, in `gaussian_density.py`. Without the imagined
    patients it is often near zero, and one attribute then decides alone.
    """
    found = np.zeros_like(block)
    least = np.uint64(one)
    fewer, low, high = positive(np.stack([block[PRESENT] - least, block[SUM], block[SQUARES_HIGH]]))
    found[PRESENT] = fewer + least
    found[SUM] = _at_most(low, found[PRESENT] << np.uint64(NUMERIC_BITS), positive)
    # S2 = 2^f · SQUARES_HIGH must not exceed 2^f · S1.
    found[SQUARES_HIGH] = _at_most(high, found[SUM], positive)
    # Patients evenly between 0 and 2^f have the mean 2^f / 2 and the mean square 2^2f / 3.
    some = np.uint64(spread * one)
    found[PRESENT] += np.uint64(IMAGINED) * some
    found[SUM] += np.uint64(IMAGINED // 2) * (some << np.uint64(NUMERIC_BITS))
    found[SQUARES_HIGH] += np.uint64(IMAGINED // 3) * (some << np.uint64(NUMERIC_BITS))
    return found


def _at_most(words: Words, most: Words, positive: Callable[[Words], Words]) -> Words:
    return most - positive(most - words)
