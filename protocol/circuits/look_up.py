"""A public table at a shared index, by a one-hot vector of the index (as in FLUTE, Brüggemann et al., S&P 2023).

The entry is the XOR of all rows, each times its bit of the one-hot vector. That is linear, so every party does it with
its own share, and a table costs no message. What costs is the vector: digits of three bits of the index are looked up
as one-hot bytes, and products of the vectors of digits are the vectors of longer ones. For an index of nine bits and
any table these are 37 transfers and some 140 bytes. A 1-of-512 transfer of entries of ten bytes sends 5,120.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mixbayes.protocol.arrays import Bits, Words, mask, slices
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.circuits.choice import Slots, choose_slots, in_every_slot
from mixbayes.protocol.circuits.products import gate
from mixbayes.protocol.computing_party import ComputingParty

_DIGIT = 3
_HOT = 1 << _DIGIT
"""Bits of the one-hot vector of a digit."""
_PIECE = 1 << 12
"""Elements whose entries are added up at a time."""


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """A public table, as the XORs of eight neighbouring rows that each byte selects: (entries / 8, 256, words)."""

    sums: Words
    bits: int
    """Of a row, with its numbers one behind the other."""

    @classmethod
    def of(cls, columns: Words, sizes: Sequence[int]) -> Table:
        """Of columns (numbers, entries) with numbers of these sizes in bits."""
        each = np.concatenate([ring.bits(column, size) for column, size in zip(columns, sizes, strict=True)])
        rows = np.stack([ring.joined(each[at : at + ring.WORD], 1, ring.WORD) for at in range(0, len(each), ring.WORD)])
        sums = np.zeros((rows.shape[1] // _HOT, 1 << _HOT, len(rows)), np.uint64)
        for i in range(_HOT):
            sums[:, 1 << i : 2 << i] = sums[:, : 1 << i] ^ rows.T[i::_HOT, None]
        return cls(sums, len(each))

    def at(self, hot: Words) -> Bits:
        """XOR shares (bits, n) of the rows at the indices with these one-hot vectors, as `one_hot` makes them."""
        rows = np.zeros((hot.shape[1], self.sums.shape[2]), np.uint64)
        for piece in slices(hot.shape[1], _PIECE):
            selected = np.ascontiguousarray(hot[:, piece].T).view(np.uint8)
            for place, of_byte in enumerate(self.sums):
                rows[piece] ^= of_byte[selected[:, place]]
        return ring.bits(rows.T if self.bits > ring.WORD else rows[:, 0], self.bits)


def one_hot(me: ComputingParty, index: Words, digits: int) -> Words:
    """XOR shares of the one-hot vectors of XOR-shared indices (n,) of two or three digits of three bits.

    Bit v of column i, of words of 64 bits with the lowest first, is [index i = v].
    """
    lowest, *higher = _hot_digits(me, ring.digits(index, 0, _DIGIT, digits)).astype(np.uint64)
    hot = lowest[None]
    for level, digit in enumerate(higher, 1):
        hot = _outer(me, digit, hot, _HOT**level)
    return hot


def _hot_digits(me: ComputingParty, digits: Bits) -> Words:
    """XOR shares of the one-hot bytes of digits (count, n)."""
    sends, asks = me.halves(digits)
    share = me.random.words(*sends.shape) & mask(_HOT)
    tables = _digit_tables()[sends] ^ in_every_slot(_DIGIT, _HOT)[share]
    (chosen,) = choose_slots(me, [Slots(_DIGIT, _HOT, tables.reshape(1, -1), asks.reshape(-1))])
    return me.whole(share, chosen.reshape(asks.shape).astype(np.uint64), digits.shape[1])


def _outer(me: ComputingParty, digit: Words, hot: Words, width: int) -> Words:
    """The one-hot vector of a number with one digit more on top: `hot`, of `width` bits, at the digit's place."""
    bits = ring.bits(digit, _HOT)
    parts = gate(me, bits[1:], np.broadcast_to(hot, (_HOT - 1, hot.shape[1])), width)
    # One bit of the digit's vector is set, so what the other places do not take is at the first.
    first = hot ^ np.bitwise_xor.reduce(parts, axis=0)[None]
    parts = np.concatenate([first, parts])
    if width == ring.WORD:
        return parts
    places = np.arange(0, width * _HOT, width, dtype=np.uint64)[:, None]
    return np.bitwise_or.reduce(parts << places, axis=0)[None]


@lru_cache
def _digit_tables() -> Words:
    """For every digit that is the sender's share: slot v is the one-hot byte of the digit share ⊕ v."""
    return np.array([sum(1 << (own ^ v) << (_HOT * v) for v in range(_HOT)) for own in range(_HOT)], np.uint64)
