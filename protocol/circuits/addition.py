"""A2B: additive (arithmetic) shares into XOR (Boolean) shares, by adding the two private words in bits.

Rounds cost latency, so no carry ripples from bit to bit. Digits of four bits are looked up by 1-of-N oblivious transfer
as (generate, propagate): does the sum of the two digits carry, and would it pass a carry on? A parallel prefix tree of
gates (Sklansky, 1960) joins them in ⌈log2⌉ rounds.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from mixbayes.protocol.arrays import Bits, Words
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.circuits.choice import Slots, choose_slots, in_every_slot
from mixbayes.protocol.circuits.products import gate
from mixbayes.protocol.computing_party import ComputingParty

DIGIT = 4
_GENERATE = np.uint8(1)


def to_bits(me: ComputingParty, word: Words, width: int) -> Words:
    """A2B: XOR shares of the sum modulo 2^width of the parties' private words."""
    # A party's own digit is its XOR share of (digit of a) ⊕ (digit of b).
    digits = ring.digits(ring.reduced(word, width), 0, DIGIT, -(-width // DIGIT))
    carries, propagates = _within_digits(me, digits)
    # The highest of the four bits is about the whole digit; the prefix tree turns it into the carry into each digit.
    into = _carries_into(me, carries >> np.uint8(DIGIT - 1), propagates >> np.uint8(DIGIT - 1))
    # Bit i − 1 is the carry out of the lower i bits: they make one themselves, or they pass on one from below the
    # digit.
    inside = carries ^ gate(me, into, propagates, DIGIT)
    # Now each bit of the sum is the two digits' bits and the carry into that place, XORed.
    sums = digits ^ (into ^ (inside << np.uint8(1))) & np.uint8((1 << DIGIT) - 1)
    return ring.joined(sums, DIGIT, width)


def _within_digits(me: ComputingParty, digits: Bits) -> tuple[Bits, Bits]:
    """Shares of two results for each digit; bit i − 1 of them is about the lower i bits of the two parties' digits.

    The first says whether these bits carry, the second whether they would pass a carry on.
    """
    sends, asks = me.halves(digits)
    shares = me.random.bits(DIGIT, 2, sends.size)
    shares = np.bitwise_or.reduce(shares << np.arange(DIGIT, dtype=np.uint8)[:, None, None], axis=0)
    tables = _digit_sums()[:, sends.reshape(-1)] ^ in_every_slot(DIGIT, DIGIT)[shares]
    (chosen,) = choose_slots(me, [Slots(DIGIT, DIGIT, tables, asks.reshape(-1))])
    joined = me.whole(shares.reshape(2, *sends.shape), chosen.reshape(2, *asks.shape), digits.shape[1])
    return joined[0], joined[1]


def _carries_into(me: ComputingParty, generate: Bits, propagate: Bits) -> Bits:
    """The carry into each of the positions (count, n), from what each generates and propagates (Sklansky)."""
    state = generate | propagate << np.uint8(1)  # two bits: 1 is "generates", 2 is "propagates"
    positions = np.arange(len(state))
    for level in range((len(state) - 1).bit_length()):
        upper = positions[positions >> level & 1 == 1]
        below = (upper >> level << level) - 1
        # The result of the block of 2^level positions below stands at the highest of them. Join it to all above.
        state[upper] = gate(me, state[upper] >> np.uint8(1), state[below], 2) ^ (state[upper] & _GENERATE)
    # Now every position says whether it and all below it together carry.
    return np.concatenate([np.zeros_like(state[:1]), state[:-1] & _GENERATE])


@lru_cache
def _digit_sums() -> Words:
    """(2, 16): for every digit of the sender two words, whose slot v holds the carries and the propagates with v."""
    lows = [(1 << i) - 1 for i in range(1, DIGIT + 1)]
    table = np.zeros((2, 1 << DIGIT), np.uint64)
    for own in range(1 << DIGIT):
        for v in range(1 << DIGIT):
            carries = sum(((own & low) + (v & low) > low) << i for i, low in enumerate(lows))
            passes = sum(((own ^ v) & low == low) << i for i, low in enumerate(lows))
            table[:, own] |= np.array([carries, passes], np.uint64) << np.uint64(DIGIT * v)
    return table
