"""The hash of oblivious transfer, and the masks that are made of pads with it.

A random oblivious transfer leaves its sender with two pads of 128 bits and its receiver with one of them. This file
holds the hash that breaks the correlation between pads, and what makes pads into masks: of a word of any width
(`pad_words`), and of N entries of which the receiver can unmask one (`all_masks`, `chosen_masks`).

The hash is fixed-key AES, after Bellare, Hoang, Keelveedhi and Rogaway (S&P 2013): H(i, x) = π(x ⊕ i) ⊕ x ⊕ i, where π
is AES under one public key and is modelled as a random permutation. One AES key schedule serves millions of calls, so
that hashing costs little more than the AES rounds. Guo, Katz, Wang and Yu (S&P 2020) hash twice, π(π(x) ⊕ i) ⊕ π(x), to
be secure against a receiver that chooses x. Here no receiver chooses x: every x is a sum of AES streams whose keys the
base transfers have fixed. The sender of the extension draws the AES key for each session, and the key that hashes the
transfers is replaced after 2^32 of them.
"""

from __future__ import annotations

import hashlib

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from mixbayes.protocol.arrays import Bits, Words

KEY_BYTES = 16
KEY_LIFETIME = 1 << 32
"""Transfers that one key of the session hashes."""


class FixedKeyHash:
    """x ↦ π(x) ⊕ x on arrays of 128-bit blocks, shaped (…, 2) in words. The caller puts the tweak i into x."""

    def __init__(self, key: bytes) -> None:
        self._cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()

    def absorb(self, tweaked: Words, out: Words) -> None:
        """Write π(x) ⊕ x of already tweaked blocks to `out`, which must have room for one block more.

        The cipher's interface demands that room. What stands in it afterwards means nothing.
        """
        size = tweaked.size
        self._cipher.update_into(tweaked.reshape(-1).view(np.uint8).data, out.reshape(-1).view(np.uint8).data)
        flat = out.reshape(-1)[:size]
        np.bitwise_xor(flat, tweaked.reshape(-1), out=flat)

    def __call__(self, tweaked: Words) -> Words:
        """π(x) ⊕ x of contiguous, already tweaked blocks, in a new array."""
        out = np.empty(tweaked.size + 2, np.uint64)
        self.absorb(tweaked, out)
        return out[: tweaked.size].reshape(tweaked.shape)


class SessionHash:
    """The hash of one session's transfers, with a tweak that counts them and so never repeats under one key."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._done = 0
        self.current = FixedKeyHash(key)

    def tweak(self, blocks: Words) -> None:
        """XOR the numbers of the next transfers into their blocks; replace the key if its lifetime would end here."""
        if self._done + len(blocks) > KEY_LIFETIME:
            self._key = hashlib.sha256(b"mixbayes next hash key" + self._key).digest()[:KEY_BYTES]
            self.current = FixedKeyHash(self._key)
            self._done = 0
        low = blocks[:, 0]
        np.bitwise_xor(low, np.arange(self._done, self._done + len(blocks), dtype=np.uint64), out=low)
        self._done += len(blocks)


def long_hash(key: bytes) -> FixedKeyHash:
    """The hash that makes long masks of pads. It has its own key, so that its tweaks never meet those of transfers."""
    return FixedKeyHash(hashlib.sha256(b"mixbayes long masks" + key).digest()[:KEY_BYTES])


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
