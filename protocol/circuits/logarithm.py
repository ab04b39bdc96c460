"""log2 of counts in fixed point: the same integer arithmetic in the clear and on shares.

x = 2^e · m with 1 ≤ m < 2. The nine bits of m behind the leading one choose an interval of width h = 2^-9, the next 26
are the place t in it, and log2 m = q0 + q1·t − q2·t² with coefficients fitted to the interval. All products are exact
in 64 bits at 62 fraction bits (t² uses the upper 15 bits of t), then one exact truncation leaves `FRACTION` bits.

Error: the fit 2^-33.05, t² 2^-33.47, t 2^-34.47, coefficients 2^-35.3, rounding 2^-(FRACTION + 1); together below
`ERROR`, 2^-30.9 or 5e-10. `tests/protocol/test_logarithm.py` measures it on every count up to 2^20 and beyond.
"""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from functools import lru_cache

import numpy as np

from mixbayes.protocol.arrays import Bits, Words, mask
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.circuits.addition import to_bits
from mixbayes.protocol.circuits.comparison import carry
from mixbayes.protocol.circuits.leading import normalise
from mixbayes.protocol.circuits.look_up import look_up
from mixbayes.protocol.circuits.products import product_of_bits, scale, weighted
from mixbayes.protocol.computing_party import ComputingParty

FRACTION = 31
ERROR = 2.0**-30.9
INDEX, PLACE, UPPER = 9, 26, 15
_SCALE = 62
_Q0, _Q1, _Q2 = 38, 36, 32
"""Fraction bits of the coefficients; the last two are also how many more than the scale of t and t² they need."""
_Q0_BITS, _Q1_BITS, _Q2_BITS = 38, 28, 14
_ENTRY = 64, 16
"""The coefficients of an interval, one behind the other, as words of these widths."""
_RING = 64


def fixed_log2(x: Words) -> Words:
    """log2 x with FRACTION fraction bits, for 1 ≤ x < 2^53; 0 for x = 0."""
    exponent = (np.frexp(np.maximum(x, 1).astype(np.float64))[1] - 1).astype(np.uint64)
    return _of_normal(exponent, x << (np.uint64(63) - exponent))


def fixed_log2_of(x: int) -> int:
    """The same of one integer of any size."""
    exponent = x.bit_length() - 1
    normal = x << 63 - exponent if exponent < 63 else x >> exponent - 63
    return int(_of_normal(np.array([exponent], np.uint64), np.array([normal], np.uint64))[0])


def _of_normal(exponent: Words, normal: Words) -> Words:
    """Of 2^exponent times what is left of the number once its leading one stands in bit 63."""
    q0, q1, q2 = _fitted()[:, _index(normal).astype(np.intp)]
    t = (normal >> np.uint64(63 - INDEX - PLACE)) & mask(PLACE)
    upper = t >> np.uint64(PLACE - UPPER)
    total = (q0 << np.uint64(_SCALE - _Q0)) + q1 * t - q2 * upper * upper
    return (exponent << np.uint64(FRACTION)) + (total >> np.uint64(_SCALE - FRACTION))


def shared_log2(me: ComputingParty, x: Words, bits: int, width: int) -> tuple[Words, Bits]:
    """Additive shares modulo 2^width of `fixed_log2`, and XOR shares of [x ≠ 0], for additively shared x < 2^bits."""
    some, exponent, words = normalise(me, to_bits(me, x, bits), bits)
    normal = words if words.ndim == 1 else words[-1]
    q0, q1, q2 = _coefficients(me, look_up(me, _index(normal), _table(), _ENTRY))
    total = (q0 << np.uint64(_SCALE - _Q0)) + _polynomial(me, normal, bits, q1, q2)
    return _truncate(me, total, exponent, (bits - 1).bit_length(), width), some


def _index(normal: Words) -> Words:
    return (normal >> np.uint64(63 - INDEX)) & mask(INDEX)


def _coefficients(me: ComputingParty, rows: Words) -> tuple[Words, Words, Words]:
    """The looked-up coefficients as additive shares."""
    sizes = _Q0_BITS, _Q1_BITS, _Q2_BITS
    bits = np.concatenate([ring.bits(word, width) for word, width in zip(rows.T, _ENTRY, strict=True)])
    weights = [1 << i for size in sizes for i in range(size)]
    q0, q1, q2 = np.split(weighted(me, bits, weights, _RING), np.cumsum(sizes)[:-1])
    return ring.total(q0, _RING), ring.total(q1, _RING), ring.total(q2, _RING)


def _polynomial(me: ComputingParty, normal: Words, bits: int, q1: Words, q2: Words) -> Words:
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


def _truncate(me: ComputingParty, total: Words, exponent: Words, exponent_bits: int, width: int) -> Words:
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


def _either(me: ComputingParty, bit: Bits, weight: int, width: int) -> Words:
    """Additive shares of weight · (a or b), of private bits."""
    return bit * ring.constant([weight], width) + product_of_bits(me, bit, [-weight], width)


@lru_cache
def _table() -> Words:
    """(512, 2): the coefficients packed into entries."""
    q0, q1, q2 = _fitted()
    low = q0 | q1 << np.uint64(_Q0_BITS)
    return np.stack([low, q1 >> np.uint64(64 - _Q0_BITS) | q2 << np.uint64(_Q0_BITS + _Q1_BITS - 64)], axis=1)


@lru_cache
def _fitted() -> Words:
    """q0, q1 and q2 of every interval, (3, 512).

    Both parties must hold the same integers, so they are computed in decimal arithmetic, which is the same everywhere.
    """
    with localcontext(Context(prec=30)):
        one = Decimal(2).ln()
        rows = [_interval(start, one) for start in range(1 << INDEX, 2 << INDEX)]
    return np.array(rows, np.uint64).T.copy()


def _interval(start: int, one: Decimal) -> tuple[int, int, int]:
    """The coefficients for m in [start, start + 1] / 2^INDEX, as integers.

    `one` is ln 2. Interpolation at the three Chebyshev points 1/2 and 1/2 ± √3/4. What rounding q2 loses is given back
    to the others as its best straight line, and the mean of what t² loses by its low bits is put into q1. Half a unit
    of the result is in q0, so that truncation rounds.
    """
    spread = Decimal(3).sqrt() / 4
    centre = start + Decimal("0.5")
    below, middle, above = (((centre + d) / (1 << INDEX)).ln() / one for d in (-spread, Decimal(0), spread))
    rise, bend = (above - below) / (2 * spread), (above - 2 * middle + below) / (2 * spread * spread)
    q2 = round(-bend * (1 << _Q2))
    lost = bend + Decimal(q2) / (1 << _Q2)
    c1 = rise - bend + lost - Decimal(q2) / (1 << _Q2 + UPPER)
    c0 = middle - rise / 2 + bend / 4 - lost / 8 + Decimal(1) / (1 << FRACTION + 1)
    return round(c0 * (1 << _Q0)), round(c1 * (1 << _Q1)), q2
