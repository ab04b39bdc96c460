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

import numpy as np

from mixbayes.protocol.arrays import Bits, Words, mask
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.computing_party import ComputingParty
from mixbayes.protocol.packing import pack_bits, pack_words, unpack_bits, unpack_words


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
    cuts = np.cumsum(counts)[:-1]
    wanted = np.concatenate([ring.bits(part.index, part.bits).reshape(-1) for part in parts])
    announced = wanted ^ received.choices
    step = "announce choice of slots"
    flips = unpack_bits(me.channel.swap(step, pack_bits(announced)), announced.size, me.channel.peer, step)
    # Now each party knows which of its two pads stands for bit 0 of an index and which for bit 1, and not which of them
    # the other party holds.
    masked = [
        part.tables ^ _slot_masks(part, pads, part_flips)
        for part, pads, part_flips in zip(parts, np.split(sent.pads, cuts, axis=1), np.split(flips, cuts), strict=True)
    ]
    answers = _swap_tables(me, parts, masked)
    return [
        _chosen_slots(part, answer, pads)
        for part, answer, pads in zip(parts, answers, np.split(received.pads, cuts), strict=True)
    ]


def _slot_masks(part: Slots, pads: Words, flips: Bits) -> Words:
    """⊕_j of slots of pad_j: slot v takes the pad that v's j-th bit names, or the other one where `flips` is set."""
    words, count = part.tables.shape
    pads = pads.reshape(2, part.bits, count, 2)
    flip = -flips.reshape(part.bits, count).astype(np.uint64)
    total = np.zeros((words, count), np.uint64)
    for j in range(part.bits):
        # In `named`, the slots that take pad 1 are all ones and those that take pad 0 are zeros.
        named = flip[j] ^ _slots_with_bit(part, j)
        for word in range(words):
            zero, one = pads[0, j, :, word], pads[1, j, :, word]
            total[word] ^= zero ^ ((zero ^ one) & named)
    return total & _slots_mask(part)


def _chosen_slots(part: Slots, answer: Words, pads: Words) -> Bits:
    """The chosen slots of the answer, unmasked by the sum of the received pads."""
    words, count = part.tables.shape
    total = np.bitwise_xor.reduce(pads.reshape(part.bits, count, 2), axis=0).T[:words]
    shift = part.index.astype(np.uint64) * np.uint64(part.slot)
    return ((answer ^ total) >> shift).astype(np.uint8) & np.uint8((1 << part.slot) - 1)


def _slots_with_bit(part: Slots, j: int) -> np.uint64:
    """All ones in the slots whose number has bit j set."""
    ones = (1 << part.slot) - 1
    return np.uint64(sum(ones << (v * part.slot) for v in range(1 << part.bits) if v >> j & 1))


def _slots_mask(part: Slots) -> np.uint64:
    return mask(part.slot << part.bits)


def _swap_tables(me: ComputingParty, parts: list[Slots], masked: list[Words]) -> list[Words]:
    step = "choice of slots"
    packed = [pack_words(words, part.slot << part.bits) for part, words in zip(parts, masked, strict=True)]
    theirs = np.split(me.channel.swap(step, np.concatenate(packed)), np.cumsum([p.size for p in packed])[:-1])
    return [
        unpack_words(raw, part.tables.size, part.slot << part.bits, me.channel.peer, step).reshape(part.tables.shape)
        for part, raw in zip(parts, theirs, strict=True)
    ]
