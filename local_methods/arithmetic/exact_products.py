"""Products of matrices that are the same on every processor, to the last bit.

A library of linear algebra adds the terms of a product in the order that suits the processor, and rounds after every
step. Sums of whole numbers below 2⁵³ are never rounded, so no order changes them. Here every factor is cut into slices
of whole numbers with few bits (Ozaki and others). The products of slices are exact, and they are added one after
another in a fixed order.
"""

from __future__ import annotations

import numpy as np

from mixbayes.local_methods.tables import Codes, Floats

SIGNIFICAND = 53
SLICES = 3
"""For two factors of a hundred columns they hold 66 bits, more than a double."""

LEAST_EXPONENT = -900
"""Rows that are smaller still lose bits; without a bound their scale would not be finite."""


def product(left: Floats, right: Floats) -> Floats:
    """left @ right, about as exact as with doubles, in one order of additions."""
    bits = whole_bits(left.shape[1])
    lefts, rows = _slices(left, bits)
    rights, columns = _slices(right.T, bits)
    total = np.zeros((left.shape[0], right.shape[1]))
    for level in reversed(range(SLICES)):
        for at in range(level + 1):
            total += lefts[at] @ rights[level - at].T
        total *= 2.0**-bits if level else 1.0
    return np.ldexp(total, rows[:, None] + columns - 2 * bits)


def gram(matrix: Floats) -> Floats:
    """matrixᵀ · matrix."""
    return product(matrix.T, matrix)


def whole_bits(terms: int) -> int:
    """How many bits two factors may have, so that a sum of so many products is below 2⁵³."""
    return (SIGNIFICAND - terms.bit_length()) // 2


def _slices(matrix: Floats, bits: int) -> tuple[list[Floats], Codes]:
    """Whole numbers of so many bits, the first slice worth most, and the exponent of each row."""
    largest = np.abs(matrix).max(axis=1, initial=0)
    exponents = np.maximum(np.frexp(largest)[1].astype(np.int64), LEAST_EXPONENT)
    rest = matrix * np.ldexp(1.0, bits - exponents)[:, None]
    slices = []
    for _ in range(SLICES):
        whole = np.rint(rest)
        slices.append(whole)
        rest = (rest - whole) * 2.0**bits
    return slices, exponents
