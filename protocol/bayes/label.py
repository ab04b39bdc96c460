"""The label, to the hospital that asked and to nobody else."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Bytes, Words, mask
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.channel import Buffer, Channel
from mixbayes.protocol.circuits.argmax import winners, winners_by
from mixbayes.protocol.computing_party import A, ComputingParty
from mixbayes.protocol.errors import OutOfRange
from mixbayes.protocol.packing import pack_words, unpack_words, words_bytes
from mixbayes.protocol.randomness import SEED_BYTES, Randomness

Labels = NDArray[np.int64]
"""Positions of classes."""

Release = Callable[[Bytes], None]
"""What a computing party does with its share of the labels: a node stores it before it sends it."""

STEP = "label"


def decided(me: ComputingParty, scores: Words, model: Model) -> Words:
    """XOR shares of one-hot words of the answers, from shares of the scores (K, n)."""
    if model.margin is None:
        return winners(me, scores, model.width)
    return winners_by(me, scores, model.width, model.margin)


def send(asker: Channel, share: Buffer) -> None:
    """A mixer's blinded share, to the hospital that asked."""
    asker.send(STEP, share)


def blinded(hot: Words, classes: int, blinding: Randomness) -> Bytes:
    """A mixer's share of the one-hot words under a pad that both mixers know and the asker does not.

    The asker then learns the sum of the two shares and nothing about either.
    """
    return pack_words(hot ^ (blinding.words(hot.size) & mask(classes)), classes)


def receive(mixer_a: Channel, mixer_b: Channel, count: int, classes: int) -> Labels:
    """The asker's labels, as positions of classes."""
    first, second = (
        unpack_words(channel.receive(STEP, words_bytes(count, classes)), count, classes, channel.peer, STEP)
        for channel in (mixer_a, mixer_b)
    )
    return opened(first, second, f"{mixer_a.peer} or {mixer_b.peer}")


def opened(first: Words, second: Words, senders: str) -> Labels:
    """The position of the one bit that is set; anything else is not a label."""
    hot = first ^ second
    if ((hot == 0) | (hot & (hot - np.uint64(1)) != 0)).any():
        raise OutOfRange(senders, STEP, "an answer names no class, or several")
    return np.frexp(hot.astype(np.float64))[1].astype(np.int64) - 1


def common_blinding(me: ComputingParty) -> bytes:
    """The seed of the pads of both mixers, which are semi-honest: the hash of two halves, one drawn by each."""
    return start_blinding(me)()


def start_blinding(me: ComputingParty) -> Callable[[], bytes]:
    """Send the own half of that seed. What is returned waits for the other half and gives the seed."""
    mine = me.random.bytes(SEED_BYTES)
    finish = me.channel.start_swap("blinding", mine)

    def seed() -> bytes:
        theirs = finish().tobytes()
        return hashlib.sha256(mine + theirs if me.role == A else theirs + mine).digest()

    return seed


def blinding_for(question: bytes, seed: bytes) -> Randomness:
    """The pad for one question. It depends on nothing else, so a question that one mixer lost shifts no other's."""
    return Randomness(hashlib.sha256(b"mixbayes blinding" + seed + question).digest())


def to_partner(me: ComputingParty, hot: Words, classes: int) -> None:
    """Two hospitals alone: the other one's share, to the one that asked."""
    me.channel.send(STEP, pack_words(hot, classes))


def from_partner(me: ComputingParty, hot: Words, classes: int) -> Labels:
    """Two hospitals alone: the label, at the one that asked."""
    size = words_bytes(hot.size, classes)
    theirs = unpack_words(me.channel.receive(STEP, size), hot.size, classes, me.channel.peer, STEP)
    return opened(hot, theirs, me.channel.peer)


def joined(labels: list[Labels]) -> Labels:
    """The labels of all pieces."""
    return np.concatenate(labels) if labels else np.empty(0, np.int64)
