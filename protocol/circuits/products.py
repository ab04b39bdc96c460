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
from itertools import groupby
from typing import NamedTuple, TypeVar

import numpy as np

from mixbayes.protocol.arrays import Bits, Words, mask
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.computing_party import ComputingParty
from mixbayes.protocol.packing import pack_bits, pack_words, unpack_bits, unpack_words
from mixbayes.protocol.transfer.pads import FixedKeyHash, pad_words

Xored = TypeVar("Xored", Bits, Words)


class Run(NamedTuple):
    """Neighbouring words of a message that have equally many bits."""

    words: int
    width: int


def cross(
    me: ComputingParty, choice: Bits, word: Words, width: int, needed: Sequence[int] | None = None
) -> tuple[Words, Words]:
    """This party's additive shares modulo 2^width of (their choice · my word) and of (my choice · their word).

    Several words may be chosen by one bit: choices are (rows, n), and words (rows, n) or (words, rows, n). `needed`
    says for each row how many low bits of the shares are right. Only these are sent.
    """
    bits, words = choice.reshape(-1), ring.limbed(word, width)
    each = words.shape[1] // bits.size if bits.size else 1
    sent, received = me.pool.take(bits.size)
    zero, one = (_pads(me.pool.sent_hash, pads, each, width) for pads in sent.pads)
    chosen = _pads(me.pool.received_hash, received.pads, each, width)
    announced = bits ^ received.choices
    difference = ring.subtract(words, ring.subtract(one, zero, width), width)
    runs = _runs(bits.size, needed or [width]) * each
    flips, offset = _swap(me, "bit times word", announced, difference, runs)
    flips, announced, choices = (np.tile(part, each) for part in (flips, announced, received.choices))
    # As the sender of my word: the left column above, chosen by the other's announcement.
    as_sender = ring.subtract(flips * words, ring.signed(flips, zero, width), width)
    # As the receiver of their word: the right column, chosen by my announcement.
    as_receiver = ring.signed(announced, ring.add(chosen, choices * offset, width), width)
    return as_sender.reshape(word.shape), as_receiver.reshape(word.shape)


def cross_xor(me: ComputingParty, choice: Bits, word: Xored, width: int) -> Xored:
    """XOR shares of their choice · my word ⊕ my choice · their word; words of up to eight bits may come as bytes."""
    shape, kind = word.shape, word.dtype
    choice, word = choice.reshape(-1), word.reshape(-1)
    sent, received = me.pool.take(word.size)
    low = kind.type((1 << width) - 1)
    zero, one, chosen = (pad[:, 0].astype(kind) & low for pad in (sent.pads[0], sent.pads[1], received.pads))
    announced = choice ^ received.choices
    flips, offset = _swap(me, "bit and word", announced, (word ^ zero ^ one)[None], [Run(word.size, width)])
    # As in `cross`, where XOR has no signs: flips·word ⊕ p_0 as the sender, and p_0 ⊕ r·word as the receiver.
    share = (flips * word) ^ zero ^ chosen ^ (received.choices * offset[0].astype(kind))
    return share.reshape(shape)


def gate(me: ComputingParty, bit: Bits, word: Xored, width: int) -> Xored:
    """XOR shares of bit · word, both XOR-shared, the word of at most 64 bits. With width 1 this is AND."""
    return (bit * word) ^ cross_xor(me, bit, word, width)


def scale(me: ComputingParty, bit: Bits, word: Words, width: int, needed: Sequence[int] | None = None) -> Words:
    """Additive shares of bit · word: the bit XOR-shared, the word additively. Shapes and `needed` are as in `cross`."""
    # The bit is a ⊕ b = a + b·(1 − 2a). So (a ⊕ b)·w = a·w + b·(1 − 2a)·w, where w is the part of the word that the
    # party with a holds: that party computes a·w alone and sends (1 − 2a)·w.
    as_sender, as_receiver = cross(me, bit, ring.signed(bit, word, width), width, needed)
    return ring.add(bit * word, ring.add(as_sender, as_receiver, width), width)


def product_of_bits(me: ComputingParty, bits: Bits, factors: Sequence[int], width: int) -> Words:
    """Additive shares of a·b·factor: A's private bit, B's private bit, and a public factor for each row of `bits`.

    It takes one transfer for each product, because A is the sender for the first half of them, counted row by row, and
    B for the second.
    """
    sends, asks = me.halves(bits.reshape(-1))
    words = ring.limbed(ring.constant(factors, width), width)
    factor, _ = me.halves(np.repeat(words, bits.size // len(factors), axis=1))
    as_sender, as_receiver = cross(me, asks, sends * factor, width)
    return me.whole(as_sender, as_receiver, bits.size).reshape(_shape(bits, width))


def narrow_product_of_bits(me: ComputingParty, bits: Bits, factors: Sequence[int], width: int) -> Words:
    """The same of bits (rows, n) in fewer bytes: a factor 2^k·f sends its multiples of f modulo 2^(width − k).

    So that both directions have rows of the same widths, A is the sender for the first half of every row.
    """
    zeros = [min(_zeros_below(factor), width - 1) for factor in factors]
    odd = ring.constant([factor >> places for factor, places in zip(factors, zeros, strict=True)], width)
    sends, asks = me.halves(bits)
    as_sender, as_receiver = cross(me, asks, sends * odd[..., None], width, [width - places for places in zeros])
    return ring.shifted_each(me.whole(as_sender, as_receiver, bits.shape[1]), zeros, width)


def weighted(me: ComputingParty, bits: Bits, weights: Sequence[int], width: int) -> Words:
    """B2A with weights: additive shares of XOR-shared bits, each row times its weight.

    B2A is the conversion from bits (Boolean shares) to additive (arithmetic) ones, here by a ⊕ b = a + b − 2ab.
    """
    products = product_of_bits(me, bits, [-2 * weight for weight in weights], width)
    words = ring.limbed(ring.constant(weights, width), width).repeat(bits.size // len(weights), axis=1)
    return ring.add((bits.reshape(-1) * words).reshape(products.shape), products, width)


def narrow_weighted(me: ComputingParty, bits: Bits, weights: Sequence[int], width: int) -> Words:
    """The same of bits (rows, n) in fewer bytes, by `narrow_product_of_bits`."""
    products = narrow_product_of_bits(me, bits, [-2 * weight for weight in weights], width)
    return ring.add(bits * ring.constant(weights, width)[..., None], products, width)


def times_number(me: ComputingParty, bits: Bits, word: Words, width: int) -> Words:
    """Additive shares of (Σ_i 2^i · bit_i) · word: the bits (k, n) XOR-shared, the words (n,) or (words, n) additively.

    Bit i counts 2^i, so what it selects is needed modulo 2^(width − i) only.
    """
    rows, places = len(bits), range(len(bits))
    products = scale(me, bits, np.repeat(word[..., None, :], rows, axis=-2), width, [width - i for i in places])
    return ring.total_of_rows(ring.shifted_each(products, places, width), width)


def to_arithmetic(me: ComputingParty, bits: Bits, width: int) -> Words:
    """B2A: additive shares of XOR-shared bits."""
    return weighted(me, bits, [1], width)


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


def _zeros_below(number: int) -> int:
    """The place of the lowest set bit."""
    return (number & -number).bit_length() - 1 if number else 0


def _pads(hashing: FixedKeyHash, pads: Words, each: int, width: int) -> Words:
    """Masks (limbs, each · n) for as many elements of a ring behind every transfer."""
    masks = pad_words(hashing, pads, each * ring.limbs(width))
    return ring.reduced(masks.reshape(ring.limbs(width), -1), width)


def _runs(words: int, widths: Sequence[int]) -> list[Run]:
    """Rows of words with these widths as runs; a width is rounded up to whole bytes, which makes few runs of many."""
    if len(widths) == 1:
        return [Run(words, widths[0])]
    most, of_row = max(widths), words // len(widths)
    return [Run(of_row * len(list(rows)), width) for width, rows in groupby(min(most, -(-w // 8) * 8) for w in widths)]


def _swap(me: ComputingParty, step: str, bits: Bits, words: Bits | Words, runs: Sequence[Run]) -> tuple[Bits, Words]:
    """Swap one bit for each transfer, and of each word (limbs, n) as many low bits as its run has."""
    limbs, ends = len(words), np.cumsum([0, *(run.words for run in runs)]).tolist()
    parts = [
        (limb, slice(ends[i], ends[i + 1]), min(ring.WORD, run.width - ring.WORD * limb))
        for limb in range(limbs)
        for i, run in enumerate(runs)
        if run.width > ring.WORD * limb
    ]
    packed = [
        pack_bits(bits),
        *(pack_words(words[limb, part] & words.dtype.type(mask(size)), size) for limb, part, size in parts),
    ]
    theirs = np.split(me.channel.swap(step, np.concatenate(packed)), np.cumsum([part.size for part in packed])[:-1])
    peer, found = me.channel.peer, np.zeros(words.shape, np.uint64)
    for (limb, part, size), raw in zip(parts, theirs[1:], strict=True):
        found[limb, part] = unpack_words(raw, part.stop - part.start, size, peer, step)
    return unpack_bits(theirs[0], bits.size, peer, step), found
