"""Normalisation: a shared word is shifted until its leading one is on top, and other words by the same number of bits.

Digits of four bits are looked up: where is the leading one of each, if it has one? A prefix tree of ANDs says for every
digit whether all digits above it are zero, and so which digit holds the leading one of the word. One product for each
digit then shifts by whole digits, and three more shift within the digit that is now the highest. At most one of the
selecting bits is set, so the products are combined without a message, and more shifts need no more rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mixbayes.protocol.arrays import Bits, Words, mask
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.circuits.choice import Slots, choose_slots, in_every_slot
from mixbayes.protocol.circuits.products import gate, scale
from mixbayes.protocol.computing_party import ComputingParty

_DIGIT = 4
_TOP = 60
"""Bits of a word that travel when it is shifted by digits, beside the place of the leading one in its digit."""
PRECISE = _TOP - _DIGIT + 1
"""Upper bits of a normal word that are those of the word; there may be zeros below them."""


@dataclass(frozen=True, slots=True, repr=False)
class Normal:
    """XOR shares of normalised words (n,), which were `width` bits long, and of how they came to be."""

    width: int
    nonzero: Bits
    """[word ≠ 0]."""
    top: Words
    """The upper bits of the word, its leading one in bit 63."""
    digit: Bits
    """(digits, n), the lowest digit first: which of them holds the leading one. None does for the word 0."""
    within: Bits
    """(4, n): which bit of that digit it is."""

    @property
    def exponent(self) -> Bits:
        """The bits of the position of the leading one, the lowest first."""
        places = np.arange(len(self.digit))
        higher = [
            np.bitwise_xor.reduce(self.digit[places >> i & 1 == 1], axis=0)
            for i in range((len(self.digit) - 1).bit_length())
        ]
        return np.stack([self.within[1] ^ self.within[3], self.within[2] ^ self.within[3], *higher])


def normalise(me: ComputingParty, word: Words, width: int) -> Normal:
    """Normalise XOR-shared words (n,) of `width` bits."""
    digits = ring.digits(word, 0, _DIGIT, -(-width // _DIGIT))
    places = _leading_ones(me, digits)
    digit = _highest(me, np.bitwise_xor.reduce(ring.bits(places.reshape(-1), _DIGIT), axis=0).reshape(digits.shape))
    # Now exactly one bit of `digit` is set, or none for the word 0. It selects the digits from there down.
    keep = min(_TOP, _DIGIT * len(digits))
    parts = np.stack([_from_digit(word, i, keep) for i in range(len(digits))])
    payload = parts << np.uint64(_DIGIT) | places
    taken = np.bitwise_xor.reduce(gate(me, digit, payload, keep + _DIGIT), axis=0)
    within, part = ring.bits(taken, _DIGIT), taken >> np.uint64(_DIGIT)
    # The leading one is among the four highest bits of `part`. x ⊕ bit·(x ⊕ shifted x) shifts where the bit is set.
    moved = np.stack([part ^ ring.shifted(part, _DIGIT - 1 - place, keep) for place in range(_DIGIT - 1)])
    top = part ^ np.bitwise_xor.reduce(gate(me, within[:-1], moved, keep), axis=0)
    nonzero = np.bitwise_xor.reduce(digit, axis=0)
    return Normal(width, nonzero, top << np.uint64(ring.WORD - keep), digit, within)


def shifted_alike(me: ComputingParty, normal: Normal, words: Words, width: int) -> Words:
    """Additive shares modulo 2^width of words (rows, n), or (n,), shifted until the normal word fills its digits.

    For a word of four digits with its leading one in bit 9 that is a shift by 6.
    """
    digits = len(normal.digit)
    words = _selected(me, normal.digit, words, [_DIGIT * (digits - 1 - i) for i in range(digits)], width)
    return _selected(me, normal.within, words, [_DIGIT - 1 - i for i in range(_DIGIT)], width)


def _selected(me: ComputingParty, bits: Bits, words: Words, places: list[int], width: int) -> Words:
    """The words times 2^place, the place selected by one-hot bits (places, n)."""
    rows = np.repeat(words[..., None, :], len(bits), axis=-2)
    products = scale(me, bits, rows, width, [width - place for place in places])
    return ring.total_of_rows(ring.shifted_each(products, places, width), width)


def _leading_ones(me: ComputingParty, digits: Bits) -> Words:
    """For XOR-shared digits (count, n) four shared bits: which bit is the leading one, and none if the digit is 0."""
    sends, asks = me.halves(digits)
    share = me.random.words(*sends.shape) & mask(_DIGIT)
    tables = _digit_tables()[sends] ^ in_every_slot(_DIGIT, _DIGIT)[share]
    (chosen,) = choose_slots(me, [Slots(_DIGIT, _DIGIT, tables.reshape(1, -1), asks.reshape(-1))])
    return me.whole(share, chosen.reshape(asks.shape).astype(np.uint64), digits.shape[1])


def _highest(me: ComputingParty, some: Bits) -> Bits:
    """Which of the bits (count, n) is the highest one set."""
    zeros = _all_up_to(me, me.negate(some)[::-1])
    # Row i says whether the i + 1 highest bits are all zero. Where that changes from one row to the next, the one is.
    before = np.concatenate([me.negate(np.zeros_like(zeros[:1])), zeros[:-1]])
    return (before ^ zeros)[::-1]


def _all_up_to(me: ComputingParty, bits: Bits) -> Bits:
    """For every row of bits (count, n) whether it and all rows before it are set (Sklansky, 1960)."""
    state, positions = bits.copy(), np.arange(len(bits))
    for level in range((len(bits) - 1).bit_length()):
        upper = positions[positions >> level & 1 == 1]
        state[upper] = gate(me, state[upper], state[(upper >> level << level) - 1], 1)
    return state


def _from_digit(word: Words, digit: int, keep: int) -> Words:
    """The highest `keep` bits of words from this digit down."""
    limbs = word if word.ndim > 1 else word[None]
    room = ring.WORD * len(limbs)
    moved = ring.shifted(limbs, room - _DIGIT * (digit + 1), room) if len(limbs) > 1 else None
    top = moved[-1] if moved is not None else word << np.uint64(room - _DIGIT * (digit + 1))
    return top >> np.uint64(ring.WORD - keep)


@lru_cache
def _digit_tables() -> Words:
    """For every digit that is the sender's share: slot v says which bit leads in the digit share ⊕ v."""
    leading = [1 << x.bit_length() >> 1 for x in range(1 << _DIGIT)]
    return np.array(
        [sum(leading[own ^ v] << (_DIGIT * v) for v in range(1 << _DIGIT)) for own in range(1 << _DIGIT)], np.uint64
    )
