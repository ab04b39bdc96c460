"""A hospital's one message to each mixer: its counts, split into two shares."""

from __future__ import annotations

from dataclasses import dataclass, field

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.randomness import SEED_BYTES, Randomness
from mixbayes.protocol.shares import split
from mixbayes.transport.contribution import ID_BYTES, Contribution, encode


@dataclass(frozen=True)
class Messages:
    """One contribution, as it goes to mixer a and to mixer b."""

    id: bytes
    to_a: bytes = field(repr=False)
    to_b: bytes = field(repr=False)


def messages(hospital: str, agreement: str, number: int, vector: Words, random: Randomness) -> Messages:
    """For mixer a a new seed, for mixer b the counts masked by it; both under one new id."""
    share, contribution = split(vector, random.bytes(SEED_BYTES)), random.bytes(ID_BYTES)
    to_a, to_b = (
        encode(Contribution(bytes.fromhex(agreement), number, hospital, contribution, part))
        for part in (share.seed, share.masked)
    )
    return Messages(contribution, to_a, to_b)
