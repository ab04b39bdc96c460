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

from mixbayes.protocol.arrays import Bits, Values, Words, mask, slices
from mixbayes.protocol.attributes.gaussian_moments import (
    ABSENT_CODE,
    MOMENTS,
    NUMERIC_BITS,
    whole_moments,
)
from mixbayes.protocol.attributes.kind import Learned
from mixbayes.protocol.circuits import logarithm, ring
from mixbayes.protocol.circuits.addition import to_bits
from mixbayes.protocol.circuits.bounded import cut_small, times, widened
from mixbayes.protocol.circuits.comparison import negative
from mixbayes.protocol.circuits.division import divide
from mixbayes.protocol.circuits.division import width as division_width
from mixbayes.protocol.circuits.logarithm import fixed_log2_of, index_of, log2_of_normal
from mixbayes.protocol.circuits.normal import normalise
from mixbayes.protocol.circuits.products import scale, weighted
from mixbayes.protocol.computing_party import ComputingParty

FRACTION = logarithm.FRACTION + 1
"""One bit more than a logarithm's, so that half of log2 D needs no rounding."""
FLOOR_BITS = 20
"""The floor, 2^-20 of the squared width of the bounds, is added to every variance.

`QUOTIENT_BITS`, `SPREAD` and `ERROR` are computed for this number. With another one they are others.
"""
SQUARE_BITS = NUMERIC_BITS + 2
FEATURES = 1 + (NUMERIC_BITS + 1) + (SQUARE_BITS + 1)
QUOTIENT_BITS = 53
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

    @property
    def sum(self) -> int:
        """Bits of the ring for each sum of moments, which is below half of it."""
        return self.rows.bit_length() + NUMERIC_BITS + 1


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
        bits = (np.array([[q >> i & 1] for i in range(QUOTIENT_BITS)], np.uint64) for q in (slope, square))
        columns.append(_words(ring.constant([log - constant], ring.WORD), *bits))
    return np.concatenate(columns, axis=1)


def shared_tables(
    me: ComputingParty, learned: Sequence[Learned], rows: int, width: int, *, noisy: bool = False
) -> list[Words]:
    """Additive shares modulo 2^width of the same for several attributes, from shares of counts and of log2 n."""
    moments = np.concatenate([one.block[MOMENTS] for one in learned], axis=1)
    logs, some = (np.concatenate(part) for part in zip(*((one.logs, one.some) for one in learned), strict=True))
    pieces = [
        _shared_words(me, moments[:, piece], logs[piece], some[piece], Sizes(rows), width, noisy=noisy)
        for piece in slices(logs.size, _COLUMNS)
    ]
    return np.split(np.concatenate(pieces, axis=1), len(learned), axis=1)


def _shared_words(
    me: ComputingParty, moments: Words, logs: Words, some: Bits, sizes: Sizes, width: int, *, noisy: bool
) -> Words:
    """(FEATURES, n), from n columns of moments (4, n), of log2 n and of whether n is not zero."""
    divisor, numerators = _quotient_parts(me, moments, some, sizes, noisy=noisy)
    bits = to_bits(me, ring.low_bits(divisor, sizes.ring, sizes.divisor), sizes.divisor)
    normal = normalise(me, bits, sizes.divisor)
    # Both the logarithm and the reciprocal are looked up in the interval of D.
    index = index_of(me, normal)
    logs_d = log2_of_normal(me, normal, index, width)
    square, slope, constant = divide(me, numerators, divisor, normal, index, QUOTIENT_BITS, width)
    of_both = to_bits(me, np.concatenate([slope, square]) & mask(QUOTIENT_BITS), QUOTIENT_BITS)
    words = weighted(me, ring.bits(of_both, QUOTIENT_BITS), [1] * QUOTIENT_BITS, width)
    return _words(logs - logs_d - constant, *np.split(words, 2, axis=1)) & mask(width)


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


def _words(present: Words, slope: Words, square: Words) -> Words:
    """(FEATURES, n): every feature's word, from that of being present and the quotients' bits (QUOTIENT_BITS, n)."""
    slopes = [_shifted_right(slope, NUMERIC_BITS - j) for j in range(NUMERIC_BITS + 1)]
    squares = [-_shifted_right(square, SQUARE_BITS - j) for j in range(SQUARE_BITS + 1)]
    return np.stack([present, *slopes, *squares])


def _shifted_right(bits: Words, places: int) -> Words:
    """The quotient without its lowest bits: a sum of the bits that stay."""
    weights = np.uint64(1) << np.arange(len(bits) - places, dtype=np.uint64)
    return (bits[places:] * weights[:, None]).sum(axis=0, dtype=np.uint64)


def _quotient_parts(
    me: ComputingParty, moments: Words, some: Bits, sizes: Sizes, *, noisy: bool
) -> tuple[Words, Words]:
    """D (n,), and the three numerators (3, n), in the wide ring."""
    width = sizes.ring
    n_n, n_s1, n_s2, s1_s1 = _with_a_row_shared(me, _products(me, moments, sizes), some, width)
    spread = ring.subtract(n_s2, s1_s1, width)  # n² times the variance
    if noisy:
        below = scale(me, negative(me, spread, width), spread, width)
        spread = ring.subtract(spread, below, width)
    divisor = ring.add(ring.shifted(spread, FLOOR_BITS, width), ring.shifted(n_n, 2 * NUMERIC_BITS, width), width)
    factors = _numerators(1, 1, 1)
    numerators = [_times(product, factor, width) for product, factor in zip((n_n, n_s1, s1_s1), factors, strict=True)]
    return divisor, np.stack(numerators, axis=-2)


def _products(me: ComputingParty, moments: Words, sizes: Sizes) -> list[Words]:
    """n², n·S1, n·S2 and S1² in the wide ring. Bits of n choose among its three products alike."""
    sums, count_bits = moments & mask(sizes.sum), sizes.rows.bit_length() + 1
    wide = widened(me, sums, sizes.sum, sizes.ring)
    n, s1, low, high = (wide[..., row, :] for row in range(len(MOMENTS)))
    s2 = ring.add(low, ring.shifted(high, NUMERIC_BITS, sizes.ring), sizes.ring)
    count = cut_small(me, sums[0] & mask(count_bits), count_bits)
    of_n = times(me, count, np.stack([n, s1, s2], axis=-2), sizes.ring)
    s1_s1 = times(me, cut_small(me, sums[1], sizes.sum), s1, sizes.ring)
    return [*(of_n[..., row, :] for row in range(3)), s1_s1]


def _with_a_row_shared(me: ComputingParty, products: Sequence[Words], some: Bits, width: int) -> list[Words]:
    """Products of moments, with a row in the middle where there is none and they are zero."""
    none = weighted(me, me.negate(some)[None], [1], width)[..., 0, :]
    shifts = 0, NUMERIC_BITS - 1, 2 * NUMERIC_BITS - 2, 2 * NUMERIC_BITS - 2
    of_row = [ring.shifted(none, shift, width) for shift in shifts]
    return [ring.add(product, one, width) for product, one in zip(products, of_row, strict=True)]


def _times(words: Words, factor: int, width: int) -> Words:
    """Times a public number."""
    return ring.multiply(words, np.broadcast_to(ring.constant([factor], width), words.shape), width)
