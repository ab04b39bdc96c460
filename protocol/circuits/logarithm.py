"""log2 of counts in fixed point: the same integer arithmetic in the clear (`fixed_log2`) and on shares (`shared_log2`).

Write x = 2^e · m with 1 ≤ m < 2, so that log2 x = e + log2 m. The nine bits of m behind its leading one choose an
interval of width 2^-9, the next 26 bits are the place t in that interval, and log2 m = q0 + q1·t − q2·t², with
coefficients fitted to the interval. All products are exact in 64 bits at 62 fraction bits (t² is made of the upper 15
bits of t). One exact truncation then leaves `FRACTION` bits.

On shares: A2B gives the bits of x. Normalisation finds the leading one, whose position is e, and shifts it to the top.
The nine bits behind it look up the coefficients in a public table. Products and the truncation follow.

The error is at most 2^-33.05 from the fit, 2^-33.47 from t², 2^-34.47 from cutting t, 2^-35.3 from rounding the
coefficients, and 2^-(FRACTION + 1) from rounding the result; together it is below `ERROR`, 2^-30.9 or 5e-10.
`tests/protocol/circuits/test_logarithm.py` measures it on every count up to 2^20 and beyond.
"""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from functools import lru_cache

import numpy as np

from mixbayes.protocol.arrays import Bits, Words, mask
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.circuits.addition import to_bits
from mixbayes.protocol.circuits.choice import Slots, choose_slots, in_every_slot, look_up
from mixbayes.protocol.circuits.comparison import carry
from mixbayes.protocol.circuits.products import gate, product_of_bits, scale, weighted
from mixbayes.protocol.computing_party import ComputingParty

FRACTION = 31
ERROR = 2.0**-30.9
INDEX, PLACE, UPPER = 9, 26, 15
"""Bits of m that choose the interval, bits of the place t, and the upper bits of t of which t² is made."""
_SCALE = 62
"""Fraction bits of the polynomial."""
_Q0, _Q1, _Q2 = 38, 36, 32
"""Fraction bits of the coefficients. With t of 26 bits and t² of 30, q1·t and q2·t² have `_SCALE` of them."""
_Q0_BITS, _Q1_BITS, _Q2_BITS = 38, 28, 14
_ENTRY = 64, 16
"""The coefficients of an interval, one behind the other, as words of these widths."""
_RING = 64
_DIGIT = 4
"""Bits of the digits in which the leading one is looked for."""
_NONZERO = np.uint64(1)


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
    nonzero, exponent, words = normalise(me, to_bits(me, x, bits), bits)
    # Now the leading one of `normal` is in bit 63. Limbs below the highest hold bits that no result depends on.
    normal = words if words.ndim == 1 else words[-1]
    q0, q1, q2 = _coefficients(me, look_up(me, _index(normal), _table(), _ENTRY))
    total = (q0 << np.uint64(_SCALE - _Q0)) + _polynomial(me, normal, bits, q1, q2)
    # Now total is additive shares of log2 m with 62 fraction bits, modulo 2^64.
    return _truncate(me, total, exponent, (bits - 1).bit_length(), width), nonzero


def leading_one(me: ComputingParty, word: Words, width: int) -> tuple[Bits, Words]:
    """XOR shares of [word ≠ 0] and of the position of its leading one (0 for the word 0), from XOR shares of the word.

    The position within every digit is looked up. A tree then joins neighbouring groups of digits, with one bit more for
    the position at every level.
    """
    state = _within_digits(me, ring.digits(word, 0, _DIGIT, -(-width // _DIGIT)))
    size = 2
    while len(state) > 1:
        pairs = len(state) // 2
        low, high, rest = state[0 : 2 * pairs : 2], state[1 : 2 * pairs : 2], state[2 * pairs :]
        state = np.concatenate([_joined_groups(me, high, low, size), rest])
        # Now the positions of the groups have `size` + 1 bits. A group left without a partner has a smaller one.
        size += 1
    return (state[0] & _NONZERO).astype(np.uint8), state[0] >> _NONZERO


def shift_left(me: ComputingParty, word: Words, amount: Words, stages: int, width: int) -> Words:
    """XOR shares of word · 2^amount modulo 2^width, the amount (n,) XOR-shared and below 2^stages."""
    for stage in range(stages):
        # Shift by 2^stage where that bit of the amount is set: x ⊕ bit·(x ⊕ shifted x).
        bit = (amount >> np.uint64(stage)).astype(np.uint8) & np.uint8(1)
        moved = word ^ ring.shifted(word, 1 << stage, width)
        word = word ^ gate(me, np.broadcast_to(bit, word.shape), moved, min(width, ring.WORD))
    return word


def normalise(me: ComputingParty, word: Words, width: int) -> tuple[Bits, Words, Words]:
    """[word ≠ 0], the exponent (position of the leading one), and the word shifted until it fills its limbs."""
    nonzero, position = leading_one(me, word, width)
    stages = max(1, (width - 1).bit_length())
    room = 1 << stages
    # The shift is room − 1 − position, where room − 1 is all ones: the complement of the position's bits.
    amount = position ^ me.constant(np.full(position.shape, room - 1, np.uint64))
    if room < ring.WORD:
        # Within `room` bits the messages are shorter. The rest of the shift is the same for all words, and so is local.
        return nonzero, position, shift_left(me, word, amount, stages, room) << np.uint64(ring.WORD - room)
    wide = np.zeros((ring.limbs(room), word.shape[-1]), np.uint64)
    wide[: ring.limbs(width)] = ring.limbed(word, width)
    return nonzero, position, shift_left(me, wide if len(wide) > 1 else wide[0], amount, stages, room)


def _within_digits(me: ComputingParty, digits: Bits) -> Words:
    """For each digit three shared bits: bit 0 is [digit ≠ 0], the two above it are the position of its leading one."""
    sends, asks = me.halves(digits)
    share = me.random.words(*sends.shape) & mask(3)
    tables = _digit_tables()[sends] ^ in_every_slot(_DIGIT, _DIGIT)[share]
    (chosen,) = choose_slots(me, [Slots(_DIGIT, _DIGIT, tables.reshape(1, -1), asks.reshape(-1))])
    return me.whole(share, chosen.reshape(asks.shape).astype(np.uint64) & mask(3), digits.shape[1])


def _joined_groups(me: ComputingParty, high: Words, low: Words, size: int) -> Words:
    """Two neighbouring groups with positions of `size` bits as one whose position has a bit more."""
    nonzero = high & _NONZERO
    # If the high group is not zero, its position replaces the low one's, and the new highest bit of the position is 1.
    payload = low ^ (high & ~_NONZERO)
    chosen = gate(me, nonzero.astype(np.uint8), payload, size + 1)
    # low ⊕ [high ≠ 0]·(low ⊕ position of high) keeps the bit [low ≠ 0] only if high is zero. So XOR with [high ≠ 0] is
    # OR.
    return low ^ chosen ^ nonzero ^ (nonzero << np.uint64(size + 1))


def _index(normal: Words) -> Words:
    """The interval of m: the bits behind the leading one. XOR shares of `normal` give XOR shares of it."""
    return (normal >> np.uint64(63 - INDEX)) & mask(INDEX)


def _coefficients(me: ComputingParty, rows: Words) -> tuple[Words, Words, Words]:
    """B2A of the looked-up rows: additive shares of q0, q1 and q2."""
    sizes = _Q0_BITS, _Q1_BITS, _Q2_BITS
    bits = np.concatenate([ring.bits(word, width) for word, width in zip(rows.T, _ENTRY, strict=True)])
    # A row has the bits of q0, q1 and q2 one after the other. Each bit counts 2^(its place in its coefficient).
    weights = [1 << i for size in sizes for i in range(size)]
    q0, q1, q2 = np.split(weighted(me, bits, weights, _RING), np.cumsum(sizes)[:-1])
    return ring.total(q0, _RING), ring.total(q1, _RING), ring.total(q2, _RING)


def _polynomial(me: ComputingParty, normal: Words, bits: int, q1: Words, q2: Words) -> Words:
    """q1·t − q2·t² = (q1 − q2·t)·t by Horner's rule, a product for every XOR-shared bit of t: two rounds."""
    # A count of few bits has few places behind its index; the others are zero and known to be.
    places = np.arange(max(0, PLACE - max(0, bits - 1 - INDEX)), PLACE, dtype=np.uint64)
    if not places.size:
        return np.zeros_like(q1)
    t = ((normal >> (np.uint64(63 - INDEX - PLACE) + places[:, None])) & np.uint64(1)).astype(np.uint8)
    # t² is made of the upper bits of t alone.
    high = places >= PLACE - UPPER
    shifts = (places[high] - np.uint64(PLACE - UPPER))[:, None]
    slope = ring.total(scale(me, t[high], q2 << shifts, _RING), _RING)
    # Now slope is q2 times the upper bits of t. Bit i of t selects 2^i·q1, less 2^(i − 11)·slope if it is an upper bit.
    words = q1 << places[:, None]
    words[high] -= slope << shifts
    return ring.total(scale(me, t, words, _RING), _RING)


def _truncate(me: ComputingParty, total: Words, exponent: Words, exponent_bits: int, width: int) -> Words:
    """Additive shares modulo 2^width of exponent · 2^FRACTION + ⌊total / 2^(_SCALE − FRACTION)⌋, exact.

    The sum of the high parts of both shares lacks the carry of their low parts. If the shares wrap around 2^64, it is
    too large by 2^64 shifted down as they are. As the total is below 2^63, they wrap around exactly if one or both have
    their top bit set: two shares without it add up to less than 2^64, and one with it would make the sum 2^63 or more.
    """
    drop = _SCALE - FRACTION
    into = carry(me, total & mask(drop), drop)
    powers = [1 << (FRACTION + i) for i in range(exponent_bits)]
    bits = np.concatenate([into[None], ring.bits(exponent, exponent_bits)])
    both = ring.total(weighted(me, bits, [1, *powers], width), width)
    # Now `both` is the missing carry and the exponent at its place.
    wraps = _either(me, (total >> np.uint64(_RING - 1)).astype(np.uint8), 1 << (_RING - drop), width)
    return ((total >> np.uint64(drop)) + both - wraps) & mask(width)


def _either(me: ComputingParty, bit: Bits, weight: int, width: int) -> Words:
    """Additive shares of weight · (a or b) = weight · (a + b − ab), of private bits."""
    return bit * ring.constant([weight], width) + product_of_bits(me, bit, [-weight], width)


@lru_cache
def _table() -> Words:
    """(512, 2): the coefficients of every interval, packed into the two words of an entry."""
    q0, q1, q2 = _fitted()
    low = q0 | q1 << np.uint64(_Q0_BITS)
    return np.stack([low, q1 >> np.uint64(64 - _Q0_BITS) | q2 << np.uint64(_Q0_BITS + _Q1_BITS - 64)], axis=1)


@lru_cache
def _digit_tables() -> Words:
    """For every digit that is the sender's share: slot v describes the digit share ⊕ v as in `_within_digits`."""
    described = [(x > 0) | max(x.bit_length() - 1, 0) << 1 for x in range(1 << _DIGIT)]
    return np.array(
        [sum(described[own ^ v] << (_DIGIT * v) for v in range(1 << _DIGIT)) for own in range(1 << _DIGIT)],
        np.uint64,
    )


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
