"""The hash of oblivious transfer, and the masks that are made of pads with it.

A random oblivious transfer leaves its sender with two pads of 128 bits and its receiver with one of them. This file
holds the hash that breaks the correlation between pads, and what makes pads into masks: of a word of any width
(`pad_words`), and of N entries of which the receiver can unmask one (`all_masks`, `chosen_masks`).

Both hashes are fixed-key AES, whose permutation π is modelled as a random one. One AES key schedule serves millions of
calls, so that hashing costs little more than the AES rounds.

- Rows of the extension are hashed by TMMO, π(π(x) ⊕ i) ⊕ π(x), where i is the number of the transfer (Guo, Katz, Wang
  and Yu, S&P 2020, section 7.4). It is secure against a receiver that chooses the rows x, as a lying one may.
- Pads and nodes of trees are hashed by MMO with a tweak, π(x ⊕ i) ⊕ x ⊕ i (Bellare, Hoang, Keelveedhi and Rogaway, S&P
  2013). Nobody chooses these x: pads come out of the first hash, and nodes out of the base transfers.

The sender of the extension draws a key for each session. Transfers, trees and long masks each have an AES key derived
from it, and that of the transfers is replaced after 2^32 of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from mixbayes.protocol.arrays import Bits, Words

KEY_BYTES = 16
KEY_LIFETIME = 1 << 32
"""Transfers that one key of the session hashes."""


class FixedKeyHash:
    """x ↦ π(x) ⊕ x on arrays of 128-bit blocks, shaped (…, 2) in words. The caller puts the tweak i into x."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._permute = _permutation(key)

    def anew(self) -> FixedKeyHash:
        """The same hash for another thread: a cipher serves one at a time."""
        return FixedKeyHash(self._key)

    def absorb(self, tweaked: Words, out: Words) -> None:
        """Write π(x) ⊕ x of already tweaked blocks to `out`, which must have room for one block more.

        The cipher's interface demands that room. What stands in it afterwards means nothing.
        """
        self._permute(tweaked, out)
        flat = out.reshape(-1)[: tweaked.size]
        np.bitwise_xor(flat, tweaked.reshape(-1), out=flat)

    def __call__(self, tweaked: Words) -> Words:
        """π(x) ⊕ x of contiguous, already tweaked blocks, in a new array."""
        out = np.empty(tweaked.size + 2, np.uint64)
        self.absorb(tweaked, out)
        return out[: tweaked.size].reshape(tweaked.shape)


class TransferHash:
    """TMMO of the rows of one session's transfers. The tweak is the number of the transfer: no key meets it twice.

    Rows of the extension and of silent transfers have a key each.
    """

    def __init__(self, key: bytes, use: str = "transfers") -> None:
        self._key = _derived(use, key)
        self._permute = _permutation(self._key)
        self._done = 0
        self._room = np.empty((1, 2), np.uint64)

    def absorb(self, sides: Sequence[tuple[Words, Words]]) -> None:
        """Write the hashes of the next transfers' rows to their pads.

        Each side is rows and pads, (n + 1, 2) both: the last row is the room that the cipher's interface demands. Equal
        places of all sides are of one transfer, and so have one tweak. The rows are overwritten.
        """
        numbers = self._next(len(sides[0][0]) - 1)
        for rows, pads in sides:
            self._permute(rows[:-1], pads)
            np.bitwise_xor(pads[:-1, 0], numbers, out=rows[:-1, 0])
            rows[:-1, 1] = pads[:-1, 1]
            # Now the pads are π(x), and the rows π(x) ⊕ i.
            twice = self._scratch(len(rows))
            self._permute(rows[:-1], twice)
            np.bitwise_xor(pads[:-1], twice[:-1], out=pads[:-1])

    def _next(self, count: int) -> Words:
        """The numbers of the next transfers. The key is replaced if its lifetime would end among them."""
        if self._done + count > KEY_LIFETIME:
            self._key = _derived("next transfers", self._key)
            self._permute = _permutation(self._key)
            self._done = 0
        self._done += count
        return np.arange(self._done - count, self._done, dtype=np.uint64)

    def _scratch(self, rows: int) -> Words:
        if len(self._room) < rows:
            self._room = np.empty((rows, 2), np.uint64)
        return self._room[:rows]


def long_hash(key: bytes) -> FixedKeyHash:
    """The hash that makes long masks of pads."""
    return FixedKeyHash(_derived("long masks", key))


def tree_hash(key: bytes) -> FixedKeyHash:
    """The hash that makes the children of a tree's nodes."""
    return FixedKeyHash(_derived("trees", key))


def silent_tree_hash(key: bytes, iteration: int) -> FixedKeyHash:
    """The hash that makes the children of a node in the trees of one iteration of silent transfers.

    No tweak tells nodes apart, so whoever guesses a node guesses all of an iteration at once, but not of two.
    """
    return FixedKeyHash(_derived(f"silent trees {iteration}", key))


def _derived(use: str, key: bytes) -> bytes:
    """The AES key of one use of a session's key: what is hashed for one use never meets the tweaks of another."""
    return hashlib.sha256(b"mixbayes " + use.encode() + b"\0" + key).digest()[:KEY_BYTES]


def _permutation(key: bytes) -> Callable[[Words, Words], None]:
    """AES under this key: it writes π of blocks to an array that has room for one block more."""
    cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()

    def permute(blocks: Words, out: Words) -> None:
        cipher.update_into(blocks.reshape(-1).view(np.uint8).data, out.reshape(-1).view(np.uint8).data)

    return permute


def pad_words(hashing: FixedKeyHash, pads: Words, words: int) -> Words:
    """Masks (words, n) of the pads (n, 2): the pad itself up to two words, and hashes of the pad beyond that.

    A long mask must not begin with the pad itself. Otherwise a guess of the first two words would give the pad, and the
    pad gives all hashes: every further word could be read or confirmed.
    """
    if words <= 2:
        return pads.T[:words]
    blocks = range(1, -(-words // 2) + 1)
    return np.concatenate([hashing(pads ^ np.uint64(number)).T for number in blocks])[:words]


# 1-of-N OT from k = ⌈log2 N⌉ random OTs, after Naor and Pinkas (STOC 1999). The receiver wants entry v and announces
# the bits of v XORed with its k random choices, its `flips`; so the transfers are put to use after they were made
# (Beaver, CRYPTO 1995). The mask of entry v is H(v, ⊕_j pad_j), over the pads that the bits of v name. (Naor and Pinkas
# add up k hashes; we hash the sum once.) The receiver lacks at least one pad of every other entry, so every other mask
# is the random permutation at a point that it does not know. Distinct entries have distinct tweaks v.


def all_masks(hashing: FixedKeyHash, pads: Words, flips: Bits, entries: int, words: int) -> Words:
    """The sender's masks (entries, n, words), from its pads (2, k, n, 2) and the receiver's announcement (k, n)."""
    k, n = flips.shape
    keys = np.zeros((1, n, 2), np.uint64)
    for j in range(k):
        both = pads[0, j] ^ pads[1, j]
        # The pad that bit 0 of an index names: pad 0, or pad 1 where the receiver's random choice was the other bit.
        zero = pads[0, j] ^ (both & -flips[j].astype(np.uint64)[:, None])
        more = keys[: max(0, entries - len(keys))] ^ (zero ^ both)
        # Now keys[v] is the sum of the pads that the lowest j + 1 bits of v name.
        keys = np.concatenate([keys ^ zero, more])
    return _masks(hashing, keys, np.arange(entries, dtype=np.uint64)[:, None], words)


def chosen_masks(hashing: FixedKeyHash, pads: Words, index: Words, words: int) -> Words:
    """The receiver's masks (n, words) of the entries that it chose by `index` (n,), from its pads (k, n, 2)."""
    return _masks(hashing, np.bitwise_xor.reduce(pads, axis=0)[None], index[None], words)[0]


def _masks(hashing: FixedKeyHash, keys: Words, numbers: Words, words: int) -> Words:
    """H of the keys (entries, n, 2), as many blocks as fill `words`: entry and block number are the tweak."""
    masks = np.empty((*keys.shape[:2], words), np.uint64)
    tweaked = keys.copy()
    tweaked[..., 0] ^= numbers
    for block in range(-(-words // 2)):
        # The number of the block before is taken out again, so that the tweak holds this block's number alone.
        tweaked[..., 1] ^= np.uint64(block ^ max(block - 1, 0))
        masks[..., 2 * block : 2 * block + 2] = hashing(tweaked)[..., : words - 2 * block]
    return masks
