"""Integer quotients of shared numbers, exact: any number of numerators over one divisor.

Numerators and divisor are shifted until the divisor's leading one is on top. The numerators' upper bits times the
reciprocal are then the quotients, or up to two less: up to one because both factors are rounded down, and up to one
because the carry of the dropped bits is left out. So the remainder is below three times the divisor. Two comparisons of
the remainder say how much is missing, and the quotients then equal those of `//`.

With a divisor below 2 of the normalised scale, a numerator's upper bits lack less than 2^(1 − `_GUARD`), and the
reciprocal less than 2^-55, which a quotient of 53 bits makes 2^-1 at most: together less than one.
"""

from __future__ import annotations

import numpy as np

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.circuits.bounded import Cut, cut_small, times, widened
from mixbayes.protocol.circuits.comparison import negative
from mixbayes.protocol.circuits.normal import Normal, shifted_alike
from mixbayes.protocol.circuits.products import weighted
from mixbayes.protocol.circuits.reciprocal import FRACTION, WIDTH, reciprocal
from mixbayes.protocol.computing_party import ComputingParty

MOST_QUOTIENT_BITS = 53
_GUARD = 3
"""Fraction bits of a numerator by which the reciprocal is multiplied."""
_DIGIT = 4


def width(divisor_bits: int, quotient_bits: int) -> int:
    """Bits of the ring in which numerators and divisors are shared, for quotients below 2^quotient_bits."""
    return _filled(divisor_bits) + quotient_bits + 1


def divide(
    me: ComputingParty, numerators: Words, divisor: Words, normal: Normal, index: Words, quotient_bits: int, into: int
) -> Words:
    """Additive shares modulo 2^into of ⌊numerator / divisor⌋ < 2^quotient_bits, exact, for quotients of up to 53 bits.

    Numerators are (rows, n), and all in a column have one divisor, a positive one. Both are additively shared modulo
    2^`width(divisor_bits, quotient_bits)`. `normal` are the divisor's bits, and `index` its interval, as logarithms
    take them (`logarithm.index_of`).
    """
    full = width(normal.width, quotient_bits)
    upper = _upper_bits(me, numerators, normal, quotient_bits)
    inverse = cut_small(me, reciprocal(me, normal, index), WIDTH)
    room = _room(quotient_bits)
    products = _flat(times(me, inverse, upper, room), room)
    # Upper bits that lack a carry may be below zero. One is added to every quotient, so that what is cut is not.
    one = np.broadcast_to(ring.constant([1 << FRACTION + _GUARD], room), products.shape)
    estimate = cut_small(me, ring.add(products, me.constant(one), room), room, FRACTION + _GUARD)
    # Now the estimates (rows · n) are one more than the quotients, or the quotients, or one less.
    columns, rows = divisor.shape[-1], numerators.shape[-2]
    bits = normal.width + 2
    part = ring.low_bits(np.tile(divisor, rows), full, bits)
    with_one = ring.add(ring.low_bits(_flat(numerators, full), full, bits), part, bits)
    rest = ring.subtract(with_one, times(me, estimate, part, bits), bits)
    below = negative(me, _side_by_side(rest, part, bits), bits).reshape(2, -1)
    weights = [-1 << estimate.width, 1, 1]
    missing = weighted(me, np.concatenate([estimate.carry[None], me.negate(below)]), weights, into)
    low = ring.low_bits(_in(estimate, into), into, into)
    of_one = np.broadcast_to(ring.constant([1], into), low.shape)
    found = ring.subtract(ring.add(low, ring.total(missing, into), into), me.constant(of_one), into)
    return found.reshape(*found.shape[:-1], rows, columns)


def _upper_bits(me: ComputingParty, numerators: Words, normal: Normal, quotient_bits: int) -> Words:
    """The numerators on the scale on which the divisor is m, with `_GUARD` fraction bits; lower by under two units."""
    full = width(normal.width, quotient_bits)
    shifted = shifted_alike(me, normal, numerators, full)
    return widened(me, shifted, full, _room(quotient_bits), _filled(normal.width) - 1 - _GUARD)


def _filled(bits: int) -> int:
    """Bits of the digits that a normal word fills."""
    return -(-bits // _DIGIT) * _DIGIT


def _room(quotient_bits: int) -> int:
    """Bits of the ring of numerator times reciprocal, and one more, which is below half of it."""
    return quotient_bits + FRACTION + _GUARD + 2


def _flat(words: Words, bits: int) -> Words:
    """(rows, n) as one row."""
    return words.reshape(-1) if ring.limbs(bits) == 1 else words.reshape(ring.limbs(bits), -1)


def _side_by_side(rest: Words, part: Words, bits: int) -> Words:
    """The remainders less the divisor, and less twice the divisor."""
    once = ring.subtract(rest, part, bits)
    return np.concatenate([once, ring.subtract(once, part, bits)], axis=-1)


def _in(parts: Cut, into: int) -> Words:
    """This party's low bits as an element of another ring."""
    if into < parts.width:
        return ring.low_bits(parts.low, parts.width, into)
    return ring.widened(parts.low, parts.width, into)
