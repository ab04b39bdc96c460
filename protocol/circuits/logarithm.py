"""log2 of counts in fixed point: the same integer arithmetic in the clear (`fixed_log2`) and on shares (`shared_log2`).

Write x = 2^e · m with 1 ≤ m < 2, so that log2 x = e + log2 m. The nine bits of m behind its leading one choose an
interval of width 2^-9, the next 26 bits are the place t in that interval, and log2 m = q0 + q1·t − q2·t², with
coefficients fitted to the interval. All products are exact in 64 bits at 62 fraction bits (t² is made of the upper 15
bits of t). One exact truncation then leaves `FRACTION` bits.

On shares: A2B gives the bits of x, and normalisation brings the leading one to the top. The nine bits behind it look up
the coefficients in a public table. Products and the truncation follow. A count of few bits has zeros in the lowest
places of t, so all terms have zeros at their end; these places are not computed at all.

The error is at most 2^-33.05 from the fit, 2^-33.47 from t², 2^-34.47 from cutting t, 2^-35.3 from rounding the
coefficients, and 2^-(FRACTION + 1) from rounding the result; together it is below `ERROR`, 2^-30.9 or 5e-10.
`tests/protocol/circuits/test_logarithm.py` measures it on every count up to 2^20 and beyond.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from functools import lru_cache

import numpy as np

from mixbayes.protocol.arrays import Bits, Words, mask
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.circuits.addition import to_bits
from mixbayes.protocol.circuits.comparison import carry
from mixbayes.protocol.circuits.look_up import Table, one_hot
from mixbayes.protocol.circuits.normal import Normal, normalise
from mixbayes.protocol.circuits.products import narrow_product_of_bits, narrow_weighted, scale, times_number
from mixbayes.protocol.computing_party import ComputingParty

FRACTION = 31
ERROR = 2.0**-30.9
INDEX, PLACE, UPPER = 9, 26, 15
"""Bits of m that choose the interval, bits of the place t, and the upper bits of t of which t² is made."""
_SCALE = 62
"""Fraction bits of the polynomial."""
_Q0, _Q1, _Q2 = 38, 36, 32
"""Fraction bits of the coefficients. With t of 26 bits and t² of 30, q1·t and q2·t² have `_SCALE` of them."""
_SIZES = 38, 28, 14
"""Bits of the coefficients."""
_CUT = PLACE - UPPER
"""Lower bits of t that t² lacks."""
_INDEX_DIGITS = 3
"""Digits of three bits in an index."""


def fixed_log2(x: Words) -> Words:
    """log2 x with `FRACTION` fraction bits, for 1 ≤ x < 2^53; 0 for x = 0."""
    exponent = (np.frexp(np.maximum(x, 1).astype(np.float64))[1] - 1).astype(np.uint64)
    return _of_normal(exponent, x << (np.uint64(63) - exponent))


def fixed_log2_of(x: int) -> int:
    """The same of one positive integer of any size."""
    exponent = x.bit_length() - 1
    normal = x << 63 - exponent if exponent < 63 else x >> exponent - 63
    return int(_of_normal(np.array([exponent], np.uint64), np.array([normal], np.uint64))[0])


def _of_normal(exponent: Words, normal: Words) -> Words:
    """The logarithm of 2^exponent · m, where `normal` is m with its leading one in bit 63."""
    q0, q1, q2 = _fitted()[:, _index(normal).astype(np.intp)]
    t = (normal >> np.uint64(63 - INDEX - PLACE)) & mask(PLACE)
    upper = t >> np.uint64(PLACE - UPPER)
    total = (q0 << np.uint64(_SCALE - _Q0)) + q1 * t - q2 * upper * upper
    return (exponent << np.uint64(FRACTION)) + (total >> np.uint64(_SCALE - FRACTION))


def shared_log2(me: ComputingParty, x: Words, bits: int, width: int) -> tuple[Words, Bits]:
    """Additive shares modulo 2^width of `fixed_log2`, and XOR shares of [x ≠ 0], for additively shared x < 2^bits."""
    normal = normalise(me, to_bits(me, x, bits), bits)
    return log2_of_normal(me, normal, index_of(me, normal), width), normal.nonzero


def index_of(me: ComputingParty, normal: Normal) -> Words:
    """Shares of the one-hot vector of the interval that m lies in."""
    return one_hot(me, _index(normal.top), _INDEX_DIGITS)


def log2_of_normal(me: ComputingParty, normal: Normal, index: Words, width: int) -> Words:
    """Additive shares modulo 2^width of the logarithm of normalised words; 0 for the word 0."""
    form = _Form.of(normal.width)
    q0, q1, q2 = _coefficients(me, _table().at(index), form)
    total = ring.add(q0, _polynomial(me, normal.top, q1, q2, form), form.width)
    # Now total is additive shares of log2 m with 62 fraction bits, less those that are zero, in the form's ring.
    return _truncate(me, total, normal.exponent, form, width)


def _index(normal: Words) -> Words:
    """The interval of m: the bits behind the leading one. XOR shares of `normal` give XOR shares of it."""
    return (normal >> np.uint64(63 - INDEX)) & mask(INDEX)


@dataclass(frozen=True, slots=True)
class _Form:
    """How many zeros are known to be at the end of the polynomial's terms, for words of some width."""

    lowest: int
    """The lowest place of t that is not known to be zero, so that t = 2^lowest · t'."""

    @classmethod
    def of(cls, bits: int) -> _Form:
        # Of counts of very few bits some zeros are kept, so that q1·t can be shifted right by `spare`.
        return cls(min(max(0, PLACE - max(0, bits - 1 - INDEX)), 2 * _CUT))

    @property
    def high(self) -> int:
        """The lowest place that t² is made of, as far as it is not known to be zero."""
        return max(self.lowest, _CUT)

    @property
    def spare(self) -> int:
        """The zeros at the end of t², with t counted from the place `_CUT`."""
        return 2 * (self.high - _CUT)

    @property
    def width(self) -> int:
        """Bits of the ring. The polynomial is below half of it."""
        return ring.WORD - self.spare

    @property
    def slope(self) -> int:
        """q1 is multiplied by 2^slope before q2·t is taken away."""
        return self.high - self.spare


def _coefficients(me: ComputingParty, rows: Bits, form: _Form) -> tuple[Words, Words, Words]:
    """B2A of the looked-up rows: additive shares of q0 and q1, at their places in the polynomial, and of q2."""
    starts = _SCALE - _Q0 - form.spare, min(form.lowest, form.slope), 0
    weights = [1 << start + i for size, start in zip(_SIZES, starts, strict=True) for i in range(size)]
    parts = np.split(narrow_weighted(me, rows, weights, form.width), np.cumsum(_SIZES)[:-1])
    q0, q1, q2 = (ring.total(part, form.width) for part in parts)
    return q0, q1, q2


def _polynomial(me: ComputingParty, normal: Words, q1: Words, q2: Words, form: _Form) -> Words:
    """q1·t − q2·t² = (q1 − q2·t)·t by Horner's rule, a product for every XOR-shared bit of t: two rounds."""
    places = np.arange(form.lowest, PLACE, dtype=np.uint64)
    t = ((normal >> (np.uint64(63 - INDEX - PLACE) + places[:, None])) & np.uint64(1)).astype(np.uint8)
    # t² is made of the upper bits of t alone.
    low, high = t[: form.high - form.lowest], t[form.high - form.lowest :]
    taken = times_number(me, high, q2, form.width)
    start = min(form.lowest, form.slope)
    # Bit i of t selects 2^i·q1, and if it is an upper bit, less the same of what q2·t takes away.
    steep = ring.subtract(ring.shifted(q1, form.slope - start, form.width), taken, form.width)
    words = np.stack([q1] * len(low) + [steep] * len(high))
    shifts = [*range(form.lowest - start, form.high - start), *range(len(high))]
    products = scale(me, t, words, form.width, [form.width - shift for shift in shifts])
    return ring.total_of_rows(ring.shifted_each(products, shifts, form.width), form.width)


def _truncate(me: ComputingParty, total: Words, exponent: Bits, form: _Form, width: int) -> Words:
    """Additive shares modulo 2^width of exponent · 2^FRACTION + ⌊total / 2^(_SCALE − FRACTION)⌋, exact.

    The sum of the high parts of both shares lacks the carry of their low parts. If the shares wrap around, it is too
    large by the ring's size shifted down as they are. As the total is below half of that, they wrap around exactly if
    one or both have their top bit set: two shares without it do not reach the size, and one with it would make the sum
    half of it or more.
    """
    drop = _SCALE - FRACTION - form.spare
    into = carry(me, total & mask(drop), drop)
    top = (total >> np.uint64(form.width - 1)).astype(np.uint8)
    bits = np.concatenate([into[None], exponent, top[None]])
    # An XOR of bits is a + b − 2ab, and an OR is a + b − ab.
    wrap = 1 << form.width - drop
    alone = [1, *(1 << FRACTION + i for i in range(len(exponent))), -wrap]
    together = [*(-2 * weight for weight in alone[:-1]), wrap]
    parts = bits * ring.constant(alone, width)[:, None] + narrow_product_of_bits(me, bits, together, width)
    return ((total >> np.uint64(drop)) + ring.total(parts, width)) & mask(width)


@lru_cache
def _table() -> Table:
    """The coefficients of every interval."""
    return Table.of(_fitted(), _SIZES)


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

    The logarithm is interpolated at the three Chebyshev points 1/2 and 1/2 ± √3/4 of the interval; `one` is ln 2. The
    rounding of q2 leaves a small parabola; its best straight line goes into q1 and q0. The low bits of t are missing in
    t²; the mean of what they would add goes into q1. Half a unit of the result is in q0, so that the truncation rounds.
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
