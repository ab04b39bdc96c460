"""Silent transfers: many correlated transfers from few, for a message that hardly grows with their number.

This is Ferret (Yang, Weng, Lan, Zhang and Wang, CCS 2020) with the trees of Half-Tree (Guo et al., EUROCRYPT 2023). An
iteration takes correlated transfers q = t ⊕ choice·Δ and makes `LpnSizes.outputs` new ones under the same Δ:

1. *Trees.* The sender opens one tree for each bin of the noise (`half_tree`). The leaves are equal at both ends, but
   for one in each tree that the receiver's random choices name, where they differ by Δ. So the leaves are correlated
   transfers whose choices are the noise e.
2. *Check.* The receiver draws the key of a universal hash, GHASH, and both ends hash their leaves. The hashes differ by
   the hash of e times Δ. The receiver tells the hash of e, masked by the choices of 128 transfers, and the sender
   answers with a digest of what it expects the receiver to have.
3. *Expansion.* A public sparse matrix A (`local_code`) combines k further transfers, whose choices are the secret s.
   The sum with the leaves is a correlated transfer with choice A·s ⊕ e. These choices look random by the assumption in
   `lpn`, and nobody sends anything for them. Blocks are expanded as they are needed. The last of an iteration are the
   correlated transfers that the next one takes.

The lowest bit of a row carries the choice: Δ has a one there, every q a zero, and every t its choice. So combining rows
combines choices too. This costs one of the 128 secret bits of Δ.

The first iteration takes its transfers from the extension, whose check covers them. The sender of trees can lie about
them, and passes the check only by guessing parts of the places of the noise: a lie about level i of a tree passes with
probability 2^-(i − 1), and then shows the sender i − 1 bits of a place. The protocol of Ferret allows this too. The
receiver sends nothing but the key and the masked hash. A false hash makes the sender hash a value that depends on Δ,
which tells whether one guess of 127 bits of Δ was right.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np

from mixbayes.protocol.arrays import Bits, Bytes, Words, blocks_of, slices
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import CheatingSender, LocalError
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.shares import A
from mixbayes.protocol.transfer.extension import UNIT, ReceiverExtension, SenderExtension, column_hashes
from mixbayes.protocol.transfer.field import (
    BLOCK_BYTES,
    ONE,
    block_of,
    combined,
    element,
    element_of_bits,
    product,
)
from mixbayes.protocol.transfer.half_tree import Splitter, all_leaves, punctured_leaves
from mixbayes.protocol.transfer.local_code import ROWS, LocalCode
from mixbayes.protocol.transfer.lpn import LpnSizes
from mixbayes.protocol.transfer.pads import KEY_BYTES, TransferHash, silent_tree_hash

SUMS, QUESTION, ANSWER = "silent OT: trees", "silent OT: key of the check", "silent OT: check"
ANSWER_BYTES = 32
TREES_TOGETHER = 256
"""Trees that are made at a time. They fit the cache."""
_BIT = np.uint64(1)


class _Leaves:
    """The leaves of one direction: of some trees after the other, each time as (2^depth, trees, 2)."""

    def __init__(self, sizes: LpnSizes, key: bytes) -> None:
        self._sizes = sizes
        self._key, self._iteration = key, 0
        self.rows = np.empty((sizes.outputs, 2), np.uint64)
        most = min(TREES_TOGETHER, sizes.trees) << sizes.depth >> 1
        self.splitter = Splitter(silent_tree_hash(key, 0), most)

    def parts(self) -> Iterator[tuple[slice, Words]]:
        """The trees of the next iteration, some at a time, and where their leaves stand."""
        depth = self._sizes.depth
        self.splitter.hashing = silent_tree_hash(self._key, self._iteration)
        self._iteration += 1
        for trees in slices(self._sizes.trees, TREES_TOGETHER):
            rows = self.rows[trees.start << depth : trees.stop << depth]
            yield trees, rows.reshape(1 << depth, -1, 2)


class SilentSender:
    """One direction at the sender, which knows Δ."""

    def __init__(self, key: bytes, delta: Words, sizes: LpnSizes) -> None:
        self._sizes = sizes
        self._delta = delta | np.array([1, 0], np.uint64)
        # An array of equal rows is added several times faster than one row that numpy repeats.
        self._deltas = np.tile(self._delta, (ROWS + 1, 1))
        self._leaves = _Leaves(sizes, key)
        self._hash = TransferHash(key, "silent transfers")

    @property
    def leaves(self) -> Words:
        return self._leaves.rows

    def open(self, q: Words, random: Randomness) -> Words:
        """Make the trees. Returns the message that opens them: the left sums of each level, masked by its rows q."""
        roots = random.words(self._sizes.trees, 2)
        masked = q.reshape(self._sizes.depth, -1, 2).copy()
        for trees, leaves in self._leaves.parts():
            masked[:, trees] ^= all_leaves(self._leaves.splitter, roots[trees], self._delta, leaves)
        self.leaves[:, 0] &= ~_BIT
        return masked

    def answer(self, question: Bytes, q: Words) -> bytes:
        """A digest of the hash that the receiver must have of its leaves."""
        key, masked = question[:KEY_BYTES].tobytes(), element(question[KEY_BYTES:])
        return _digest(_hash_of(key, self.leaves) ^ combined(q) ^ product(masked, element(self._delta)))

    def finish(self, rows: Words, pads: Words) -> None:
        """Hash rows (n, 2) to both pads (2, n + 1, 2) of each transfer."""
        both = np.empty((2, len(rows) + 1, 2), np.uint64)
        blocks_of(both[0])[:-1] = blocks_of(rows)
        np.bitwise_xor(both[0], self._deltas[: len(rows) + 1], out=both[1])
        self._hash.absorb([(both[0], pads[0]), (both[1], pads[1])])


class SilentReceiver:
    """One direction at the receiver, whose choices are the noise and the secret."""

    def __init__(self, key: bytes, sizes: LpnSizes) -> None:
        self._sizes = sizes
        self._leaves = _Leaves(sizes, key)
        self._hash = TransferHash(key, "silent transfers")

    @property
    def leaves(self) -> Words:
        return self._leaves.rows

    def grow(self, t: Words, masked: Words) -> None:
        """Make the trees from the sender's message."""
        sums = masked ^ t.reshape(masked.shape)
        choices = (t[:, 0] & _BIT).astype(np.uint8).reshape(sums.shape[:2])
        self._places = np.empty(self._sizes.trees, np.intp)
        for trees, leaves in self._leaves.parts():
            inside = punctured_leaves(self._leaves.splitter, choices[:, trees], sums[:, trees], leaves)
            numbers = np.arange(leaves.shape[1])
            self._places[trees] = (trees.start << self._sizes.depth) + inside * leaves.shape[1] + numbers
        self.leaves[:, 0] &= ~_BIT
        self.leaves[self._places, 0] |= _BIT

    def question(self, t: Words, random: Randomness) -> bytes:
        """The key of the check, which the sender could not know before, and the masked hash of the noise."""
        key = random.bytes(KEY_BYTES)
        self._expected = _digest(_hash_of(key, self.leaves) ^ combined(t))
        mask = element_of_bits((t[:, 0] & _BIT).astype(np.uint8))
        return key + block_of(self._hash_of_noise(key) ^ mask)

    def verify(self, peer: str, answer: Bytes) -> None:
        if answer.tobytes() != self._expected:
            raise CheatingSender(peer, ANSWER, "its trees do not fit its other messages")

    def finish(self, rows: Words, choices: Bits, pads: Words) -> None:
        """Take the choices (n,) out of rows (n, 2), and hash them to the pads (n + 1, 2)."""
        choices[:] = rows[:, 0] & _BIT
        with_room = np.empty((len(rows) + 1, 2), np.uint64)
        blocks_of(with_room)[:-1] = blocks_of(rows)
        self._hash.absorb([(with_room, pads)])

    def _hash_of_noise(self, key: bytes) -> int:
        noise = np.zeros_like(self.leaves)
        # `column_hashes` adds one constant to every hash. It cancels between both ends' leaves; here it is taken out.
        constant = _hash_of(key, noise)
        noise.view(np.uint8)[self._places, 0] = ONE
        return _hash_of(key, noise) ^ constant


class SilentPair:
    """Silent transfers in both directions. Both parties run the same program."""

    def __init__(
        self, role: int, sender: SenderExtension, receiver: ReceiverExtension, random: Randomness, sizes: LpnSizes
    ) -> None:
        self._extensions = sender, receiver
        self._sender = SilentSender(sender.key, sender.delta, sizes)
        self._receiver = SilentReceiver(receiver.key, sizes)
        self._random = random
        self._sizes = sizes
        of_a, of_b = (sender.key, receiver.key) if role == A else (receiver.key, sender.key)
        self._code = LocalCode(hashlib.sha256(b"mixbayes LPN matrix\0" + of_a + of_b).digest()[:KEY_BYTES], sizes)
        self._secret = np.empty((0, 2, 2), np.uint64)
        self._expanded = sizes.outputs

    @property
    def left(self) -> int:
        """The transfers that can be made before the next iteration."""
        return max(0, self._sizes.gained - self._expanded)

    def begin(self, channel: Channel) -> None:
        """Run the next iteration up to the expansion."""
        if self.left:
            raise LocalError("An iteration of silent transfers is begun while transfers of the last one are left.")
        q, t = self._taken(channel)
        secret, levels = slice(self._sizes.secret), slice(self._sizes.secret, self._sizes.secret + self._sizes.levels)
        self._grow(channel, q[levels], t[levels])
        self._check(channel, q[levels.stop :], t[levels.stop :])
        self._secret = _side_by_side(q[secret], t[secret])
        self._expanded = 0

    def expand(self, count: int, sent: Words, choices: Bits, received: Words) -> None:
        """Make the next `count` transfers: both pads of those sent (2, count + 1, 2), and choices and pads received."""
        if count > self.left:
            raise LocalError(f"{count} silent transfers were asked for where {self.left} are left.")
        for start, rows in self._rows(count):
            stop = start + len(rows)
            self._sender.finish(rows[:, 0], sent[:, start : stop + 1])
            self._receiver.finish(rows[:, 1], choices[start:stop], received[start : stop + 1])

    def _taken(self, channel: Channel) -> tuple[Words, Words]:
        """The rows that the next iteration takes: the last ones of the iteration before, or the extension's."""
        if not len(self._secret):
            return self._bootstrap(channel)
        rows = np.concatenate([block for _, block in self._rows(self._sizes.taken)])
        return np.ascontiguousarray(rows[:, 0]), np.ascontiguousarray(rows[:, 1])

    def _bootstrap(self, channel: Channel) -> tuple[Words, Words]:
        sender, receiver = self._extensions
        taken, made = self._sizes.taken, -(-self._sizes.taken // UNIT) * UNIT
        started = receiver.start(made)
        started.send(channel)
        choices, t = receiver.correlated(started)
        q = sender.correlated(channel, made)
        q[:, 0] &= ~_BIT
        t[:, 0] = (t[:, 0] & ~_BIT) | choices
        return q[:taken], t[:taken]

    def _grow(self, channel: Channel, q: Words, t: Words) -> None:
        masked = self._sender.open(q, self._random)
        channel.send(SUMS, masked.reshape(-1).view(np.uint8))
        theirs = channel.receive(SUMS, masked.nbytes)
        self._receiver.grow(t, theirs.view(np.uint64).reshape(masked.shape))

    def _check(self, channel: Channel, q: Words, t: Words) -> None:
        question = channel.swap(QUESTION, self._receiver.question(t, self._random), KEY_BYTES + BLOCK_BYTES)
        answer = channel.swap(ANSWER, self._sender.answer(question, q), ANSWER_BYTES)
        self._receiver.verify(channel.peer, answer)

    def _rows(self, count: int) -> Iterator[tuple[int, Words]]:
        """The next rows in blocks that fit the cache: q and t side by side, (n, 2, 2)."""
        first = self._expanded
        for part in slices(count, ROWS):
            leaves = slice(first + part.start, first + part.stop)
            rows = _side_by_side(self._sender.leaves[leaves], self._receiver.leaves[leaves])
            self._code.add(self._secret, rows)
            self._expanded = leaves.stop
            yield part.start, rows


def _side_by_side(first: Words, second: Words) -> Words:
    """Two arrays of rows (n, 2) as one (n, 2, 2)."""
    both = np.empty((len(first), 2, 2), np.uint64)
    blocks_of(both)[:, 0], blocks_of(both)[:, 1] = blocks_of(first), blocks_of(second)
    return both


def _hash_of(key: bytes, rows: Words) -> int:
    """The universal hash of all rows together."""
    return element(column_hashes(key, rows.reshape(1, -1)))


def _digest(value: int) -> bytes:
    return hashlib.sha256(b"mixbayes silent OT\0" + block_of(value)).digest()
