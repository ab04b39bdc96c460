"""Products of a shared bit and a shared word: one random transfer each way, one round.

A pad of a random transfer has 128 bits, so one transfer carries a whole word: selecting, shifting and multiplying a
word by a bit cost what a single AND costs. All products here are made of one step, `cross`, in which the sender holds a
word and the receiver holds a choice, and which ends with shares of choice·word. This is a correlated OT, and sums of
them by the bits of a number are Gilboa's multiplication (CRYPTO 1999).

Let r be the receiver's random choice and p_0, p_1 the pads. The receiver announces choice ⊕ r, as in Beaver's
precomputed OT (CRYPTO 1995), and the sender announces word − (p_1 − p_0). Both announcements are masked by values that
are used once. The receiver's pad p_r is p_0 + r·(p_1 − p_0). Adding r times the sender's announcement to it gives
p_0 + r·word, and the shares are

                      sender        receiver
    choice = r        −p_0          p_0 + r·word
    choice = 1 − r    word + p_0    −(p_0 + r·word)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from mixbayes.protocol.arrays import Bits, Words
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.computing_party import ComputingParty
from mixbayes.protocol.packing import pack_bits, pack_words, unpack_bits, unpack_words
from mixbayes.protocol.transfer.pads import pad_words

Xored = TypeVar("Xored", Bits, Words)


def cross(me: ComputingParty, choice: Bits, word: Words, width: int) -> tuple[Words, Words]:
    """This party's additive shares modulo 2^width of (their choice · my word) and of (my choice · their word)."""
    bits, words = choice.reshape(-1), ring.limbed(word, width)
    sent, received = me.pool.take(bits.size)
    limbs = ring.limbs(width)
    zero, one = (ring.reduced(pad_words(me.pool.sent_hash, pads, limbs), width) for pads in sent.pads)
    chosen = ring.reduced(pad_words(me.pool.received_hash, received.pads, limbs), width)
    announced = bits ^ received.choices
    difference = ring.subtract(words, ring.subtract(one, zero, width), width)
    flips, offset = _swap(me, "bit times word", announced, difference, width)
    # As the sender of my word: the left column above, chosen by the other's announcement.
    as_sender = ring.subtract(flips * words, ring.signed(flips, zero, width), width)
    # As the receiver of their word: the right column, chosen by my announcement.
    as_receiver = ring.signed(announced, ring.add(chosen, received.choices * offset, width), width)
    return as_sender.reshape(word.shape), as_receiver.reshape(word.shape)


def cross_xor(me: ComputingParty, choice: Bits, word: Xored, width: int) -> Xored:
    """XOR shares of their choice · my word ⊕ my choice · their word; words of up to eight bits may come as bytes."""
    shape, kind = word.shape, word.dtype
    choice, word = choice.reshape(-1), word.reshape(-1)
    sent, received = me.pool.take(word.size)
    low = kind.type((1 << width) - 1)
    zero, one, chosen = (pad[:, 0].astype(kind) & low for pad in (sent.pads[0], sent.pads[1], received.pads))
    announced = choice ^ received.choices
    flips, offset = _swap(me, "bit and word", announced, word ^ zero ^ one, width)
    # As in `cross`, where XOR has no signs: flips·word ⊕ p_0 as the sender, and p_0 ⊕ r·word as the receiver.
    share = (flips * word) ^ zero ^ chosen ^ (received.choices * offset[0].astype(kind))
    return share.reshape(shape)


def gate(me: ComputingParty, bit: Bits, word: Xored, width: int) -> Xored:
    """XOR shares of bit · word, both XOR-shared, the word of at most 64 bits. With width 1 this is AND."""
    return (bit * word) ^ cross_xor(me, bit, word, width)


def scale(me: ComputingParty, bit: Bits, word: Words, width: int) -> Words:
    """Additive shares of bit · word: the bit XOR-shared, the word additively."""
    # The bit is a ⊕ b = a + b·(1 − 2a). So (a ⊕ b)·w = a·w + b·(1 − 2a)·w, where w is the part of the word that the
    # party with a holds: that party computes a·w alone and sends (1 − 2a)·w.
    as_sender, as_receiver = cross(me, bit, ring.signed(bit, word, width), width)
    return ring.add(bit * word, ring.add(as_sender, as_receiver, width), width)


def product_of_bits(me: ComputingParty, bits: Bits, factors: Sequence[int], width: int) -> Words:
    """Additive shares of a·b·factor: A's private bit, B's private bit, and a public factor for each row of `bits`.

    It takes one transfer for each product, because each party is the sender for half of them.
    """
    sends, asks = me.halves(bits.reshape(-1))
    words = ring.limbed(ring.constant(factors, width), width)
    factor, _ = me.halves(np.repeat(words, bits.size // len(factors), axis=1))
    as_sender, as_receiver = cross(me, asks, sends * factor, width)
    return me.whole(as_sender, as_receiver, bits.size).reshape(_shape(bits, width))


def weighted(me: ComputingParty, bits: Bits, weights: Sequence[int], width: int) -> Words:
    """B2A with weights: additive shares of XOR-shared bits, each row times its weight.

    B2A is the conversion from bits (Boolean shares) to additive (arithmetic) ones, here by a ⊕ b = a + b − 2ab.
    """
    products = product_of_bits(me, bits, [-2 * weight for weight in weights], width)
    words = ring.limbed(ring.constant(weights, width), width).repeat(bits.size // len(weights), axis=1)
    return ring.add((bits.reshape(-1) * words).reshape(products.shape), products, width)


def to_arithmetic(me: ComputingParty, bits: Bits, width: int) -> Words:
    """B2A: additive shares of XOR-shared bits."""
    return weighted(me, bits, [1], width)


def multiply(me: ComputingParty, x: Words, y: Words, width: int) -> Words:
    """Additive shares of x · y, both (n,) additively shared (Gilboa, CRYPTO 1999)."""
    # (x_A + x_B)(y_A + y_B): each party computes the product of its own shares alone. In a cross term, bit i of the
    # receiver's y chooses the sender's 2^i·x.
    shifts = np.stack([ring.shifted(x, i, width) for i in range(width)], axis=x.ndim - 1)
    as_sender, as_receiver = cross(me, ring.bits(y, width), shifts, width)
    own = ring.multiply(x, y, width)
    return ring.add(own, ring.total(ring.add(as_sender, as_receiver, width), width), width)


def opened(me: ComputingParty, step: str, bits: Bits) -> Bits:
    """The values of XOR-shared bits (n,), shown to both parties."""
    theirs = me.channel.swap(step, pack_bits(bits))
    return bits ^ unpack_bits(theirs, bits.size, me.channel.peer, step)


def opened_words(me: ComputingParty, step: str, words: Words, width: int) -> Words:
    """The values of additively shared words (n,) of at most 64 bits, shown to both parties."""
    theirs = me.channel.swap(step, pack_words(words, width))
    return ring.add(words, unpack_words(theirs, words.size, width, me.channel.peer, step), width)


def _shape(bits: Bits, width: int) -> tuple[int, ...]:
    return bits.shape if ring.limbs(width) == 1 else (ring.limbs(width), *bits.shape)


def _swap(me: ComputingParty, step: str, bits: Bits, words: Bits | Words, width: int) -> tuple[Bits, Words]:
    """Swap one bit and one word of `width` bits for each element. The other's words come as limbs."""
    sizes = [min(ring.WORD, width - ring.WORD * limb) for limb in range(ring.limbs(width))]
    rows = words.reshape(len(sizes), -1)
    packed = [pack_bits(bits), *(pack_words(rows[limb], size) for limb, size in enumerate(sizes))]
    theirs = np.split(me.channel.swap(step, np.concatenate(packed)), np.cumsum([part.size for part in packed])[:-1])
    peer, count = me.channel.peer, bits.size
    their_words = [unpack_words(raw, count, size, peer, step) for raw, size in zip(theirs[1:], sizes, strict=True)]
    return unpack_bits(theirs[0], count, peer, step), np.stack(their_words)
