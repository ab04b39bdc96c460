"""The 128 base transfers from which all others grow (Chou and Orlandi, "The Simplest Protocol for OT", 2015).

In an oblivious transfer (OT), a sender has two strings and a receiver has a bit: the receiver learns the string that
its bit chooses and nothing of the other, and the sender learns nothing of the bit. These are random OTs: the strings
are keys that come out of the protocol, and the receiver draws its bits at random.

The protocol is a Diffie-Hellman key exchange over the prime-order group of ed25519 with base point G. The sender offers
S = s·G. The receiver answers R = r·G for choice 0, or r·G + S for choice 1. The receiver's key is r·S. The sender's
keys are s·R and s·R − s·S: the first equals r·S if the choice was 0, the second if it was 1. All keys are hashed
together with the offer and the answer. Points that a peer sends are checked to be in the group before they are used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
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
    """What the sender ends with: both keys of every transfer, (2, 128, 2) words."""

    keys: Words


@dataclass(frozen=True, slots=True, repr=False)
class BaseReceived:
    """What the receiver ends with: its choices (128,) and the chosen keys, (128, 2) words."""

    choices: Bits
    keys: Words


def _nothing() -> None:
    pass


def send_base(channel: Channel, random: Randomness, meanwhile: Callable[[], None] = _nothing) -> BaseSent:
    """The sender's side. It ends with two random keys for every transfer.

    `meanwhile` receives what the other end sends before its answers, once the offer is on its way.
    """
    secret = _scalar(random)
    offer = group.crypto_scalarmult_ed25519_base_noclamp(secret)
    channel.send("base OT: offer", offer)
    meanwhile()
    answers = _points(channel, "base OT: answers", COUNT)
    offset = group.crypto_scalarmult_ed25519_noclamp(secret, offer)  # s·S
    keys = np.empty((2, COUNT, 2), np.uint64)
    for i, answer in enumerate(answers):
        # s·R is r·S if the choice was 0, and r·S + s·S if it was 1.
        shared = group.crypto_scalarmult_ed25519_noclamp(secret, answer)
        keys[0, i] = _key(i, offer, answer, shared)
        keys[1, i] = _key(i, offer, answer, group.crypto_core_ed25519_sub(shared, offset))
    return BaseSent(keys)


def receive_base(channel: Channel, random: Randomness) -> BaseReceived:
    """The receiver's side. It ends with one of the two keys, by random choices that the sender does not see."""
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
    # Both candidates are computed, so that the time taken does not depend on the choice.
    plain = group.crypto_scalarmult_ed25519_base_noclamp(secret)
    return (plain, group.crypto_core_ed25519_add(plain, offer))[choice]


def _scalar(random: Randomness) -> bytes:
    # 64 bytes reduced modulo the 253-bit order of the group are uniform up to a negligible bias.
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
