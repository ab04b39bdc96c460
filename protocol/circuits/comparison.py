"""Comparison: the carry of two private words, and with it the sign of a shared one.

To compare two private words is the millionaires' problem; the solution is that of Rathee et al. (CrypTFlow2, CCS 2020).
A holds a and B holds b, and the carry of a + b beyond w bits is [a > 2^w − 1 − b]. Both words are cut into digits. For
every digit one party sends a table with the two-bit word (greater, equal) for each value that the other's digit can
have, and the other chooses by 1-of-N oblivious transfer. A tree of gates then joins neighbouring digits; the payload of
a gate is the (greater, equal) of the lower digit.

Digits have five bits: the pads of five transfers mask 32 slots of two bits in one word. With digits of four bits there
are more gates, and 40 bits take 58 transfers where five bits take 54. Digits of six bits take 52 transfers and longer
messages. A circuit of ANDs takes about 240.
"""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np

from mixbayes.protocol.arrays import Bits, Words
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.circuits.choice import Slots, choose_slots, in_every_slot
from mixbayes.protocol.circuits.products import fold, nested
from mixbayes.protocol.computing_party import ComputingParty

DIGIT = 5
_GREATER, _EQUAL = 1, 2


def carry(me: ComputingParty, word: Words, width: int) -> Bits:
    """XOR shares (n,) of [a + b ≥ 2^width]. `word` is this party's private a or b, below 2^width."""
    count = word.shape[-1]
    shares, parts = [], []
    for start, bits, digits in _digits(width):
        # The two words play the same part in a + b, so either party can be the sender of an element. The receiver asks
        # with the digits of 2^width − 1 − b. These are the digits of b with every bit inverted, ~b.
        sends, asks = me.halves(ring.digits(word, start, bits, digits))
        # The sender's share of (greater, equal) is random, and masks all slots of a digit's table.
        shares.append(me.random.small(2, *sends.shape))
        tables = _masked_tables(bits).take(sends.astype(np.uint16) << np.uint16(2) | shares[-1])
        parts.append(Slots(bits, 2, tables.reshape(1, -1), (asks ^ np.uint8((1 << bits) - 1)).reshape(-1)))
    chosen = [got.reshape(share.shape) for got, share in zip(choose_slots(me, parts), shares, strict=True)]
    # Now state (digits, n) holds XOR shares of (greater, equal), the lowest digit first.
    state = me.whole(np.concatenate(shares), np.concatenate(chosen), count)
    return fold(me, state, _EQUAL, partial(_of_neighbours, me)) & np.uint8(_GREATER)


def negative(me: ComputingParty, word: Words, width: int) -> Bits:
    """XOR shares (n,) of the sign bit of additively shared words modulo 2^width."""
    top = ring.digits(word, width - 1, 1, 1)[0]
    if width == 1:
        return top
    return top ^ carry(me, ring.low_bits(word, width, width - 1), width - 1)


def less(me: ComputingParty, x: Words, y: Words, width: int) -> Bits:
    """XOR shares of [x < y] for additively shared signed words whose difference fits the width."""
    return negative(me, ring.subtract(x, y, width), width)


def _of_neighbours(me: ComputingParty, state: Bits) -> Bits:
    """(greater, equal) of neighbouring digits (k, …) as one, the lowest of them first.

    It is greater if the highest digit is, or if that is equal and the lower ones are greater: the two exclude each
    other, so that OR is XOR. It is equal if all are.
    """
    words = state & np.uint8(_GREATER)
    words[0] = state[0]
    return nested(me, state[1:] >> np.uint8(1), words, 2)


def _digits(width: int) -> list[tuple[int, int, int]]:
    """(first bit, bits of a digit, digits): of the full digits, and of the shorter one that may be left above them."""
    full, rest = divmod(width, DIGIT)
    runs = [(0, DIGIT, full), (full * DIGIT, rest, 1)]
    return [run for run in runs if run[1] and run[2]]


@lru_cache
def _masked_tables(bits: int) -> Words:
    """The tables of all digits of the sender under all of its shares; that of digit d and share s stands at 4·d + s."""
    return (_digit_tables(bits)[:, None] ^ in_every_slot(bits, 2)).reshape(-1)


@lru_cache
def _digit_tables(bits: int) -> Words:
    """For every digit of the sender a word whose slot v says whether the digit is greater than v, and whether equal."""
    entry = [
        sum((_GREATER * (own > v) + _EQUAL * (own == v)) << (2 * v) for v in range(1 << bits))
        for own in range(1 << bits)
    ]
    return np.array(entry, np.uint64)
