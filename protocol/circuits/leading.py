"""The leading one of an XOR-shared word, and the shift that brings it to the top."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from mixbayes.protocol.arrays import Bits, Words, mask
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.circuits.choice import Slots, choose_slots, in_every_slot
from mixbayes.protocol.circuits.products import gate
from mixbayes.protocol.computing_party import ComputingParty

DIGIT = 4
_SOME = np.uint64(1)


def leading_one(me: ComputingParty, word: Words, width: int) -> tuple[Bits, Words]:
    """XOR shares of [word ≠ 0] and of the position of its leading one (0 for the word 0)."""
    state = _within_digits(me, ring.digits(word, 0, DIGIT, -(-width // DIGIT)))
    size = 2
    while len(state) > 1:
        pairs = len(state) // 2
        low, high, rest = state[0 : 2 * pairs : 2], state[1 : 2 * pairs : 2], state[2 * pairs :]
        state = np.concatenate([_combine(me, high, low, size), rest])
        size += 1
    return (state[0] & _SOME).astype(np.uint8), state[0] >> _SOME


def shift_left(me: ComputingParty, word: Words, amount: Words, stages: int, width: int) -> Words:
    """XOR shares of word · 2^amount modulo 2^width, the amount (n,) XOR-shared and below 2^stages."""
    for stage in range(stages):
        bit = (amount >> np.uint64(stage)).astype(np.uint8) & np.uint8(1)
        moved = word ^ ring.shifted(word, 1 << stage, width)
        word = word ^ gate(me, np.broadcast_to(bit, word.shape), moved, min(width, ring.WORD))
    return word


def normalise(me: ComputingParty, word: Words, width: int) -> tuple[Bits, Words, Words]:
    """[word ≠ 0], the exponent (position of the leading one), and the word shifted until it fills its limbs."""
    some, position = leading_one(me, word, width)
    stages = max(1, (width - 1).bit_length())
    room = 1 << stages
    # room − 1 − position, as a complement of bits.
    amount = position ^ me.constant(np.full(position.shape, room - 1, np.uint64))
    if room < ring.WORD:
        return some, position, shift_left(me, word, amount, stages, room) << np.uint64(ring.WORD - room)
    wide = np.zeros((ring.limbs(room), word.shape[-1]), np.uint64)
    wide[: ring.limbs(width)] = ring.limbed(word, width)
    return some, position, shift_left(me, wide if len(wide) > 1 else wide[0], amount, stages, room)


def _within_digits(me: ComputingParty, digits: Bits) -> Words:
    """Per digit: bit 0 [digit ≠ 0], the bits above it the position of its leading one."""
    sends, asks = me.halves(digits)
    share = me.random.words(*sends.shape) & mask(3)
    tables = _found()[sends] ^ in_every_slot(DIGIT, DIGIT)[share]
    (chosen,) = choose_slots(me, [Slots(DIGIT, DIGIT, tables.reshape(1, -1), asks.reshape(-1))])
    return me.whole(share, chosen.reshape(asks.shape).astype(np.uint64) & mask(3), digits.shape[1])


def _combine(me: ComputingParty, high: Words, low: Words, size: int) -> Words:
    """Two neighbouring groups with positions of `size` bits become one with size + 1."""
    some = high & _SOME
    payload = low ^ (high & ~_SOME)
    chosen = gate(me, some.astype(np.uint8), payload, size + 1)
    return low ^ chosen ^ some ^ (some << np.uint64(size + 1))


@lru_cache
def _found() -> Words:
    """For the sender's share of a digit: slot v describes the digit share ⊕ v."""
    described = [(x > 0) | max(x.bit_length() - 1, 0) << 1 for x in range(1 << DIGIT)]
    return np.array(
        [sum(described[own ^ v] << (DIGIT * v) for v in range(1 << DIGIT)) for own in range(1 << DIGIT)],
        np.uint64,
    )
