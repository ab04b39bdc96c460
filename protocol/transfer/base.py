"""The 128 oblivious transfers everything else grows from (Chou and Orlandi, "The Simplest Protocol for OT", 2015).

Over the prime-order group of ed25519. Keys are hashed with the offer and the answer, and the points a peer sends are
checked to be in the group before they are used.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from nacl import bindings as group

from mixbayes.protocol.arrays import Bits, Bytes, Words
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import BadGroupElement
from mixbayes.protocol.randomness import Randomness

COUNT = 128
POINT_BYTES = group.crypto_core_ed25519_BYTES
_BLOCK = 16


@dataclass(frozen=True, slots=True, repr=False)
class BaseSent:
    """Both keys of every transfer, (2, 128, 2) words."""

    keys: Words


@dataclass(frozen=True, slots=True, repr=False)
class BaseReceived:
    """The choices (128,), and the chosen keys (128, 2) words."""

    choices: Bits
    keys: Words


def send_base(channel: Channel, random: Randomness) -> BaseSent:
    """The sender ends with two random keys a transfer."""
    secret = _scalar(random)
    offer = group.crypto_scalarmult_ed25519_base_noclamp(secret)
    channel.send("base OT: offer", offer)
    answers = _points(channel, "base OT: answers", COUNT)
    taken = group.crypto_scalarmult_ed25519_noclamp(secret, offer)
    keys = np.empty((2, COUNT, 2), np.uint64)
    for i, answer in enumerate(answers):
        shared = group.crypto_scalarmult_ed25519_noclamp(secret, answer)
        keys[0, i] = _key(i, offer, answer, shared)
        keys[1, i] = _key(i, offer, answer, group.crypto_core_ed25519_sub(shared, taken))
    return BaseSent(keys)


def receive_base(channel: Channel, random: Randomness) -> BaseReceived:
    """The receiver ends with one of the two, by random choices the sender does not see."""
    (offer,) = _points(channel, "base OT: offer", 1)
    choices = random.bits(COUNT)
    secrets = [_scalar(random) for _ in range(COUNT)]
    answers = [_answer(secret, offer, bool(choice)) for secret, choice in zip(secrets, choices, strict=True)]
    channel.send("base OT: answers", b"".join(answers))
    keys = np.empty((COUNT, 2), np.uint64)
    for i, (secret, answer) in enumerate(zip(secrets, answers, strict=True)):
        keys[i] = _key(i, offer, answer, group.crypto_scalarmult_ed25519_noclamp(secret, offer))
    return BaseReceived(choices, keys)


def _answer(secret: bytes, offer: bytes, choice: bool) -> bytes:
    # Both candidates are computed, so that the time taken does not tell the choice.
    plain = group.crypto_scalarmult_ed25519_base_noclamp(secret)
    return (plain, group.crypto_core_ed25519_add(plain, offer))[choice]


def _scalar(random: Randomness) -> bytes:
    return group.crypto_core_ed25519_scalar_reduce(random.bytes(64))


def _points(channel: Channel, step: str, count: int) -> list[bytes]:
    raw: Bytes = channel.receive(step, count * POINT_BYTES)
    points = [row.tobytes() for row in raw.reshape(count, POINT_BYTES)]
    if not all(group.crypto_core_ed25519_is_valid_point(point) for point in points):
        raise BadGroupElement(channel.peer, step, "a point is not in the prime-order group")
    return points


def _key(index: int, offer: bytes, answer: bytes, shared: bytes) -> Words:
    digest = hashlib.blake2b(
        offer + answer + shared, digest_size=_BLOCK, person=b"mixbayes base OT", salt=index.to_bytes(16, "little")
    )
    return np.frombuffer(digest.digest(), np.uint64)
