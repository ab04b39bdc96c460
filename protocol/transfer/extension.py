"""OT extension: any number of random oblivious transfers (OT) from 128 base ones (SoftSpokenOT, Roy, CRYPTO 2022).

Each party holds a matrix of 128 columns with a row for each transfer. The receiver knows a row t and a choice bit for
every transfer. The sender knows a row q for every transfer, and one secret row Δ for all of them. In every row
q = t ⊕ choice·Δ. This is a correlated OT. A hash of the rows breaks the correlation: the sender's pads are H(q) and
H(q ⊕ Δ), and the receiver's H(t) is the one of its choice.

The 128 columns are taken in groups of equal size (`Grouping`). For each group of g columns the receiver holds 2^g
seeds r_x. The sender holds all of them except the one whose number is the group's part of Δ (small-field VOLE, figure 7
of the paper). In the next line Δ is that part, sums are over all x, and addition is XOR:

    receiver:  t  = Σ x·r_x,  u = Σ r_x ⊕ choice         sender:  q = Σ (x ⊕ Δ)·r_x ⊕ Δ·u = t ⊕ choice·Δ

The sender's sum does not need the seed it lacks, because x ⊕ Δ is zero there. The receiver sends the correction u, one
bit for a group and transfer, where IKNP (Ishai, Kilian, Nissim and Petrank, CRYPTO 2003) sends one bit for a column and
transfer; with groups of one column this is IKNP. The sender lacks one seed of a group because the group's seeds are the
leaves of a GGM tree (Goldreich, Goldwasser and Micali): the base transfers, one for each level, hand it a punctured
PRF, which is all leaves but one (figure 13).

A receiver that uses different choices in different groups would learn Δ, and with Δ all pads. Therefore every stretch
of transfers has the consistency check of section 4, a universal linear hash of every column. Ours is GHASH. The columns
carry 128 transfers more than are used, so that the hash of the choices shows nothing about those that are.

We depart from the paper in two points:

- The sender does not draw the key of the check. The key is a hash of the session's key, the trees and all corrections
  that the receiver has sent so far (the Fiat-Shamir transform, as Doerner, Kondi, Lee and shelat apply it in S&P 2024,
  section 5.1). So the check takes no round of its own, and two parties that send to each other do not wait for each
  other. A receiver can try corrections until it likes the key. Two different columns of 2^17 transfers collide under
  fewer than 2^11 of the 2^128 keys, so 2^64 tries find such a key with a probability below 2^-53.
- Nothing checks the sums by which the trees are opened (figure 14 does). A receiver that sends wrong sums makes columns
  of the sender random. It then passes the check of the columns only by guessing bits of Δ. An honest opening leaves it
  the same chance.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from mixbayes.protocol.arrays import Bits, Bytes, Words
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import CheatingReceiver
from mixbayes.protocol.randomness import Randomness, key_stream
from mixbayes.protocol.transfer.pads import KEY_BYTES, FixedKeyHash, TransferHash, long_hash, tree_hash

if TYPE_CHECKING:  # what they are made with is slow to import, and sizes are needed without it
    from mixbayes.protocol.transfer.base import BaseReceived, BaseSent

COLUMNS = 128
UNIT = 128
"""Stretches are multiples of this number of transfers."""
STRETCH = 1 << 17
"""Transfers made at a time: long enough to pay for the check and the column streams, short enough for the cache."""
BLOCK_WORDS = 256
"""Words of a column that are transposed at a time."""
HASH_KEY, TREES = "OT extension: hash key", "OT extension: trees"
CORRECTIONS, CHECK = "OT extension: corrections", "OT extension: check"
_TAG = 16
PROOF_BYTES = (COLUMNS + 1) * _TAG
_NONCE = bytes(12)
_LEAF_WORDS = 1 << 15
"""Words of the column streams drawn at a time: a quarter of a megabyte."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """How the columns are grouped. Larger groups need fewer bytes, and more AES."""

    size: int
    """Columns of a group: a power of two."""

    @property
    def count(self) -> int:
        """The number of groups."""
        return COLUMNS // self.size

    @property
    def leaves(self) -> int:
        """The seeds of a group."""
        return 1 << self.size

    @property
    def opening_bytes(self) -> int:
        """The size of the message that opens the trees."""
        return (self.size - 1) * 2 * self.count * 16

    def correction_bytes(self, count: int) -> int:
        """The size of the corrections for `count` transfers."""
        return self.count * (count + UNIT) // 8


PAIRS = Grouping(2)
"""64 bits a transfer, and the least time where a link costs nothing."""
FOURS = Grouping(4)
"""32 bits a transfer."""


@dataclass(frozen=True, slots=True, repr=False)
class Sent:
    """The sender's part of n random transfers: both pads of each, (2, n, 2) words."""

    pads: Words


@dataclass(frozen=True, slots=True, repr=False)
class Received:
    """The receiver's part of n random transfers: its choices (n,) and the chosen pads (n, 2)."""

    choices: Bits
    pads: Words


@dataclass(frozen=True, slots=True, repr=False)
class StartedStretch:
    """A stretch at the receiver whose messages are made and whose pads are not: packed choices, and columns t."""

    count: int
    choices: Words
    columns: Words
    corrections: Bytes
    proof: Bytes
    """The hashes of the columns, and that of the choices."""

    def send(self, channel: Channel) -> None:
        """Send what the sender needs for its columns, and for their check."""
        channel.send(CORRECTIONS, self.corrections)
        channel.send(CHECK, self.proof)


class Challenges:
    """The keys of one session's checks, one for each stretch. Both ends compute them."""

    def __init__(self, key: bytes, trees: Bytes) -> None:
        self._heard = _digest(key + trees.tobytes())

    def next(self, corrections: Bytes) -> bytes:
        """The key that checks the columns of these corrections."""
        self._heard = _digest(self._heard + _digest(corrections.data))
        return self._heard[:KEY_BYTES]


def _digest(content: bytes | memoryview) -> bytes:
    return hashlib.sha256(content).digest()


class SenderExtension:
    """Makes transfers of which this party knows both pads."""

    def __init__(self, base: BaseReceived, channel: Channel, random: Randomness, grouping: Grouping = PAIRS) -> None:
        self.key = random.bytes(KEY_BYTES)
        channel.send(HASH_KEY, self.key)
        self._hash = TransferHash(self.key)
        self.long_hash = long_hash(self.key)
        self._grouping = grouping
        trees = channel.receive(TREES, grouping.opening_bytes)
        sums = trees.view(np.uint64).reshape(grouping.size - 1, 2, grouping.count, 2)
        seeds, punctured = _punctured_leaves(base, sums, tree_hash(self.key))
        # Δ is, group by group, the number of the leaf that the sender lacks.
        self._delta_bits = ((punctured[:, None] >> np.arange(grouping.size)) & 1).astype(np.uint8).reshape(-1)
        self.delta = np.packbits(self._delta_bits, bitorder="little").view(np.uint64)
        # An array of equal rows is added several times faster than one row that numpy repeats.
        self._deltas = np.tile(self.delta, (64 * BLOCK_WORDS + 1, 1))
        # Seeds in the order of y = x ⊕ Δ, so that the missing one is number 0 in every group.
        numbers = range(1, grouping.leaves)
        known = [[seeds[g, y ^ int(punctured[g])] for y in numbers] for g in range(grouping.count)]
        self._leaves = _LeafStreams(known)
        self._challenges = Challenges(self.key, trees)
        self._transposer = Transposer()

    def make(self, channel: Channel, count: int, pads: Words) -> None:
        """Fill `pads` (2, count + 1, 2) with `count` transfers; the last row is room for the cipher."""
        for start, block in _blocks(self._checked_columns(channel, count), count):
            self._hash_block(block, pads, start)

    def correlated(self, channel: Channel, count: int) -> Words:
        """The rows q (count, 2) of `count` correlated transfers, which are not hashed."""
        rows = np.empty((count, 2), np.uint64)
        for start, block in _blocks(self._checked_columns(channel, count), count):
            self._transposer.block(block, rows[start : start + 64 * block.shape[1]])
        return rows

    def _checked_columns(self, channel: Channel, count: int) -> Words:
        corrections = channel.receive(CORRECTIONS, self._grouping.correction_bytes(count))
        proof = channel.receive(CHECK, PROOF_BYTES).reshape(COLUMNS + 1, _TAG)
        q = self._columns(corrections.view(np.uint64).reshape(self._grouping.count, -1), count + UNIT)
        # Now q = t ⊕ choice·Δ, column by column, if the receiver is honest.
        self._verify(channel.peer, self._challenges.next(corrections), q, proof)
        return q

    def _columns(self, corrections: Words, count: int) -> Words:
        """q = Σ y·r_y ⊕ Δ·u with y = x ⊕ Δ: bit j of every group is one column."""
        size = self._grouping.size
        q = np.empty((self._grouping.count, size, count // 64), np.uint64)
        delta = -self._delta_bits.astype(np.uint64).reshape(-1, size, 1)  # all ones, or all zeros
        for groups, leaves in self._leaves.next(count // 64):
            for j in range(size):
                # Leaf y stands at y − 1: number 0 is missing, and nothing needs it.
                _xor_sum([leaves[:, y - 1] for y in range(self._grouping.leaves) if y >> j & 1], q[groups, j])
                np.bitwise_xor(q[groups, j], corrections[groups] & delta[groups, j], out=q[groups, j])
        return q.reshape(COLUMNS, -1)

    def _hash_block(self, columns: Words, pads: Words, start: int) -> None:
        size = 64 * columns.shape[1]
        zero, one = pads[0, start : start + size + 1], pads[1, start : start + size + 1]
        rows = np.empty((2, size + 1, 2), np.uint64)
        self._transposer.block(columns, rows[0, :-1])
        np.bitwise_xor(rows[0], self._deltas[: size + 1], out=rows[1])
        # Now these are q and q ⊕ Δ. One of the two is the receiver's t.
        self._hash.absorb([(rows[0], zero), (rows[1], one)])

    def _verify(self, peer: str, key: bytes, q: Words, proof: Bytes) -> None:
        """The hash is linear, so q = t ⊕ choice·Δ holds for the hashes if it holds for the columns."""
        of_t, of_choices = proof[:COLUMNS], proof[COLUMNS]
        expected = of_t ^ (self._delta_bits[:, None] * of_choices)
        if not np.array_equal(column_hashes(key, q), expected):
            raise CheatingReceiver(peer, CHECK, "its choices differ from column to column")


class ReceiverExtension:
    """Makes transfers of which this party knows one pad each, by random choices of its own."""

    def __init__(self, base: BaseSent, channel: Channel, random: Randomness, grouping: Grouping = PAIRS) -> None:
        self.key = channel.receive(HASH_KEY, KEY_BYTES).tobytes()
        self._hash = TransferHash(self.key)
        self.long_hash = long_hash(self.key)
        self._grouping = grouping
        seeds, sums = _all_leaves(base, tree_hash(self.key), grouping)
        trees = sums.view(np.uint8)
        channel.send(TREES, trees)
        self._leaves = _LeafStreams([list(group) for group in seeds])
        self._challenges = Challenges(self.key, trees)
        self._random = random
        self._transposer = Transposer()

    def start(self, count: int) -> StartedStretch:
        """Draw the choices of the next stretch, and make what the sender needs for its columns and for their check."""
        words = (count + UNIT) // 64
        choices = self._random.words(words)
        groups = np.empty((self._grouping.count, words), np.uint64)
        columns = self._columns(choices, groups)
        corrections = groups.reshape(-1).view(np.uint8)
        proof = self._proof(self._challenges.next(corrections), columns, choices)
        return StartedStretch(count, choices, columns, corrections, proof)

    def finish(self, started: StartedStretch, choices: Bits, pads: Words) -> None:
        """Fill `choices` (count,) and `pads` (count + 1, 2) of a stretch that has been sent."""
        for start, block in _blocks(started.columns, started.count):
            size = 64 * block.shape[1]
            choices[start : start + size] = choices_in_order(started.choices[start // 64 :][: block.shape[1]])
            self._hash_block(block, pads[start : start + size + 1])

    def correlated(self, started: StartedStretch) -> tuple[Bits, Words]:
        """The choices (count,) and the rows t (count, 2) of a stretch that has been sent, not hashed."""
        choices, rows = np.empty(started.count, np.uint8), np.empty((started.count, 2), np.uint64)
        for start, block in _blocks(started.columns, started.count):
            part = slice(start, start + 64 * block.shape[1])
            choices[part] = choices_in_order(started.choices[start // 64 :][: block.shape[1]])
            self._transposer.block(block, rows[part])
        return choices, rows

    def make(self, channel: Channel, count: int, choices: Bits, pads: Words) -> None:
        """Start a stretch, send it, and finish it."""
        started = self.start(count)
        started.send(channel)
        self.finish(started, choices, pads)

    def _columns(self, choices: Words, corrections: Words) -> Words:
        """t = Σ x·r_x, and into `corrections` u = Σ r_x ⊕ choice."""
        size, numbers = self._grouping.size, range(self._grouping.leaves)
        t = np.empty((self._grouping.count, size, choices.size), np.uint64)
        for groups, leaves in self._leaves.next(choices.size):
            for j in range(size):
                _xor_sum([leaves[:, x] for x in numbers if x >> j & 1], t[groups, j])
            # Column 0 is the sum over odd x, so the even ones complete it to the sum over all.
            even = [leaves[:, x] for x in numbers[::2]]
            _xor_sum([t[groups, 0], choices[None], *even], corrections[groups])
        return t.reshape(COLUMNS, -1)

    def _hash_block(self, columns: Words, pads: Words) -> None:
        rows = np.empty((64 * columns.shape[1] + 1, 2), np.uint64)
        self._transposer.block(columns, rows[:-1])
        self._hash.absorb([(rows, pads)])

    def _proof(self, key: bytes, t: Words, packed: Words) -> Bytes:
        # `column_hashes` adds one constant to every hash. It cancels between q and t; here it is taken out.
        zeros = np.zeros_like(packed)
        of_choices = column_hashes(key, packed[None]) ^ column_hashes(key, zeros[None])
        return np.concatenate([column_hashes(key, t), of_choices])


def correction_bytes(count: int) -> int:
    """The size of the corrections for `count` transfers, in groups of two columns."""
    return PAIRS.correction_bytes(count)


def column_hashes(key: bytes, columns: Words) -> Bytes:
    """GHASH of every column, plus one constant: the tag of AES-GCM over the column as associated data."""
    tag_of = AESGCM(key).encrypt
    tags = b"".join([tag_of(_NONCE, b"", column) for column in columns.view(np.uint8)])
    return np.frombuffer(tags, np.uint8).reshape(-1, _TAG)


# The trees: from base transfers to seeds. Level 1 of a group's tree is the two keys of its first base transfer. Every
# node has two children, which are hashes of it. The receiver of the extension, which was the sender of the base
# transfers and knows both keys, knows the whole tree. It sends for every further level the sum of all left children
# under one key of that level's base transfer, and the sum of all right children under the other. The sender of the
# extension can read one of the two sums. It knows all nodes of a level except one, and so all children except two. The
# sum that it can read gives it one of these two. So it lacks one node at every level.


def _children(nodes: Words, hashing: FixedKeyHash) -> Words:
    """Both children of every node: (groups, m, 2) becomes (groups, 2, m, 2)."""
    tweaks = np.arange(1, 3, dtype=np.uint64)[None, :, None, None]
    return hashing(np.ascontiguousarray(nodes[:, None] ^ tweaks))


def _all_leaves(base: BaseSent, hashing: FixedKeyHash, grouping: Grouping) -> tuple[Words, Words]:
    """The seeds of every group (groups, leaves, 2), and the sums of the levels' children under the base keys.

    The bits of x lead from the first level to seed x, the lowest bit first.
    """
    size, groups = grouping.size, grouping.count
    keys = base.keys.reshape(2, groups, size, 2)
    nodes = np.stack([keys[0, :, 0], keys[1, :, 0]], axis=1)
    masked_sums = np.empty((size - 1, 2, groups, 2), np.uint64)
    for level in range(1, size):
        children = _children(nodes, hashing)
        sums = np.bitwise_xor.reduce(children, axis=2)
        masked_sums[level - 1] = sums.transpose(1, 0, 2) ^ keys[:, :, level]
        # Child `side` of node m becomes node m + 2^level·side of the next level.
        nodes = children.reshape(groups, -1, 2)
    return nodes, masked_sums.reshape(-1)


def _punctured_leaves(base: BaseReceived, masked_sums: Words, hashing: FixedKeyHash) -> tuple[Words, Bytes]:
    """All seeds of every group but one, and the number of that one: the complement of the base choices."""
    depth, groups = len(masked_sums) + 1, masked_sums.shape[2]
    keys = base.keys.reshape(groups, depth, 2)
    choices = base.choices.reshape(groups, depth)
    every = np.arange(groups)
    nodes = np.zeros((groups, 2, 2), np.uint64)
    nodes[every, choices[:, 0]] = keys[:, 0]
    punctured = 1 - choices[:, 0]
    for level in range(1, depth):
        size = 1 << level
        children = _children(nodes, hashing)
        side = choices[:, level]
        # Both children of the missing node are unknown. What was computed for them is meaningless.
        children[every, :, punctured] = 0
        known = np.bitwise_xor.reduce(children[every, side], axis=1)
        children[every, side, punctured] = masked_sums[level - 1, side, every] ^ keys[:, level] ^ known
        # Now only the child on the other side is missing.
        nodes = children.reshape(groups, 2 * size, 2)
        punctured = punctured + size * (1 - side)
    return nodes, punctured.astype(np.uint8)


class _LeafStreams:
    """The streams r_x of every group by AES-CTR, drawn a few groups at a time so that they stay in the cache."""

    def __init__(self, seeds: list[list[Words]]) -> None:
        self._streams = [key_stream(seed.tobytes()) for group in seeds for seed in group]
        self._leaves = len(seeds[0])
        self._buffer = np.empty(0, np.uint64)

    def next(self, words: int) -> Iterator[tuple[slice, Words]]:
        """The next `words` of every stream: some groups, and their (groups, leaves, words)."""
        count = len(self._streams) // self._leaves
        together = max(1, _LEAF_WORDS // (self._leaves * words))
        zeros = memoryview(bytes(8 * words))
        for first in range(0, count, together):
            groups = slice(first, min(first + together, count))
            rows = self._room((groups.stop - groups.start) * self._leaves, words)
            streams = self._streams[groups.start * self._leaves : groups.stop * self._leaves]
            for stream, row in zip(streams, rows.view(np.uint8), strict=True):
                stream.update_into(zeros, row.data)
            yield groups, rows.reshape(-1, self._leaves, words)

    def _room(self, rows: int, words: int) -> Words:
        if self._buffer.size < rows * words:
            self._buffer = np.empty(rows * words, np.uint64)
        return self._buffer[: rows * words].reshape(rows, words)


def _xor_sum(terms: list[Words], out: Words) -> None:
    np.copyto(out, terms[0])
    for term in terms[1:]:
        np.bitwise_xor(out, term, out=out)


def _blocks(columns: Words, count: int) -> list[tuple[int, Words]]:
    """The columns in blocks that fit the cache, each with the number of its first transfer."""
    words = count // 64
    return [(64 * start, columns[:, start : min(start + BLOCK_WORDS, words)]) for start in range(0, words, BLOCK_WORDS)]


# The transposition: from 128 columns of bits to one 128-bit row for each transfer. An array of columns has one column
# in each of its rows, 64 transfers to a word. Butterflies on 64-bit words (Hacker's Delight, 7-3) take a few numpy
# calls each. On arrays that stay in the cache they are several times faster than on larger ones, hence `BLOCK_WORDS`.

_STAGES = [
    (np.uint64(distance), np.uint64(sum(1 << i for i in range(64) if not i & distance)))
    for distance in (32, 16, 8, 4, 2, 1)
]
_POSITIONS = np.arange(64, dtype=np.uint64)[:, None]


class Transposer:
    """Transposes blocks of columns. It owns the scratch memory of one thread."""

    def __init__(self) -> None:
        self._columns = np.empty(COLUMNS * BLOCK_WORDS, np.uint64)
        self._half = np.empty(COLUMNS * BLOCK_WORDS // 2, np.uint64)

    def block(self, columns: Words, out: Words) -> None:
        """Transpose `columns` (128, w), w at most `BLOCK_WORDS`, into `out` (64·w, 2).

        Transfer 64·j + i of the columns becomes row i·w + j. This is the order in which butterflies leave the rows, and
        for random transfers it is as good as any other. `choices_in_order` puts the choice bits in the same order.
        """
        width = columns.shape[1]
        scratch = self._columns[: COLUMNS * width].reshape(COLUMNS, width)
        np.copyto(scratch, columns)
        for distance, low in _STAGES:
            # Every stage exchanges one bit of a column's number (modulo 64) with the same bit of a position in words.
            self._swap(scratch, int(distance), distance, low)
        # Now word j of scratch row i holds 64 bits of transfer 64·j + i: of columns 0–63, or of 64–127 in row 64 + i.
        halves = scratch.reshape(2, 64 * width)
        out[:, 0] = halves[0]
        out[:, 1] = halves[1]

    def _swap(self, scratch: Words, distance: int, shift: np.uint64, low: np.uint64) -> None:
        """Exchange the high parts of the upper rows with the low parts of the lower ones, `distance` rows apart."""
        pairs = scratch.reshape(COLUMNS // (2 * distance), 2, distance, -1)
        upper, lower = pairs[:, 0], pairs[:, 1]
        moved = self._half[: upper.size].reshape(upper.shape)
        # Now moved = (upper's high part) ⊕ (lower's low part); XOR into both exchanges them.
        np.right_shift(upper, shift, out=moved)
        np.bitwise_xor(moved, lower, out=moved)
        np.bitwise_and(moved, low, out=moved)
        np.bitwise_xor(lower, moved, out=lower)
        np.left_shift(moved, shift, out=moved)
        np.bitwise_xor(upper, moved, out=upper)


def choices_in_order(packed: Words) -> Bits:
    """The choice bits of one block of w words, in the order of `Transposer.block`."""
    bits = (packed[None, :] >> _POSITIONS) & np.uint64(1)
    return bits.astype(np.uint8).reshape(-1)
