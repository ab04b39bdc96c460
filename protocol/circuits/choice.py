"""1-of-N oblivious transfer among the short entries of small tables.

An index of k bits chooses one of 2^k entries, and costs k random transfers (after Naor and Pinkas, STOC 1999). It takes
two rounds: the receiver announces its index, masked by the random choices of its transfers; then the sender sends the
whole table, every entry under a mask that the receiver can compute for the entry it chose and for no other. The pads
themselves are the masks: entry v stands in slot v of a word and is masked by slot v of every pad that v's bits name,
and the receiver lacks at least one of these pads for every other entry.

Each party is the sender for half of the elements, so that both work and both directions of the pool are used alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise, starmap

import numpy as np

from mixbayes.protocol.arrays import Bits, Words, mask, slices
from mixbayes.protocol.computing_party import ComputingParty
from mixbayes.protocol.packing import pack_bits, pack_words, unpack_bits, unpack_words

_PIECE = 1 << 15
"""Transfers whose masks are made at a time: their words stay in the cache."""


@dataclass(frozen=True, slots=True, repr=False)
class Slots:
    """One party's part of a choice among 2^bits slots.

    It sends `tables` (words, n), where slot v of a word is its `slot` bits from bit v·slot up. It asks for the slots
    with the numbers `index` (n,).
    """

    bits: int
    slot: int
    tables: Words
    index: Bits

    @property
    def slots_mask(self) -> np.uint64:
        """The bits of a word that slots fill."""
        return mask(self.slot << self.bits)

    def wanted(self) -> Bits:
        """The bits of the index, one for each transfer."""
        return (self.index >> np.arange(self.bits, dtype=np.uint8)[:, None] & np.uint8(1)).reshape(-1)


@lru_cache
def in_every_slot(bits: int, slot: int) -> Words:
    """For every value of `slot` bits, the word that repeats it in all of 2^bits slots.

    XORed into a table, it masks every slot with the same value. The sender keeps the value as its share, and the slot
    that the receiver chooses is the other share.
    """
    return np.array([sum(value << (slot * v) for v in range(1 << bits)) for value in range(1 << slot)], np.uint64)


def choose_slots(me: ComputingParty, parts: list[Slots]) -> list[Bits]:
    """The chosen slots (words, n) of every part.

    Both parties ask for equally many elements, and all parts go in the same two rounds.
    """
    counts = [part.bits * part.index.size for part in parts]
    sent, received = me.pool.take(sum(counts))
    ends = list(accumulate(counts, initial=0))
    step, places = "announce choice of slots", list(starmap(slice, pairwise(ends)))
    wanted = np.concatenate([part.wanted() for part in parts])
    announced = me.channel.start_swap(step, pack_bits(wanted ^ received.choices))
    offers = [_Offer.of(part, sent.pads[:, place]) for part, place in zip(parts, places, strict=True)]
    flips = unpack_bits(announced(), wanted.size, me.channel.peer, step)
    # Now each party knows which of its two pads stands for bit 0 of an index and which for bit 1, and not which of them
    # the other party holds.
    masked = [offer.masked(flips[place]) for offer, place in zip(offers, places, strict=True)]
    answers = _swap_tables(me, parts, masked)
    return [
        _chosen_slots(part, answer, received.pads[place])
        for part, answer, place in zip(parts, answers, places, strict=True)
    ]


@dataclass(frozen=True, slots=True, repr=False)
class _Offer:
    """Tables under the masks that hold if the receiver's random choices are the bits of its index.

    Slot v is masked by slot v of the pads that the bits of v name. Where the receiver announces that its random choice
    was the other bit, the two pads of a transfer change places, which adds their sum to every slot.
    """

    part: Slots
    tables: Words
    both: Words
    """(words, bits, n): the sums of both pads."""

    @classmethod
    def of(cls, part: Slots, pads: Words) -> _Offer:
        words, count = part.tables.shape
        pads = pads.reshape(2, part.bits, count, 2)
        tables, both = np.empty_like(part.tables), np.empty((words, part.bits, count), np.uint64)
        named = _slots_with_bits(part.bits, part.slot)
        for word in range(words):
            for piece in slices(count, _PIECE // part.bits):
                zero, one = pads[:, :, piece, word]
                differ = np.bitwise_xor(zero, one, out=both[word, :, piece])
                masks = np.bitwise_xor.reduce(zero ^ (differ & named), axis=0)
                np.bitwise_xor(part.tables[word, piece], masks, out=tables[word, piece])
        return cls(part, tables, both)

    def masked(self, flips: Bits) -> Words:
        flip = -flips.reshape(self.both.shape[1:]).astype(np.uint64)
        return (self.tables ^ np.bitwise_xor.reduce(self.both & flip, axis=1)) & self.part.slots_mask


def _chosen_slots(part: Slots, answer: Words, pads: Words) -> Bits:
    """The chosen slots of the answer, unmasked by the sum of the received pads."""
    words, count = part.tables.shape
    total = np.bitwise_xor.reduce(pads.reshape(part.bits, count, 2), axis=0).T[:words]
    shift = part.index.astype(np.uint64) * np.uint64(part.slot)
    return ((answer ^ total) >> shift).astype(np.uint8) & np.uint8((1 << part.slot) - 1)


@lru_cache
def _slots_with_bits(bits: int, slot: int) -> Words:
    """(bits, 1): word j is all ones in the slots whose number has bit j set."""
    ones = (1 << slot) - 1
    words = [sum(ones << (v * slot) for v in range(1 << bits) if v >> j & 1) for j in range(bits)]
    return np.array(words, np.uint64)[:, None]


def _swap_tables(me: ComputingParty, parts: list[Slots], masked: list[Words]) -> list[Words]:
    step, answers, at = "choice of slots", [], 0
    packed = [pack_words(words, part.slot << part.bits) for part, words in zip(parts, masked, strict=True)]
    theirs = me.channel.swap(step, np.concatenate(packed))
    for part, own in zip(parts, packed, strict=True):
        raw, at = theirs[at : at + own.size], at + own.size
        words = unpack_words(raw, part.tables.size, part.slot << part.bits, me.channel.peer, step)
        answers.append(words.reshape(part.tables.shape))
    return answers
