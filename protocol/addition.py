"""Sums in bits: additive shares into XOR shares (A2B), and the sum and difference of XOR-shared words.

No carry ripples: digits or bits become pairs (generate, propagate), and a Sklansky prefix tree of gates joins them in
⌈log2⌉ rounds.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from mixbayes.protocol import ring
from mixbayes.protocol.arrays import Bits, Words, mask
from mixbayes.protocol.choice import Slots, choose_slots, in_every_slot
from mixbayes.protocol.party import Party
from mixbayes.protocol.products import gate

DIGIT = 4
_GENERATE = np.uint8(1)


def to_bits(me: Party, word: Words, width: int) -> Words:
    """A2B: XOR shares of the sum modulo 2^width of the parties' private words."""
    digits = ring.digits(ring.reduced(word, width), 0, DIGIT, -(-width // DIGIT))
    carries, propagates = _within_digits(me, digits)
    into = _carries_into(me, carries >> np.uint8(DIGIT - 1), propagates >> np.uint8(DIGIT - 1))
    inside = carries ^ gate(me, into, propagates, DIGIT)
    sums = digits ^ (into ^ (inside << np.uint8(1))) & np.uint8((1 << DIGIT) - 1)
    return ring.joined(sums, DIGIT, width)


def add(me: Party, x: Words, y: Words, width: int, carry_in: int = 0) -> Words:
    """XOR shares of x + y + carry_in modulo 2^width, both XOR-shared."""
    x_bits, y_bits = ring.bits(x, width), ring.bits(y, width)
    first = me.constant(np.full((1, x.shape[-1]), carry_in, np.uint64)).astype(np.uint8)
    generate = np.concatenate([first, gate(me, x_bits, y_bits, 1)])
    propagate = np.concatenate([np.zeros_like(first), x_bits ^ y_bits])
    into = _carries_into(me, generate, propagate)[1:]
    return ring.joined(x_bits ^ y_bits ^ into, 1, width)


def subtract(me: Party, x: Words, y: Words, width: int) -> Words:
    """XOR shares of x − y modulo 2^width: x plus the complement of y plus one."""
    ones = np.full_like(y, mask(ring.WORD))
    return add(me, x, y ^ me.constant(ring.reduced(ones, width)), width, carry_in=1)


def _within_digits(me: Party, digits: Bits) -> tuple[Bits, Bits]:
    """Bit i − 1 of the results: do the lower i bits of the two digits carry, and would they pass a carry on?"""
    sends, asks = me.halves(digits)
    shares = me.random.bits(DIGIT, 2, sends.size)
    shares = np.bitwise_or.reduce(shares << np.arange(DIGIT, dtype=np.uint8)[:, None, None], axis=0)
    tables = _digit_sums()[:, sends.reshape(-1)] ^ in_every_slot(DIGIT, DIGIT)[shares]
    (chosen,) = choose_slots(me, [Slots(DIGIT, DIGIT, tables, asks.reshape(-1))])
    joined = me.whole(shares.reshape(2, *sends.shape), chosen.reshape(2, *asks.shape), digits.shape[1])
    return joined[0], joined[1]


def _carries_into(me: Party, generate: Bits, propagate: Bits) -> Bits:
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
