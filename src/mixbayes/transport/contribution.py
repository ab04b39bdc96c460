"""A hospital's contribution as bytes: the one place that turns the generated message into ours and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from google.protobuf.message import DecodeError

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.errors import OutOfRange, WrongLength
from mixbayes.protocol.randomness import SEED_BYTES
from mixbayes.wire.v1 import contribution_pb2 as wire

ID_BYTES = 16
DIGEST_BYTES = 32
STEP = "contribution"


@dataclass(frozen=True, slots=True, repr=False)
class Contribution:
    """One hospital's share for one mixer: a seed to expand, or the words themselves."""

    digest: bytes
    round: int
    hospital: str
    id: bytes
    share: bytes | Words


def encode(contribution: Contribution) -> bytes:
    """The message of a contribution."""
    message = wire.Contribution(
        federation_digest=contribution.digest,
        round=contribution.round,
        hospital=contribution.hospital,
        id=contribution.id,
    )
    if isinstance(contribution.share, bytes):
        message.seed = contribution.share
    else:
        message.words = contribution.share.astype("<u8").tobytes()
    return message.SerializeToString(deterministic=True)


def encoded_size(hospital: str, round_number: int, cells: int | None) -> int:
    """How long a contribution's message is: of so many cells, or of a seed."""
    share = bytes(SEED_BYTES) if cells is None else np.zeros(cells, np.uint64)
    return len(encode(Contribution(bytes(DIGEST_BYTES), round_number, hospital, bytes(ID_BYTES), share)))


def decode(raw: bytes, peer: str, cells: int) -> Contribution:
    """The contribution in a message, every field of the size it must have."""
    message = wire.Contribution()
    try:
        message.ParseFromString(raw)
    except DecodeError:
        raise OutOfRange(peer, STEP, "its message cannot be read") from None
    _check_sizes(message, peer, cells)
    share = message.seed if message.WhichOneof("share") == "seed" else np.frombuffer(message.words, "<u8")
    contribution = Contribution(message.federation_digest, message.round, message.hospital, message.id, share)
    if encode(contribution) != raw:  # fields that nobody knows, or said twice: else one contribution had many forms
        raise OutOfRange(peer, STEP, "its message is written in another way than it has to be")
    return contribution


def _check_sizes(message: wire.Contribution, peer: str, cells: int) -> None:
    kind = message.WhichOneof("share")
    sizes = [
        ("digest", len(message.federation_digest), DIGEST_BYTES),
        ("id", len(message.id), ID_BYTES),
        ("seed", len(message.seed), SEED_BYTES if kind == "seed" else 0),
        ("share", len(message.words), 8 * cells if kind == "words" else 0),
    ]
    for name, size, due in sizes:
        if size != due:
            raise WrongLength(peer, STEP, f"its {name} has {size} bytes instead of {due}")
    if kind is None:
        raise WrongLength(peer, STEP, "it carries no share")
