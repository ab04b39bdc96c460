"""The masks of a choice among entries of whole words, and the look-up of a public table at a shared index.

Entry v is masked by H(v, ⊕_j pad_j) over the pads that v's bits name (after Naor and Pinkas, 1999, with one hash of the
sum where they sum k hashes). The receiver lacks at least one pad of every other entry, so in the model of `fixed_key`
every other mask is the permutation at a point unknown to it; distinct entries have distinct tweaks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Bits, Words, mask, slices
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.computing_party import ComputingParty
from mixbayes.protocol.packing import pack_bits, pack_words, unpack_bits, unpack_words
from mixbayes.protocol.transfer.pads import FixedKeyHash

_PIECE = 1 << 15
"""Entries masked at a time: half a megabyte of blocks."""


def pad_words(hashing: FixedKeyHash, pads: Words, words: int) -> Words:
    """(words, n): the pad's own two words, or as many more as the hash makes of it.

    Never both: who guesses a word under the pad itself would know the pad, and with it every word under its hashes.
    """
    if words <= 2:
        return pads.T[:words]
    blocks = range(1, -(-words // 2) + 1)
    return np.concatenate([hashing(pads ^ np.uint64(number)).T for number in blocks])[:words]


def all_masks(hashing: FixedKeyHash, pads: Words, flips: Bits, entries: int, words: int) -> Words:
    """The sender's masks (entries, n, words) from its pads (2, k, n, 2) and the receiver's announcement (k, n)."""
    k, n = flips.shape
    keys = np.zeros((1, n, 2), np.uint64)
    for j in range(k):
        both = pads[0, j] ^ pads[1, j]
        zero = pads[0, j] ^ (both & -flips[j].astype(np.uint64)[:, None])
        more = keys[: max(0, entries - len(keys))] ^ (zero ^ both)
        keys = np.concatenate([keys ^ zero, more])
    return _masks(hashing, keys, np.arange(entries, dtype=np.uint64)[:, None], words)


def chosen_masks(hashing: FixedKeyHash, pads: Words, index: Words, words: int) -> Words:
    """The receiver's mask (n, words) for its own index (n,) from its pads (k, n, 2)."""
    return _masks(hashing, np.bitwise_xor.reduce(pads, axis=0)[None], index[None], words)[0]


def _masks(hashing: FixedKeyHash, keys: Words, numbers: Words, words: int) -> Words:
    masks = np.empty((*keys.shape[:2], words), np.uint64)
    tweaked = keys.copy()
    tweaked[..., 0] ^= numbers
    for block in range(-(-words // 2)):
        tweaked[..., 1] ^= np.uint64(block ^ max(block - 1, 0))
        masks[..., 2 * block : 2 * block + 2] = hashing(tweaked)[..., : words - 2 * block]
    return masks


def look_up(me: ComputingParty, index: Words, table: Words, widths: Sequence[int]) -> Words:
    """XOR shares (n, words) of a public table (2^k, words) at an XOR-shared index (n,). Two rounds.

    Each party sends for half of the elements: its table is the public one with its own share of the index added, under
    a random row which is its share of the result. `widths` are the bits of the words.
    """
    entries, words = table.shape
    bits = entries.bit_length() - 1
    mine, asked = me.halves(index)
    half = mine.size
    sent, received = me.pool.take(bits * half)
    flips = _announce(me, asked, bits, received.choices)
    kept = me.random.words(half, words)
    offered = _offered(me, mine, table, kept, sent.pads.reshape(2, bits, half, 2), flips)
    answer = _swap_entries(me, offered, widths, asked.astype(np.intp))
    chosen = chosen_masks(me.pool.received_hash, received.pads.reshape(bits, half, 2), asked, words)
    share = me.whole(kept.T, (answer ^ chosen).T, index.size).T
    return share & np.array([mask(width) for width in widths])


def _offered(me: ComputingParty, index: Words, table: Words, kept: Words, pads: Words, flips: Bits) -> Words:
    """(words, n, entries): the table seen from this party's index, under its share and the masks."""
    entries, words = table.shape
    offered = np.empty((words, index.size, entries), np.uint64)
    numbers = np.arange(entries, dtype=np.uint64)
    for piece in slices(index.size, max(1, _PIECE // entries)):
        masks = all_masks(me.pool.sent_hash, pads[:, :, piece], flips[:, piece], entries, words)
        rows = numbers ^ index[piece, None]
        for word in range(words):
            offered[word, piece] = table[:, word].take(rows) ^ kept[piece, word, None] ^ masks[:, :, word].T
    return offered


def _swap_entries(me: ComputingParty, offered: Words, widths: Sequence[int], asked: NDArray[np.intp]) -> Words:
    """Swap the offered entries; returns those asked for, (n, words)."""
    step = "table look-up"
    packed = [pack_words(words & mask(width), width) for words, width in zip(offered, widths, strict=True)]
    theirs = me.channel.swap(step, np.concatenate(packed))
    rows, at = [], 0
    for width, part in zip(widths, packed, strict=True):
        words = unpack_words(theirs[at : at + part.size], offered[0].size, width, me.channel.peer, step)
        rows.append(words.reshape(offered[0].shape)[np.arange(asked.size), asked])
        at += part.size
    return np.stack(rows, axis=1)


def _announce(me: ComputingParty, asked: Words, bits: int, choices: Bits) -> Bits:
    step = "announce table look-up"
    announced = ring.bits(asked, bits).reshape(-1) ^ choices
    theirs = me.channel.swap(step, pack_bits(announced))
    return unpack_bits(theirs, announced.size, me.channel.peer, step).reshape(bits, -1)
