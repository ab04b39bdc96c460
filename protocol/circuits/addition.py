"""Sums in bits: additive shares into XOR shares (A2B).

No carry ripples: digits become pairs (generate, propagate), and a Sklansky prefix tree of gates joins them in ⌈log2⌉
rounds.
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
    digits = ring.digits(ring.reduced(word, width), 0, DIGIT, -(-width // DIGIT))
    carries, propagates = _within_digits(me, digits)
    into = _carries_into(me, carries >> np.uint8(DIGIT - 1), propagates >> np.uint8(DIGIT - 1))
    inside = carries ^ gate(me, into, propagates, DIGIT)
    sums = digits ^ (into ^ (inside << np.uint8(1))) & np.uint8((1 << DIGIT) - 1)
    return ring.joined(sums, DIGIT, width)


def _within_digits(me: ComputingParty, digits: Bits) -> tuple[Bits, Bits]:
    """Bit i − 1 of the results: do the lower i bits of the two digits carry, and would they pass a carry on?"""
    sends, asks = me.halves(digits)
    shares = me.random.bits(DIGIT, 2, sends.size)
    shares = np.bitwise_or.reduce(shares << np.arange(DIGIT, dtype=np.uint8)[:, None, None], axis=0)
    tables = _digit_sums()[:, sends.reshape(-1)] ^ in_every_slot(DIGIT, DIGIT)[shares]
    (chosen,) = choose_slots(me, [Slots(DIGIT, DIGIT, tables, asks.reshape(-1))])
    joined = me.whole(shares.reshape(2, *sends.shape), chosen.reshape(2, *asks.shape), digits.shape[1])
    return joined[0], joined[1]


def _carries_into(me: ComputingParty, generate: Bits, propagate: Bits) -> Bits:
    """The carry into each of the positions (count, n), from what each generates and propagates (Sklansky)."""
    state = generate | propagate << np.uint8(1)
    positions = np.arange(len(state))
    for level in range((len(state) - 1).bit_length()):
        upper = positions[positions >> level & 1 == 1]
        below = (upper >> level << level) - 1
        state[upper] = gate(me, state[upper] >> np.uint8(1), state[below], 2) ^ (state[upper] & _GENERATE)
    return np.concatenate([np.zeros_like(state[:1]), state[:-1] & _GENERATE])


@lru_cache
def _digit_sums() -> Words:
    """(2, 16): for a digit of the sender, slot v holds the carries, and the propagates, of its sum with v."""
    lows = [(1 << i) - 1 for i in range(1, DIGIT + 1)]
    table = np.zeros((2, 1 << DIGIT), np.uint64)
    for own in range(1 << DIGIT):
        for v in range(1 << DIGIT):
            carries = sum(((own & low) + (v & low) > low) << i for i, low in enumerate(lows))
            passes = sum(((own ^ v) & low == low) << i for i, low in enumerate(lows))
            table[:, own] |= np.array([carries, passes], np.uint64) << np.uint64(DIGIT * v)
    return table
