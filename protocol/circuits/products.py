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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple, TypeVar

import numpy as np

from mixbayes.protocol.arrays import Bits, Words, mask
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.computing_party import A, ComputingParty
from mixbayes.protocol.packing import pack_bits, pack_words, unpack_bits, unpack_words
from mixbayes.protocol.transfer.pads import FixedKeyHash, pad_words

Xored = TypeVar("Xored", Bits, Words)

_FEW_TRANSFERS = 1 << 11
"""Transfers that are cheaper than a round."""


@dataclass(frozen=True, slots=True, repr=False)
class _Masks:
    """What transfers give a party to mask words with: p_0 and p_1 as the sender, p_r and r as the receiver."""

    zero: Words
    one: Words
    chosen: Words
    choices: Bits


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
    masks = _Masks(zero, one, chosen, _repeated(received.choices, each))
    announced, runs = bits ^ received.choices, _runs(bits.size, needed or [width]) * each
    flips, offset = _swap(me, "bit times word", announced, _offered(masks, words, width), runs)
    announced, flips = _repeated(announced, each), _repeated(flips, each)
    as_sender, as_receiver = _crossed(masks, announced, words, flips, offset, width)
    return as_sender.reshape(word.shape), as_receiver.reshape(word.shape)


def _offered(masks: _Masks, words: Words, width: int) -> Words:
    """The sender's announcement: words − (p_1 − p_0)."""
    return ring.subtract(words, ring.subtract(masks.one, masks.zero, width), width)


def _crossed(
    masks: _Masks, announced: Bits, words: Words, flips: Bits, offset: Words, width: int
) -> tuple[Words, Words]:
    """The shares as the sender of my words and as the receiver of theirs, once their announcements are here."""
    # As the sender: the left column above, chosen by the other's announcement.
    as_sender = ring.subtract(flips * words, ring.signed(flips, masks.zero, width), width)
    # As the receiver: the right column, chosen by my announcement.
    as_receiver = ring.signed(announced, ring.add(masks.chosen, masks.choices * offset, width), width)
    return as_sender, as_receiver


def cross_xor(me: ComputingParty, choice: Bits, word: Xored, width: int) -> Xored:
    """XOR shares of their choice · my word ⊕ my choice · their word; words of up to eight bits may come as bytes."""
    shape, choice, word = word.shape, choice.reshape(-1), word.reshape(-1)
    sent, received = me.pool.take(word.size)
    (zero, one), chosen = sent.pads[:, :, 0].astype(word.dtype), received.pads[:, 0].astype(word.dtype)
    low = word.dtype.type((1 << width) - 1)
    announced = choice ^ received.choices
    flips, offset = _swap_xored(me, announced, (word ^ zero ^ one) & low, width)
    # As in `cross`, where XOR has no signs: flips·word ⊕ p_0 as the sender, and p_r ⊕ r·offset as the receiver.
    share = (flips * word) ^ zero ^ chosen ^ (received.choices * offset)
    return (share & low).reshape(shape)


def gate(me: ComputingParty, bit: Bits, word: Xored, width: int) -> Xored:
    """XOR shares of bit · word, both XOR-shared, the word of at most 64 bits. With width 1 this is AND."""
    return (bit * word) ^ cross_xor(me, bit, word, width)


def nested(me: ComputingParty, bits: Bits, words: Xored, width: int) -> Xored:
    """XOR shares of w_k ⊕ b_k·(w_{k−1} ⊕ b_{k−1}·(… ⊕ b_1·w_0)), of XOR-shared bits (k, …) and words (k + 1, …).

    It takes one round and 2^k − 1 transfers each way. Multiplied out, every term is a product of A's shares of some
    bits, of B's shares of others, and of a share of a word. So it is a bit that one party knows times a word that the
    other one knows, and all terms with the same bit are one `cross_xor`. With one bit this is `gate`.
    """
    # Row S of `mine` is the product of my shares of the bits in S. Row S of `factors` is what the other party's share
    # of that product is multiplied by: a polynomial in my shares of the other bits and of the words.
    mine, factors = np.ones_like(bits[:1]), np.empty_like(words, shape=(1 << len(bits), *words.shape[1:]))
    factors[0] = words[0]
    for bit, word in zip(bits, words[1:], strict=True):
        size = len(mine)
        mine = np.concatenate([mine, mine * bit])
        factors[size : 2 * size] = factors[:size]
        factors[:size] *= bit
        factors[0] ^= word
    crossed = cross_xor(me, mine[1:], factors[1:], width)
    return factors[0] ^ np.bitwise_xor.reduce(crossed, axis=0)


def all_of(me: ComputingParty, bits: Bits) -> Bits:
    """The AND of XOR-shared bits (k, …), in one round."""
    words = np.zeros_like(bits)
    words[0] = bits[0]
    return nested(me, bits[1:], words, 1)


def fold(me: ComputingParty, rows: Bits, neutral: int, join: Callable[[Bits], Bits]) -> Bits:
    """One row of XOR-shared words of all rows (k, n): a tree in which `join` makes one of neighbours (few, …).

    The word `neutral` changes nothing above others.
    """
    while len(rows) > 1:
        together = _at_once(*rows.shape)
        if missing := -len(rows) % together if together > 2 else 0:
            above = np.full((missing, rows.shape[1]), neutral if me.role == A else 0, np.uint8)
            rows = np.concatenate([rows, above])
        joined = len(rows) // together * together
        groups = rows[:joined].reshape(-1, together, rows.shape[1]).swapaxes(0, 1)
        rows = np.concatenate([join(groups), rows[joined:]])
    return rows[0]


@lru_cache
def _at_once(rows: int, count: int) -> int:
    """How many rows of `count` words to join in one round by `nested`.

    Two at a time take the fewest transfers. More take fewer rounds, and for few words a round is dearer.
    """
    rounds = 1
    while (together := _root(rows, rounds)) > 2 and (-(-rows // together) * count << together) > _FEW_TRANSFERS:
        rounds += 1
    return together


def _root(number: int, degree: int) -> int:
    """The smallest integer of which this power is at least the number."""
    return next(root for root in range(1, number + 1) if root**degree >= number)


def select(me: ComputingParty, bit: Bits, word: Words, width: int, hot: Words, classes: int) -> tuple[Words, Words]:
    """`scale` of a word and `gate` of a word of `classes` bits by the same bit, in one round, with the same transfers.

    The additive share is masked by the first half of a pad and the XOR share by the second one.
    """
    shape, bit, word, hot = word.shape, bit.reshape(-1), word.reshape(1, -1), hot.reshape(-1)
    sent, received = me.pool.take(bit.size)
    masks = _Masks(sent.pads[0, :, 0], sent.pads[1, :, 0], received.pads[:, 0], received.choices)
    (zero, one), chosen = sent.pads[:, :, 1], received.pads[:, 1]
    announced, words = bit ^ received.choices, ring.signed(bit, word, width)
    planes = ring.bits(hot ^ zero ^ one, classes)
    runs = [Run(bit.size, width)]
    bits, offset = _swap(me, "bit times word", np.append(announced, planes), _offered(masks, words, width), runs)
    flips, of_hot = bits[: bit.size], ring.joined(bits[bit.size :].reshape(classes, -1), 1, classes)
    # As in `scale` and in `gate`.
    as_sender, as_receiver = _crossed(masks, announced, words, flips, offset, width)
    scaled = ring.add(bit * word, ring.add(as_sender, as_receiver, width), width)
    gated = ((bit ^ flips) * hot ^ zero ^ chosen ^ received.choices * of_hot) & mask(classes)
    return scaled.reshape(shape), gated.reshape(shape)


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


def _repeated(bits: Bits, each: int) -> Bits:
    return bits if each == 1 else np.tile(bits, each)


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


def _swap_xored(me: ComputingParty, bits: Bits, words: Xored, width: int) -> tuple[Bits, Xored]:
    """Swap one bit and one word for each element. Bytes travel as `width` rows of bits behind those of `bits`."""
    step = "bit and word"
    if words.dtype != np.uint8:
        flips, offset = _swap(me, step, bits, words[None].astype(np.uint64, copy=False), [Run(words.size, width)])
        return flips, offset[0]
    places = np.arange(width, dtype=np.uint8)[:, None]
    rows = np.concatenate([bits[None], words >> places & np.uint8(1)])
    raw = me.channel.swap(step, pack_bits(rows))
    theirs = unpack_bits(raw, rows.size, me.channel.peer, step).reshape(rows.shape)
    return theirs[0], np.bitwise_or.reduce(theirs[1:] << places, axis=0)
