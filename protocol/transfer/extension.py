"""Oblivious-transfer extension: any number of random transfers from 128 base ones (Roy, SoftSpokenOT, CRYPTO 2022).

The 128 columns are taken in groups of `GROUP`. For a group the receiver holds 2^GROUP seeds and the sender all but one
of them, so a correction of one bit a group and transfer suffices where IKNP sends one bit a column; with GROUP = 1 it
is IKNP. Each transfer's 128-bit pad is all used by what stands above, so pads are returned whole.

    receiver:  t  = Σ x·r_x,  u = Σ r_x ⊕ choice         sender:  q = Σ (x ⊕ Δ)·r_x ⊕ Δ·u = t ⊕ choice·Δ

An unchecked receiver that uses different choices in different groups can learn Δ. Where the receiver is a hospital that
asks (`checked`), every stretch ends with the consistency check of SoftSpokenOT, section 4: a universal linear hash of
every column, here GHASH under a key the sender draws once the corrections are in, over columns that carry 128 more
transfers than are used, so that the hash of the choices shows nothing. Nothing checks the sums by which the trees are
opened: a receiver that sends wrong ones makes a sender's column random, and passes the check only by guessing bits of
Δ, as it may there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from mixbayes.protocol.arrays import Bits, Bytes, Words
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import CheatingReceiver
from mixbayes.protocol.randomness import Randomness, key_stream
from mixbayes.protocol.transfer.base import BaseReceived, BaseSent
from mixbayes.protocol.transfer.pads import KEY_BYTES, FixedKeyHash
from mixbayes.protocol.transfer.transpose import BLOCK_WORDS, ROWS, Transposer, choices_in_order

GROUP = 2
GROUPS = ROWS // GROUP
LEAVES = 1 << GROUP
UNIT = 128
"""Stretches are multiples of this many transfers."""
STRETCH = 1 << 16
"""Transfers made at a time: long enough to pay for starting the column streams, short enough for the cache."""
CHECKED_STRETCH = 1 << 18
"""The same where every stretch ends with a check, which has a price of its own."""
KEY_LIFETIME = 1 << 32
CORRECTIONS = "OT extension: corrections"
_TAG = 16
_NONCE = bytes(12)
_LEAF_WORDS = 1 << 15
"""Column streams drawn at a time: a quarter of a megabyte."""


@dataclass(frozen=True, slots=True, repr=False)
class Sent:
    """Both pads of n transfers, (2, n, 2) words."""

    pads: Words


@dataclass(frozen=True, slots=True, repr=False)
class Received:
    """The random choices (n,) and the chosen pads (n, 2)."""

    choices: Bits
    pads: Words


@dataclass(frozen=True, slots=True, repr=False)
class Begun:
    """A stretch at the receiver between its corrections and its end: the choices packed, and the columns t."""

    count: int
    choices: Words
    columns: Words
    corrections: Bytes


class SenderExtension:
    """Makes transfers in which this end knows both pads."""

    def __init__(self, base: BaseReceived, channel: Channel, random: Randomness, *, checked: bool = False) -> None:
        key = random.bytes(KEY_BYTES)
        channel.send("OT extension: hash key", key)
        self._hash = _Hashing(key)
        self.long_hash = long_hash(key)
        opened = channel.receive("OT extension: trees", _tree_bytes()).view(np.uint64)
        seeds, hole = _punctured_leaves(base, opened.reshape(GROUP - 1, 2, GROUPS, 2), self._hash.current)
        self._hole = hole
        self._delta_bits = ((hole[:, None] >> np.arange(GROUP)) & 1).astype(np.uint8).reshape(-1)
        self._delta = np.packbits(self._delta_bits, bitorder="little").view(np.uint64)
        # In the order of x ⊕ hole, so that the missing seed is number 0 in every group.
        known = [[seeds[g, y ^ int(hole[g])] for y in range(1, LEAVES)] for g in range(GROUPS)]
        self._leaves = _Leaves(known)
        self._random = random
        self._checked = checked
        self._transposer = Transposer()

    def make(self, channel: Channel, count: int, pads: Words) -> None:
        """Fill `pads` (2, count + 1, 2) with `count` transfers; the last row is room for the cipher."""
        spare = UNIT if self._checked else 0
        corrections = channel.receive(CORRECTIONS, correction_bytes(count, self._checked))
        q = self._columns(corrections.view(np.uint64).reshape(GROUPS, -1), count + spare)
        if self._checked:
            self._verify(channel, q)
        for start, rows in _blocks(q, count):
            self._hash_block(rows, pads, start)

    def _columns(self, corrections: Words, count: int) -> Words:
        q = np.empty((GROUPS, GROUP, count // 64), np.uint64)
        holes = -self._delta_bits.astype(np.uint64).reshape(GROUPS, GROUP, 1)
        for groups, leaves in self._leaves.next(count // 64):
            for j in range(GROUP):
                _sum([leaves[:, y - 1] for y in range(LEAVES) if y >> j & 1], q[groups, j])
                np.bitwise_xor(q[groups, j], corrections[groups] & holes[groups, j], out=q[groups, j])
        return q.reshape(ROWS, -1)

    def _hash_block(self, rows: Words, pads: Words, start: int) -> None:
        size = 64 * rows.shape[1]
        zero, one = pads[0, start : start + size + 1], pads[1, start : start + size + 1]
        tweaked = np.empty((2, size, 2), np.uint64)
        self._transposer.block(rows, tweaked[0])
        self._hash.tweak(tweaked[0])
        np.bitwise_xor(tweaked[0], self._delta, out=tweaked[1])
        self._hash.current.absorb(tweaked[0], zero)
        self._hash.current.absorb(tweaked[1], one)

    def _verify(self, channel: Channel, q: Words) -> None:
        key = self._random.bytes(KEY_BYTES)
        channel.send("OT extension: challenge", key)
        step = "OT extension: check"
        answer = channel.receive(step, (ROWS + 1) * _TAG).reshape(ROWS + 1, _TAG)
        expected = answer[:ROWS] ^ (self._delta_bits[:, None] * answer[ROWS])
        if not np.array_equal(column_hashes(key, q), expected):
            raise CheatingReceiver(channel.peer, step, "its choices differ from column to column")


class ReceiverExtension:
    """Makes transfers in which this end knows one pad, by random choices of its own."""

    def __init__(self, base: BaseSent, channel: Channel, random: Randomness, *, checked: bool = False) -> None:
        key = channel.receive("OT extension: hash key", KEY_BYTES).tobytes()
        self._hash = _Hashing(key)
        self.long_hash = long_hash(key)
        seeds, opened = _leaves(base, self._hash.current)
        channel.send("OT extension: trees", opened.view(np.uint8))
        self._leaves = _Leaves([list(group) for group in seeds])
        self._random = random
        self._checked = checked
        self._transposer = Transposer()

    def start(self, count: int) -> Begun:
        """Draw the choices of the next stretch, and what the sender needs to correct its columns by."""
        words = (count + (UNIT if self._checked else 0)) // 64
        choices = self._random.words(words)
        corrections = np.empty((GROUPS, words), np.uint64)
        columns = self._columns(choices, corrections)
        return Begun(count, choices, columns, corrections.reshape(-1).view(np.uint8))

    def finish(self, channel: Channel, begun: Begun, choices: Bits, pads: Words) -> None:
        """Fill `choices` (count,) and `pads` (count + 1, 2) of a stretch whose corrections have been sent."""
        if self._checked:
            self._answer(channel, begun.columns, begun.choices)
        for start, rows in _blocks(begun.columns, begun.count):
            size = 64 * rows.shape[1]
            choices[start : start + size] = choices_in_order(begun.choices[start // 64 :][: rows.shape[1]])
            self._hash_block(rows, pads[start : start + size + 1])

    def make(self, channel: Channel, count: int, choices: Bits, pads: Words) -> None:
        """`start`, send, `finish`."""
        begun = self.start(count)
        channel.send(CORRECTIONS, begun.corrections)
        self.finish(channel, begun, choices, pads)

    def _columns(self, choices: Words, corrections: Words) -> Words:
        t = np.empty((GROUPS, GROUP, choices.size), np.uint64)
        for groups, leaves in self._leaves.next(choices.size):
            for j in range(GROUP):
                _sum([leaves[:, x] for x in range(LEAVES) if x >> j & 1], t[groups, j])
            rest = [leaves[:, x] for x in range(0, LEAVES, 2)]
            _sum([t[groups, 0], choices[None], *rest], corrections[groups])
        return t.reshape(ROWS, -1)

    def _hash_block(self, rows: Words, pads: Words) -> None:
        tweaked = np.empty((64 * rows.shape[1], 2), np.uint64)
        self._transposer.block(rows, tweaked)
        self._hash.tweak(tweaked)
        self._hash.current.absorb(tweaked, pads)

    def _answer(self, channel: Channel, t: Words, packed: Words) -> None:
        key = channel.receive("OT extension: challenge", KEY_BYTES).tobytes()
        zeros = np.zeros_like(packed)
        of_choices = column_hashes(key, packed[None]) ^ column_hashes(key, zeros[None])
        channel.send("OT extension: check", np.concatenate([column_hashes(key, t), of_choices]))


class _Hashing:
    """The session's hash with its running tweak; the key changes after `KEY_LIFETIME` transfers."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._done = 0
        self.current = FixedKeyHash(key)

    def tweak(self, blocks: Words) -> None:
        if self._done + len(blocks) > KEY_LIFETIME:
            self._key = hashlib.sha256(b"mixbayes next hash key" + self._key).digest()[:KEY_BYTES]
            self.current = FixedKeyHash(self._key)
            self._done = 0
        low = blocks[:, 0]
        np.bitwise_xor(low, np.arange(self._done, self._done + len(blocks), dtype=np.uint64), out=low)
        self._done += len(blocks)


def long_hash(key: bytes) -> FixedKeyHash:
    """The hash by which a choice makes long masks of pads: a key of its own, so that no input meets another's tweak."""
    return FixedKeyHash(hashlib.sha256(b"mixbayes long masks" + key).digest()[:KEY_BYTES])


def correction_bytes(count: int, checked: bool = False) -> int:
    """The size of the corrections for `count` transfers."""
    return GROUPS * (count + (UNIT if checked else 0)) // 8


def _blocks(columns: Words, count: int) -> list[tuple[int, Words]]:
    """The columns in pieces that fit the cache, each with the number of its first transfer."""
    words = count // 64
    return [(64 * start, columns[:, start : min(start + BLOCK_WORDS, words)]) for start in range(0, words, BLOCK_WORDS)]


class _Leaves:
    """The column streams of every group, drawn a few groups at a time so that they stay in the cache."""

    def __init__(self, seeds: list[list[Words]]) -> None:
        self._streams = [key_stream(seed.tobytes()) for group in seeds for seed in group]
        self._leaves = len(seeds[0])
        self._buffer = np.empty(0, np.uint64)

    def next(self, words: int) -> Iterator[tuple[slice, Words]]:
        """The next `words` of every stream, as (some groups, leaves, words)."""
        together = max(1, _LEAF_WORDS // (self._leaves * words))
        zeros = memoryview(bytes(8 * words))
        for first in range(0, GROUPS, together):
            groups = slice(first, min(first + together, GROUPS))
            rows = self._room((groups.stop - groups.start) * self._leaves, words)
            streams = self._streams[groups.start * self._leaves : groups.stop * self._leaves]
            for stream, row in zip(streams, rows.view(np.uint8), strict=True):
                stream.update_into(zeros, row.data)
            yield groups, rows.reshape(-1, self._leaves, words)

    def _room(self, rows: int, words: int) -> Words:
        if self._buffer.size < rows * words:
            self._buffer = np.empty(rows * words, np.uint64)
        return self._buffer[: rows * words].reshape(rows, words)


def _sum(terms: list[Words], out: Words) -> None:
    np.copyto(out, terms[0])
    for term in terms[1:]:
        np.bitwise_xor(out, term, out=out)


def column_hashes(key: bytes, columns: Words) -> Bytes:
    """GHASH of every row of `columns`, plus one constant: the tag of AES-GCM over it as associated data."""
    tag_of = AESGCM(key).encrypt
    tags = b"".join([tag_of(_NONCE, b"", column) for column in columns.view(np.uint8)])
    return np.frombuffer(tags, np.uint8).reshape(-1, _TAG)


def _tree_bytes() -> int:
    return (GROUP - 1) * 2 * GROUPS * 16


def _children(nodes: Words, hashing: FixedKeyHash) -> Words:
    """Both children of every node: (groups, m, 2) becomes (groups, 2, m, 2)."""
    tweaks = np.arange(1, 3, dtype=np.uint64)[None, :, None, None]
    return hashing(np.ascontiguousarray(nodes[:, None] ^ tweaks))


def _leaves(base: BaseSent, hashing: FixedKeyHash) -> tuple[Words, Words]:
    """The seeds of every group (groups, 2^GROUP, 2), and the levels' sums under the base keys.

    The first level is the base keys themselves. Seed x is reached by the bits of x, lowest level first.
    """
    keys = base.keys.reshape(2, GROUPS, GROUP, 2)
    nodes = np.stack([keys[0, :, 0], keys[1, :, 0]], axis=1)
    opened = np.empty((GROUP - 1, 2, GROUPS, 2), np.uint64)
    for level in range(1, GROUP):
        children = _children(nodes, hashing)
        sums = np.bitwise_xor.reduce(children, axis=2)
        opened[level - 1] = sums.transpose(1, 0, 2) ^ keys[:, :, level]
        nodes = children.reshape(GROUPS, -1, 2)
    return nodes, opened.reshape(-1)


def _punctured_leaves(base: BaseReceived, opened: Words, hashing: FixedKeyHash) -> tuple[Words, Bytes]:
    """All seeds but one of every group, and which one is missing: the complement of the base choices."""
    keys = base.keys.reshape(GROUPS, GROUP, 2)
    choices = base.choices.reshape(GROUPS, GROUP)
    every = np.arange(GROUPS)
    nodes = np.zeros((GROUPS, 2, 2), np.uint64)
    nodes[every, choices[:, 0]] = keys[:, 0]
    hole = 1 - choices[:, 0]
    for level in range(1, GROUP):
        size = 1 << level
        children = _children(nodes, hashing)
        side = choices[:, level]
        children[every, :, hole] = 0
        known = np.bitwise_xor.reduce(children[every, side], axis=1)
        children[every, side, hole] = opened[level - 1, side, every] ^ keys[:, level] ^ known
        nodes = children.reshape(GROUPS, 2 * size, 2)
        hole = hole + size * (1 - side)
    return nodes, hole.astype(np.uint8)
