"""The reciprocal of a normalised word, from below. A division multiplies by it.

Write the word as 2^e · m with 1 ≤ m < 2. The nine bits of m behind its leading one look up a quadratic for 1/m. Its
value with 31 fraction bits is r. One step of Newton's method gives r + r·ε with ε = 1 − m·r; the error is ε²/m.

All shares are cut without the carry of the dropped bits, so every cut lowers its number by less than two units of its
last place. r gets one unit back, so that its error is symmetric. The errors are at most

- of r: 2^-32 from the fit, 2^-30 and 2^-31 from cutting t in its two places, 2^-33 from each of three roundings, and
  2^-31 from the cut; in sum |ε| < 2^-28.4, and ε²/m < 2^-56.8;
- 2^-56 since only 57 bits of m are taken. This one is above 1/m, and the result is lowered by as much;
- 2^-58 from the cut of ε, and 2^-59 from that of the result.

So the result is at most 1/m, and lower by less than 2^-55.
"""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from functools import lru_cache

import numpy as np

from mixbayes.protocol.arrays import Words, mask
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.circuits.bounded import cut_small, times, widened
from mixbayes.protocol.circuits.look_up import Table
from mixbayes.protocol.circuits.normal import PRECISE, Normal
from mixbayes.protocol.circuits.products import narrow_weighted, times_number
from mixbayes.protocol.computing_party import ComputingParty

FRACTION = 60
WIDTH = FRACTION + 2
"""Bits of the ring in which the reciprocal is shared. It is below half of it."""
DEFICIT = 2.0**-55
"""The reciprocal is at most that of m, and at least that less this."""
INDEX, PLACE, UPPER = 9, 20, 12
"""Bits of m that choose the interval, bits of the place t in it, and upper bits of t of which t² is made."""
_Q0, _Q1, _Q2 = 33, 23, 12
"""Fraction bits of the coefficients of m."""
_SIZES = 34, 24, 13
_STEEP = _Q2 + INDEX + UPPER
"""Fraction bits of the slope."""
_SCALE = _STEEP + INDEX + PLACE
"""Fraction bits of the quadratic: 62. It is below 2, in a ring of 64 bits."""
_START = 31
"""Fraction bits of r."""
_EPSILON, _OFFSET = 59, 28
"""Fraction bits of ε, to which 2^-`_OFFSET` is added, so that it is positive."""


def reciprocal(me: ComputingParty, normal: Normal, index: Words) -> Words:
    """Additive shares modulo 2^`WIDTH` of 1/m from below, with `FRACTION` fraction bits.

    `index` is the one-hot vector of the nine bits behind the leading one.
    """
    whole = me.constant(np.ones_like(normal.top))
    start = widened(me, _quadratic(me, normal, index), ring.WORD, ring.WORD, _SCALE - _START) + whole
    # m · r has 87 fraction bits and is almost one: above 2^-26 it needs no bits.
    exact = _START + PRECISE - 1
    bits = ring.bits(normal.top >> np.uint64(ring.WORD - PRECISE), PRECISE)
    room = exact - _OFFSET + 2
    distance = ring.negate(times_number(me, bits, ring.reduced(start, room), room), room)
    # Now `distance` is ε modulo 2^-26, because 1 is zero there.
    positive = ring.add(distance, whole << np.uint64(exact - _OFFSET), room)
    epsilon = cut_small(me, positive, room, exact - _EPSILON)
    product = times(me, epsilon, start, ring.WORD)
    gained = widened(me, product, ring.WORD, WIDTH, _START + _EPSILON - FRACTION)
    # r·(ε + 2^-28) holds 2^-28·r too much; and 2^-56 is taken away for the bits of m that were not used.
    found = (start << np.uint64(FRACTION - _START)) - (start << np.uint64(FRACTION - _START - _OFFSET)) + gained
    return (found - (whole << np.uint64(FRACTION - PRECISE + 1))) & mask(WIDTH)


def _quadratic(me: ComputingParty, normal: Normal, index: Words) -> Words:
    """q0 − (q1 − q2·t)·t with `_SCALE` fraction bits, modulo 2^64."""
    starts = _SCALE - _Q0, _STEEP - _Q1, 0
    weights = [1 << start + i for size, start in zip(_SIZES, starts, strict=True) for i in range(size)]
    parts = np.split(narrow_weighted(me, _table().at(index), weights, ring.WORD), np.cumsum(_SIZES)[:-1])
    q0, q1, q2 = (ring.total(part, ring.WORD) for part in parts)
    t = ring.bits(normal.top >> np.uint64(63 - INDEX - PLACE), PLACE)
    steep = q1 - times_number(me, t[PLACE - UPPER :], q2, ring.WORD)
    return q0 - times_number(me, t, steep, ring.WORD)


@lru_cache
def _table() -> Table:
    return Table.of(_fitted(), _SIZES)


@lru_cache
def _fitted() -> Words:
    """q0, q1 and q2 of every interval, (3, 512), in decimal arithmetic, which is the same everywhere."""
    with localcontext(Context(prec=30)):
        rows = [_interval(start) for start in range(1 << INDEX, 2 << INDEX)]
    return np.array(rows, np.uint64).T.copy()


def _interval(start: int) -> tuple[int, int, int]:
    """The coefficients for m in [start, start + 1] / 2^INDEX, as integers.

    As for the logarithm, 1/m is interpolated at the three Chebyshev points; the best straight line of what the rounding
    of q2 leaves goes into q1 and q0, and so do the means of what the bits that t and t² lack would add.
    """
    spread = Decimal(3).sqrt() / 4
    centre = start + Decimal("0.5")
    below, middle, above = ((1 << INDEX) / (centre + d) for d in (-spread, Decimal(0), spread))
    rise, bend = (above - below) / (2 * spread), (above - 2 * middle + below) / (2 * spread * spread)
    q2 = round(bend * (1 << _Q2 + 2 * INDEX))
    taken = Decimal(q2) / (1 << _Q2 + 2 * INDEX)
    lost = bend - taken
    c1 = rise - bend + lost + taken / (1 << UPPER + 1)
    c0 = middle - rise / 2 + bend / 4 - lost / 8 + c1 / (1 << PLACE + 1)
    return round(c0 * (1 << _Q0)), round(-c1 * (1 << _Q1 + INDEX)), q2
