"""Products of a shared bit and a shared word: one random transfer each way, one round.

A pad of a random transfer has 128 bits, so one transfer carries a whole word: selecting, shifting and multiplying by a
bit cost what a single AND costs. `cross` is the step all of them share. With r the receiver's random choice and
p_0, p_1 the pads, p_r = p_0 + r·(p_1 − p_0) is already a share of r·(p_1 − p_0); announcing choice ⊕ r and
word − (p_1 − p_0) turns it into a share of choice·word. Both announcements are masked and fresh.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Bits, Words, mask
from mixbayes.protocol.packing import bits_bytes, pack_bits, pack_words, unpack_bits, unpack_words
from mixbayes.protocol.party import A, Party

Xored = TypeVar("Xored", Bits, Words)


def cross(me: Party, choice: Bits, word: Words, width: int) -> tuple[Words, Words]:
    """Additive shares modulo 2^width of (their choice · my word, my choice · their word), element by element."""
    shape = word.shape
    choice, word = choice.reshape(-1), word.reshape(-1)
    sent, received = me.pool.take(word.size)
    zero = sent.pads[0, :, 0]
    announced = choice ^ received.choices
    difference = (word - sent.pads[1, :, 0] + zero) & mask(width)
    theirs, offset = _swap(me, "bit times word", announced, difference, width)
    kept = theirs * word - _signed(theirs, zero)
    got = _signed(announced, received.pads[:, 0] + received.choices * offset)
    return (kept & mask(width)).reshape(shape), (got & mask(width)).reshape(shape)


def cross_xor(me: Party, choice: Bits, word: Xored, width: int) -> Xored:
    """XOR shares of their choice · my word ⊕ my choice · their word; words of `width` bits, in bytes up to eight."""
    shape, kind = word.shape, word.dtype
    choice, word = choice.reshape(-1), word.reshape(-1)
    sent, received = me.pool.take(word.size)
    low = kind.type((1 << width) - 1)
    zero, one, chosen = (
        pad[:, 0].astype(kind) & low for pad in (sent.pads[0], sent.pads[1], received.pads)
    )
    announced = choice ^ received.choices
    theirs, offset = _swap(me, "bit and word", announced, word ^ zero ^ one, width)
    share = (theirs * word) ^ zero ^ chosen ^ (received.choices * offset.astype(kind))
    return share.reshape(shape)


def gate(me: Party, bit: Bits, word: Xored, width: int) -> Xored:
    """XOR shares of bit · word, both XOR-shared. With width 1 this is AND."""
    return (bit * word) ^ cross_xor(me, bit, word, width)


def scale(me: Party, bit: Bits, word: Words, width: int) -> Words:
    """Additive shares of bit · word: the bit XOR-shared, the word additively."""
    # x = a ⊕ b makes x·w = a·w + b·(1 − 2a)·w for the part w that the holder of a holds.
    kept, got = cross(me, bit, _signed(bit, word), width)
    return (bit * word + kept + got) & mask(width)


def product_of_bits(me: Party, bits: Bits, factor: Words, width: int) -> Words:
    """Additive shares of a·b·factor: A's private bit times B's times a public factor. One transfer each.

    A sends for the first half and B for the second, so both directions of the pool are used alike.
    """
    flat, factors = _even(bits.reshape(-1)), _even(np.broadcast_to(factor, bits.shape).reshape(-1))
    half = flat.size // 2
    mine, other = (slice(0, half), slice(half, None)) if me.role == A else (slice(half, None), slice(0, half))
    kept, got = cross(me, flat[other], flat[mine] * factors[mine], width)
    share = np.empty(flat.size, np.uint64)
    share[mine], share[other] = kept, got
    return share[: bits.size].reshape(bits.shape)


def to_arithmetic(me: Party, bits: Bits, width: int) -> Words:
    """B2A: additive shares of XOR-shared bits, by a ⊕ b = a + b − 2ab."""
    minus_two = np.uint64(-2 & 0xFFFFFFFFFFFFFFFF)
    return (bits + product_of_bits(me, bits, np.full(bits.shape, minus_two), width)) & mask(width)


def multiply(me: Party, x: Words, y: Words, width: int) -> Words:
    """Additive shares of x·y: the cross terms bit by bit of the private words."""
    places = np.arange(width, dtype=np.uint64)[:, None]
    bits = ((y.reshape(1, -1) >> places) & np.uint64(1)).astype(np.uint8)
    kept, got = cross(me, bits, x.reshape(1, -1) << places, width)
    total = x.reshape(-1) * y.reshape(-1) + kept.sum(axis=0) + got.sum(axis=0)
    return (total & mask(width)).reshape(x.shape)


def _signed(negative: Bits, word: Words) -> Words:
    """(1 − 2·negative) · word."""
    return (word ^ -negative.astype(np.uint64)) + negative


def _even(flat: NDArray[np.generic]) -> NDArray[np.generic]:
    return np.append(flat, flat[:1] * 0) if flat.size % 2 else flat


def _swap(me: Party, step: str, bits: Bits, words: Bits | Words, width: int) -> tuple[Bits, Words]:
    """Swap one bit and one word of `width` bits an element."""
    count, split = bits.size, bits_bytes(bits.size)
    packed_words = pack_bits(words) if width == 1 else pack_words(words, width)
    theirs = me.channel.swap(step, np.concatenate([pack_bits(bits), packed_words]))
    peer = me.channel.peer
    their_bits = unpack_bits(theirs[:split], count, peer, step)
    if width == 1:
        return their_bits, unpack_bits(theirs[split:], count, peer, step).astype(np.uint64)
    return their_bits, unpack_words(theirs[split:], count, width, peer, step)
