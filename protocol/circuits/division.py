"""The integer quotient of shared numbers, exact, digit by digit.

Restoring division in base four: the remainder is compared with one, two and three times the divisor at once, and what
fits is taken away. An approximate reciprocal would take fewer rounds; this one has no error to carry through a proof,
its clear-text counterpart is `//`, and it runs once per model.
"""

from __future__ import annotations

import numpy as np

from mixbayes.protocol.arrays import Bits, Words
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.circuits.comparison import negative
from mixbayes.protocol.circuits.products import scale
from mixbayes.protocol.computing_party import ComputingParty


def divide(me: ComputingParty, numerator: Words, divisor: Words, divisor_bits: int, quotient_bits: int) -> Bits:
    """XOR shares (quotient_bits, n), lowest first, of ⌊numerator / divisor⌋ < 2^quotient_bits, quotient_bits even.

    Both are additively shared modulo 2^`width(divisor_bits, quotient_bits)`, the divisor positive.
    """
    remainder, full = numerator, width(divisor_bits, quotient_bits)
    digits: list[Bits] = []
    for place in range(quotient_bits - 2, -1, -2):
        # Here remainder < divisor · 2^(place + 2), so no difference below needs more bits than these and a sign.
        bits = width(divisor_bits, place + 2)
        remainder, part = ring.low_bits(remainder, full, bits), ring.low_bits(divisor, full, bits)
        part = ring.shifted(part, place, bits)
        full, divisor = bits, ring.low_bits(divisor, full, bits)
        fits = _multiples_that_fit(me, remainder, part, bits)
        digits.insert(0, fits[1])
        digits.insert(0, fits[0] ^ fits[1] ^ fits[2])
        taken = ring.total(scale(me, fits, _thrice(part), bits), bits)
        remainder = ring.subtract(remainder, taken, bits)
    return np.stack(digits)


def width(divisor_bits: int, quotient_bits: int) -> int:
    """Bits for the numerator of such a quotient, with a sign."""
    return divisor_bits + quotient_bits + 1


def _multiples_that_fit(me: ComputingParty, remainder: Words, part: Words, bits: int) -> Bits:
    """(3, n): is the remainder at least one, two, three times the part?"""
    twice = ring.add(part, part, bits)
    rests = [ring.subtract(remainder, times, bits) for times in (part, twice, ring.add(twice, part, bits))]
    below = negative(me, np.concatenate(rests, axis=-1), bits)
    return me.negate(below).reshape(3, -1)


def _thrice(part: Words) -> Words:
    """The same word for each of the three answers: (…, 3, n)."""
    return np.repeat(part[..., None, :], 3, axis=-2)
