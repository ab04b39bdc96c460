"""The integer quotient of shared numbers: exact, digit by digit.

This is restoring division in base four: the remainder is compared with one, two and three times the divisor at the same
time, and as many of them as fit are subtracted. An approximate reciprocal would take fewer rounds. This division has no
error that a proof must account for, its clear-text counterpart is `//`, and it runs once per model.
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

    Numerator and divisor are additively shared modulo 2^`width(divisor_bits, quotient_bits)`. The divisor is positive.
    """
    remainder, full = numerator, width(divisor_bits, quotient_bits)
    digits: list[Bits] = []
    for place in range(quotient_bits - 2, -1, -2):
        # Now remainder < divisor · 2^(place + 2), so every difference fits `bits` bits, the sign included.
        bits = width(divisor_bits, place + 2)
        remainder, part = ring.low_bits(remainder, full, bits), ring.low_bits(divisor, full, bits)
        part = ring.shifted(part, place, bits)
        full, divisor = bits, ring.low_bits(divisor, full, bits)
        fits = _multiples_that_fit(me, remainder, part, bits)
        # The digit is the number of multiples that fit: 0, 1, 2 or 3. Its high bit is set if at
        # least two fit, and its low bit if an odd number does.
        digits.insert(0, fits[1])
        digits.insert(0, fits[0] ^ fits[1] ^ fits[2])
        # Each multiple that fits takes one `part` away.
        taken = ring.total(scale(me, fits, _thrice(part), bits), bits)
        remainder = ring.subtract(remainder, taken, bits)
    return np.stack(digits)


def width(divisor_bits: int, quotient_bits: int) -> int:
    """Bits of a numerator that has such a quotient, with a sign."""
    return divisor_bits + quotient_bits + 1


def _multiples_that_fit(me: ComputingParty, remainder: Words, part: Words, bits: int) -> Bits:
    """XOR shares (3, n): is the remainder at least once, twice, three times the part?"""
    twice = ring.add(part, part, bits)
    rests = [ring.subtract(remainder, times, bits) for times in (part, twice, ring.add(twice, part, bits))]
    below = negative(me, np.concatenate(rests, axis=-1), bits)
    return me.negate(below).reshape(3, -1)


def _thrice(part: Words) -> Words:
    """The part three times, once for each of the answers: (…, 3, n)."""
    return np.repeat(part[..., None, :], 3, axis=-2)
