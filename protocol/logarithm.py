"""log2 of counts in fixed point: the same integer arithmetic in the clear and on shares.

x = 2^e · m with 1 ≤ m < 2. The nine bits of m behind the leading one choose an interval of width h = 2^-9, the next 26
are the place t in it, and log2 m = q0 + q1·t − q2·t² with coefficients fitted to the interval. All products are exact
in 64 bits at 62 fraction bits (t² uses the upper 15 bits of t), then one exact truncation leaves `FRACTION` bits.

Error: the fit 2^-33.0, t² 2^-33.5, coefficients and t below 2^-34, rounding 2^-(FRACTION + 1); together below
`ERROR`, 2^-30.9 or 5e-10. `tests/protocol/test_logarithm.py` measures it on every count up to 2^20 and beyond.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from mixbayes.protocol import ring
from mixbayes.protocol.addition import to_bits
from mixbayes.protocol.arrays import Bits, Words, mask
from mixbayes.protocol.comparison import carry
from mixbayes.protocol.leading import normalise
from mixbayes.protocol.long_choice import look_up
from mixbayes.protocol.party import Party
from mixbayes.protocol.products import product_of_bits, scale, weighted

FRACTION = 31
ERROR = 2.0**-30.9
INDEX, PLACE, UPPER = 9, 26, 15
_SCALE = 62
_Q0, _Q1, _Q2 = 38, 36, 32
"""Fraction bits of the coefficients; the last two are also how many more than the scale of t and t² they need."""
_Q0_BITS, _Q1_BITS, _Q2_BITS = 38, 28, 14
_RING = 64


def fixed_log2(x: Words) -> Words:
    """log2 x with FRACTION fraction bits, for 1 ≤ x < 2^53; 0 for x = 0."""
    exponent = (np.frexp(np.maximum(x, 1).astype(np.float64))[1] - 1).astype(np.uint64)
    normal = x << (np.uint64(63) - exponent)
    rows = _table()[_index(normal).astype(np.intp)]
    q0, q1, q2 = rows[:, 0], rows[:, 1] & mask(_Q1_BITS), rows[:, 1] >> np.uint64(_Q1_BITS)
    t = (normal >> np.uint64(63 - INDEX - PLACE)) & mask(PLACE)
    upper = t >> np.uint64(PLACE - UPPER)
    total = (q0 << np.uint64(_SCALE - _Q0)) + q1 * t - q2 * upper * upper
    return (exponent << np.uint64(FRACTION)) + (total >> np.uint64(_SCALE - FRACTION))


def shared_log2(me: Party, x: Words, bits: int, width: int) -> tuple[Words, Bits]:
    """Additive shares modulo 2^width of `fixed_log2`, and XOR shares of [x ≠ 0], for additively shared x < 2^bits."""
    some, exponent, normal = normalise(me, to_bits(me, x, bits), bits)
    q0, q1, q2 = _coefficients(me, look_up(me, _index(normal), _table()))
    total = (q0 << np.uint64(_SCALE - _Q0)) + _polynomial(me, normal, bits, q1, q2)
    return _truncate(me, total, exponent, (bits - 1).bit_length(), width), some


def _index(normal: Words) -> Words:
    return (normal >> np.uint64(63 - INDEX)) & mask(INDEX)


def _coefficients(me: Party, rows: Words) -> tuple[Words, Words, Words]:
    """The looked-up coefficients as additive shares."""
    sizes = _Q0_BITS, _Q1_BITS, _Q2_BITS
    bits = np.concatenate([ring.bits(rows[:, 0], _Q0_BITS), ring.bits(rows[:, 1], _Q1_BITS + _Q2_BITS)])
    weights = [1 << i for size in sizes for i in range(size)]
    q0, q1, q2 = np.split(weighted(me, bits, weights, _RING), np.cumsum(sizes)[:-1])
    return ring.total(q0, _RING), ring.total(q1, _RING), ring.total(q2, _RING)


def _polynomial(me: Party, normal: Words, bits: int, q1: Words, q2: Words) -> Words:
    """q1·t − q2·t², by Horner's rule on the XOR-shared bits of t: two rounds."""
    # A count of few bits has few places behind its index; the others are zero and known to be.
    places = np.arange(max(0, PLACE - max(0, bits - 1 - INDEX)), PLACE, dtype=np.uint64)
    if not places.size:
        return np.zeros_like(q1)
    t = ((normal >> (np.uint64(63 - INDEX - PLACE) + places[:, None])) & np.uint64(1)).astype(np.uint8)
    high = places >= PLACE - UPPER
    shifts = (places[high] - np.uint64(PLACE - UPPER))[:, None]
    slope = ring.total(scale(me, t[high], q2 << shifts, _RING), _RING)
    words = q1 << places[:, None]
    words[high] -= slope << shifts
    return ring.total(scale(me, t, words, _RING), _RING)


def _truncate(me: Party, total: Words, exponent: Words, exponent_bits: int, width: int) -> Words:
    """exponent · 2^FRACTION + ⌊total / 2^(SCALE − FRACTION)⌋, exact.

    The shares' high parts miss the carry of the low ones, and exceed the sum by 2^64 if the shares wrap around; as
    the total is below 2^63, they do exactly if either has its top bit set.
    """
    drop = _SCALE - FRACTION
    into = carry(me, total & mask(drop), drop)
    powers = [1 << (FRACTION + i) for i in range(exponent_bits)]
    bits = np.concatenate([into[None], ring.bits(exponent, exponent_bits)])
    both = ring.total(weighted(me, bits, [1, *powers], width), width)
    wraps = _either(me, (total >> np.uint64(_RING - 1)).astype(np.uint8), 1 << (_RING - drop), width)
    return ((total >> np.uint64(drop)) + both - wraps) & mask(width)


def _either(me: Party, bit: Bits, weight: int, width: int) -> Words:
    """Additive shares of weight · (a or b), of private bits."""
    return bit * ring.constant([weight], width) + product_of_bits(me, bit, [-weight], width)


@lru_cache
def _table() -> Words:
    """(512, 2): q0, and q1 with q2 above it.

    Interpolation at the three Chebyshev points of each interval; what rounding q2 loses is given back to the others
    as its best straight line, and the mean of what t² loses by its low bits is put into q1. Half a unit of the
    result is in q0, so that truncation rounds.
    """
    h = 2.0**-INDEX
    start = 1 + np.arange(1 << INDEX)[:, None] * h
    nodes = 0.5 + 0.5 * np.cos(np.pi * np.array([1, 3, 5]) / 6)
    values = np.log2(start + nodes * h).T
    c2, c1, c0 = np.polyfit(nodes, values, 2)
    q2 = np.rint(-c2 * 2.0**_Q2)
    lost = c2 + q2 * 2.0**-_Q2
    c1 += lost - q2 * 2.0 ** -(_Q2 + UPPER)
    c0 += 2.0 ** -(FRACTION + 1) - lost / 8
    q1, q0 = np.rint(c1 * 2.0**_Q1), np.rint(c0 * 2.0**_Q0)
    return np.stack([q0.astype(np.uint64), q1.astype(np.uint64) | q2.astype(np.uint64) << np.uint64(_Q1_BITS)], axis=1)
