"""Products of a shared bit and a shared word: one random transfer each way, one round.

A pad of a random transfer has 128 bits, so one transfer carries a whole word: selecting, shifting and multiplying by a
bit cost what a single AND costs. `cross` is the step all of them share. With r the receiver's random choice and
p_0, p_1 the pads, p_r = p_0 + r·(p_1 − p_0) is already a share of r·(p_1 − p_0); announcing choice ⊕ r and
word − (p_1 − p_0) turns it into a share of choice·word. Both announcements are masked and fresh.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from mixbayes.protocol.arrays import Bits, Words
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.circuits.look_up import pad_words
from mixbayes.protocol.computing_party import ComputingParty
from mixbayes.protocol.packing import pack_bits, pack_words, unpack_bits, unpack_words

Xored = TypeVar("Xored", Bits, Words)


def cross(me: ComputingParty, choice: Bits, word: Words, width: int) -> tuple[Words, Words]:
    """Additive shares modulo 2^width of (their choice · my word, my choice · their word), element by element."""
    bits, words = choice.reshape(-1), ring.limbed(word, width)
    sent, received = me.pool.take(bits.size)
    limbs = ring.limbs(width)
    zero, one = (ring.reduced(pad_words(me.pool.sent_hash, pads, limbs), width) for pads in sent.pads)
    chosen = ring.reduced(pad_words(me.pool.received_hash, received.pads, limbs), width)
    announced = bits ^ received.choices
    difference = ring.subtract(words, ring.subtract(one, zero, width), width)
    theirs, offset = _swap(me, "bit times word", announced, difference, width)
    kept = ring.subtract(theirs * words, ring.signed(theirs, zero, width), width)
    got = ring.signed(announced, ring.add(chosen, received.choices * offset, width), width)
    return kept.reshape(word.shape), got.reshape(word.shape)


def cross_xor(me: ComputingParty, choice: Bits, word: Xored, width: int) -> Xored:
    """XOR shares of their choice · my word ⊕ my choice · their word; words of `width` bits, in bytes up to eight."""
    shape, kind = word.shape, word.dtype
    choice, word = choice.reshape(-1), word.reshape(-1)
    sent, received = me.pool.take(word.size)
    low = kind.type((1 << width) - 1)
    zero, one, chosen = (pad[:, 0].astype(kind) & low for pad in (sent.pads[0], sent.pads[1], received.pads))
    announced = choice ^ received.choices
    theirs, offset = _swap(me, "bit and word", announced, word ^ zero ^ one, width)
    share = (theirs * word) ^ zero ^ chosen ^ (received.choices * offset[0].astype(kind))
    return share.reshape(shape)


def gate(me: ComputingParty, bit: Bits, word: Xored, width: int) -> Xored:
    """XOR shares of bit · word, both XOR-shared, the word of at most 64 bits. With width 1 this is AND."""
    return (bit * word) ^ cross_xor(me, bit, word, width)


def scale(me: ComputingParty, bit: Bits, word: Words, width: int) -> Words:
    """Additive shares of bit · word: the bit XOR-shared, the word additively."""
    # x = a ⊕ b makes x·w = a·w + b·(1 − 2a)·w for the part w that the holder of a holds.
    kept, got = cross(me, bit, ring.signed(bit, word, width), width)
    return ring.add(bit * word, ring.add(kept, got, width), width)


def product_of_bits(me: ComputingParty, bits: Bits, factors: Sequence[int], width: int) -> Words:
    """Additive shares of a·b·factor: A's private bit times B's times a public factor, one for each row of `bits`.

    One transfer each.
    """
    mine, asked = me.halves(bits.reshape(-1))
    words = ring.limbed(ring.constant(factors, width), width)
    factor, _ = me.halves(np.repeat(words, bits.size // len(factors), axis=1))
    kept, got = cross(me, asked, mine * factor, width)
    return me.whole(kept, got, bits.size).reshape(_shape(bits, width))


def weighted(me: ComputingParty, bits: Bits, weights: Sequence[int], width: int) -> Words:
    """B2A with weights: additive shares of XOR-shared bits, each row times its weight, by a ⊕ b = a + b − 2ab."""
    products = product_of_bits(me, bits, [-2 * weight for weight in weights], width)
    words = ring.limbed(ring.constant(weights, width), width).repeat(bits.size // len(weights), axis=1)
    return ring.add((bits.reshape(-1) * words).reshape(products.shape), products, width)


def to_arithmetic(me: ComputingParty, bits: Bits, width: int) -> Words:
    """B2A: additive shares of XOR-shared bits."""
    return weighted(me, bits, [1], width)


def multiply(me: ComputingParty, x: Words, y: Words, width: int) -> Words:
    """Additive shares of x · y, both (n,) additively shared: the cross terms bit by bit of the private words."""
    shifts = np.stack([ring.shifted(x, i, width) for i in range(width)], axis=x.ndim - 1)
    kept, got = cross(me, ring.bits(y, width), shifts, width)
    own = ring.multiply(x, y, width)
    return ring.add(own, ring.total(ring.add(kept, got, width), width), width)


def opened(me: ComputingParty, step: str, bits: Bits) -> Bits:
    """XOR-shared bits (n,) shown to both parties."""
    theirs = me.channel.swap(step, pack_bits(bits))
    return bits ^ unpack_bits(theirs, bits.size, me.channel.peer, step)


def _shape(bits: Bits, width: int) -> tuple[int, ...]:
    return bits.shape if ring.limbs(width) == 1 else (ring.limbs(width), *bits.shape)


def _swap(me: ComputingParty, step: str, bits: Bits, words: Bits | Words, width: int) -> tuple[Bits, Words]:
    """Swap one bit and one word of `width` bits an element; words come back as limbs."""
    sizes = [min(ring.WORD, width - ring.WORD * limb) for limb in range(ring.limbs(width))]
    rows = words.reshape(len(sizes), -1)
    packed = [pack_bits(bits), *(pack_words(rows[limb], size) for limb, size in enumerate(sizes))]
    theirs = np.split(me.channel.swap(step, np.concatenate(packed)), np.cumsum([part.size for part in packed])[:-1])
    peer, count = me.channel.peer, bits.size
    their_words = [unpack_words(raw, count, size, peer, step) for raw, size in zip(theirs[1:], sizes, strict=True)]
    return unpack_bits(theirs[0], count, peer, step), np.stack(their_words)
