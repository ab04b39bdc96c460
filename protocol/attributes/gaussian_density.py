"""A numeric attribute as binary features: its Gaussian log-density, made of integer moments, as a sum of words.

With u = x / 2^f in [0, 1], n present rows, and S1, S2 the sums of x and x²,

    D = 2^20 (n·S2 − S1²) + 2^2f n²,     1 / (variance + floor) = n² 2^(2f+20) / D,     mean = S1 / (n 2^f)

and the log-density is, with c = log2(e) / 2 and up to what is the same for all classes,

    log2 n − log2(D) / 2 − c·S1² 2^20 / D  +  u · 2c·n·S1 2^(f+20) / D  −  u² · c·n² 2^(2f+20) / D.

The three quotients are exact integers with `FRACTION` fraction bits. The features are binary: the bits of x for u, the
bits of x², rounded to f + 2 fraction bits, for u², and one that says that there is a value at all. The word of a
feature is its quotient shifted right by the place of the bit. That is a linear function of the quotient's bits, so
shares of the bits give shares of the word. A class in which no patient has a value counts as one patient in the middle
of the bounds. Noise can make the variance negative; then it is zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mixbayes.protocol.arrays import Bits, Values, Words, mask
from mixbayes.protocol.attributes.gaussian_moments import (
    ABSENT_CODE,
    MOMENTS,
    NUMERIC_BITS,
    whole_moments,
)
from mixbayes.protocol.circuits import logarithm, ring
from mixbayes.protocol.circuits.comparison import negative
from mixbayes.protocol.circuits.division import divide
from mixbayes.protocol.circuits.division import width as division_width
from mixbayes.protocol.circuits.logarithm import fixed_log2_of, shared_log2
from mixbayes.protocol.circuits.products import multiply, product_of_bits, scale, weighted
from mixbayes.protocol.computing_party import ComputingParty

FRACTION = logarithm.FRACTION + 1
"""One bit more than a logarithm's, so that half of log2 D needs no rounding."""
FLOOR_BITS = 20
"""The floor, 2^-20 of the squared width of the bounds, is added to every variance.

`QUOTIENT_BITS`, `SPREAD` and `ERROR` are computed for this number. With another one they are others.
"""
SQUARE_BITS = NUMERIC_BITS + 2
FEATURES = 1 + (NUMERIC_BITS + 1) + (SQUARE_BITS + 1)
QUOTIENT_BITS = 54
_CONSTANT_BITS = 52
# ⌊log2(e) / 2 · 2^52⌉, to be the same on every machine.
_CONSTANT = 3248660424278399
_COLUMNS = 512
"""Pairs of attribute and class whose quotients are computed at a time."""
_MIDDLE = 1 << (NUMERIC_BITS - 1)

SPREAD = 756_500
"""Above 2^20 · log2(e) / 2 + 16: between the largest and the smallest log-density, the variance being at its floor."""
ERROR = 0.7214 * 2**20 * 2.0**-27 + 2.0**-20
"""Of a log-density, against the real one at the same 24-bit value: u² rounded under the steepest curve, and a rest."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bits of what is computed from the moments of at most so many rows."""

    rows: int

    @property
    def divisor(self) -> int:
        """D is below 2^20 · 2^2f n² + 2^2f n²."""
        return 2 * self.rows.bit_length() + 2 * NUMERIC_BITS + FLOOR_BITS + 1

    @property
    def ring(self) -> int:
        """Everything before the quotients is computed modulo 2^this."""
        return division_width(self.divisor, QUOTIENT_BITS)


def features(values: Values) -> Bits:
    """(FEATURES, n) of one attribute's codes, all zero where the cell is missing."""
    present = values != ABSENT_CODE
    x = np.where(present, values, 0).astype(np.uint64)
    drop = 2 * NUMERIC_BITS - SQUARE_BITS
    square = (x * x + np.uint64(1 << (drop - 1))) >> np.uint64(drop)
    parts = present[None].astype(np.uint8), ring.bits(x, NUMERIC_BITS + 1), ring.bits(square, SQUARE_BITS + 1)
    return np.concatenate(parts)


def fixed_table(block: Words) -> Words:
    """(FEATURES, K) of one attribute, modulo 2^64, from its counts in the clear."""
    columns = []
    for label in range(block.shape[1]):
        n, s1, s2 = _with_a_row(*whole_moments(block, label))
        divisor = _divisor(n, s1, s2)
        square, slope, constant = (number // divisor for number in _numerators(n * n, n * s1, s1 * s1))
        log = 2 * fixed_log2_of(n) - fixed_log2_of(divisor)
        quotients = [[[q >> i & 1] for i in range(QUOTIENT_BITS)] for q in (constant, slope, square)]
        columns.append(_words(ring.constant([log], ring.WORD), *(np.array(q, np.uint64) for q in quotients)))
    return np.concatenate(columns, axis=1)


def shared_tables(
    me: ComputingParty, blocks: Sequence[Words], rows: int, width: int, *, noisy: bool = False
) -> list[Words]:
    """Additive shares modulo 2^width of the same for several attributes, from shares of the counts."""
    moments = np.concatenate([block[MOMENTS] for block in blocks], axis=1)
    pieces = [moments[:, start : start + _COLUMNS] for start in range(0, moments.shape[1], _COLUMNS)]
    words = np.concatenate([_shared_words(me, piece, rows, width, noisy=noisy) for piece in pieces], axis=1)
    return np.split(words, len(blocks), axis=1)


def _shared_words(me: ComputingParty, moments: Words, rows: int, width: int, *, noisy: bool) -> Words:
    """(FEATURES, n), from n columns of moments (4, n)."""
    sizes = Sizes(rows)
    logs_n, some = shared_log2(me, moments[0], rows.bit_length(), width)
    n, s1, s2 = _prepared(me, moments, some, sizes.ring)
    divisor, numerators = _quotient_parts(me, n, s1, s2, sizes.ring, noisy=noisy)
    logs_d, _ = shared_log2(me, ring.low_bits(divisor, sizes.ring, sizes.divisor), sizes.divisor, width)
    thrice = np.concatenate([divisor] * 3, axis=-1)
    quotients = divide(me, numerators, thrice, sizes.divisor, QUOTIENT_BITS)
    bits = weighted(me, quotients, [1] * QUOTIENT_BITS, width)
    square, slope, constant = np.split(bits, 3, axis=1)
    return _words(2 * logs_n - logs_d, constant, slope, square) & mask(width)


def real_density(moments: Sequence[int], values: Values) -> np.ndarray:
    """The log-density in float64, log2 √(2π) left out, for n, S1 and S2; 0 where missing."""
    n, s1, s2 = _with_a_row(*moments)
    variance = float(Fraction(_divisor(n, s1, s2), n * n << 2 * NUMERIC_BITS + FLOOR_BITS))
    distance = values / 2.0**NUMERIC_BITS - s1 / (n << NUMERIC_BITS)
    return np.where(values == ABSENT_CODE, 0.0, -0.5 * np.log2(variance) - 0.5 * np.log2(np.e) * distance**2 / variance)


def _with_a_row(n: int, s1: int, s2: int) -> tuple[int, int, int]:
    return (n, s1, s2) if n else (1, _MIDDLE, _MIDDLE**2)


def _divisor(n: int, s1: int, s2: int) -> int:
    return (max(0, n * s2 - s1 * s1) << FLOOR_BITS) + (n * n << 2 * NUMERIC_BITS)


def _numerators(n_n: int, n_s1: int, s1_s1: int) -> tuple[int, int, int]:
    """Of the coefficients of u² and u, and of the constant, for n², n·S1 and S1²."""
    whole = FLOOR_BITS + FRACTION - _CONSTANT_BITS
    return (
        _CONSTANT * n_n << 2 * NUMERIC_BITS + whole,
        _CONSTANT * n_s1 << NUMERIC_BITS + 1 + whole,
        _CONSTANT * s1_s1 << whole,
    )


def _words(log: Words, constant: Words, slope: Words, square: Words) -> Words:
    """(FEATURES, n): every feature's word, from the logarithm and the bits (QUOTIENT_BITS, n) of the quotients."""
    slopes = [_shifted_right(slope, NUMERIC_BITS - j) for j in range(NUMERIC_BITS + 1)]
    squares = [-_shifted_right(square, SQUARE_BITS - j) for j in range(SQUARE_BITS + 1)]
    return np.stack([log - _shifted_right(constant, 0), *slopes, *squares])


def _shifted_right(bits: Words, places: int) -> Words:
    """The quotient without its lowest bits: a sum of the bits that stay."""
    weights = np.uint64(1) << np.arange(len(bits) - places, dtype=np.uint64)
    return (bits[places:] * weights[:, None]).sum(axis=0, dtype=np.uint64)


def _prepared(me: ComputingParty, moments: Words, some: Bits, width: int) -> tuple[Words, Words, Words]:
    """n, S1 and S2 in the wide ring, a row in the middle put where there is none."""
    n, s1, low, high = (_lifted(me, cells, width) for cells in moments)
    none = weighted(me, me.negate(some)[None], [1], width)[..., 0, :]
    s2 = ring.add(low, ring.shifted(high, NUMERIC_BITS, width), width)
    return (
        ring.add(n, none, width),
        ring.add(s1, ring.shifted(none, NUMERIC_BITS - 1, width), width),
        ring.add(s2, ring.shifted(none, 2 * NUMERIC_BITS - 2, width), width),
    )


def _lifted(me: ComputingParty, cells: Words, width: int) -> Words:
    """Shares modulo 2^64 of cells below 2^63 as shares modulo 2^width.

    The shares add up to the cell, or to the cell plus 2^64: this exactly if one of them, or both, has its top bit set.
    """
    top = (cells >> np.uint64(ring.WORD - 1)).astype(np.uint8)
    wide = np.zeros((ring.limbs(width), cells.size), np.uint64)
    wide[0] = cells
    weight = 1 << ring.WORD
    own = top * ring.constant([weight], width)
    both = product_of_bits(me, top[None], [-weight], width)[:, 0]
    return ring.subtract(wide, ring.add(own, both, width), width)


def _quotient_parts(
    me: ComputingParty, n: Words, s1: Words, s2: Words, width: int, *, noisy: bool
) -> tuple[Words, Words]:
    """D, and the three numerators side by side."""
    left, right = np.concatenate([n, n, n, s1], axis=-1), np.concatenate([n, s1, s2, s1], axis=-1)
    n_n, n_s1, n_s2, s1_s1 = np.split(multiply(me, left, right, width), 4, axis=-1)
    spread = ring.subtract(n_s2, s1_s1, width)  # n² times the variance
    if noisy:
        below = scale(me, negative(me, spread, width), spread, width)
        spread = ring.subtract(spread, below, width)
    divisor = ring.add(ring.shifted(spread, FLOOR_BITS, width), ring.shifted(n_n, 2 * NUMERIC_BITS, width), width)
    factors = _numerators(1, 1, 1)
    numerators = [_times(product, factor, width) for product, factor in zip((n_n, n_s1, s1_s1), factors, strict=True)]
    return divisor, np.concatenate(numerators, axis=-1)


def _times(words: Words, factor: int, width: int) -> Words:
    """Times a public number."""
    return ring.multiply(words, np.broadcast_to(ring.constant([factor], width), words.shape), width)
