"""A hospital's one message to each mixer: its counts, split into two shares."""

from __future__ import annotations

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.randomness import SEED_BYTES, Randomness
from mixbayes.protocol.shares import split
from mixbayes.transport.contribution import DIGEST_BYTES, ID_BYTES, STEP, Contribution, encode


def messages(hospital: str, digest: str, round_number: int, vector: Words, random: Randomness) -> tuple[bytes, bytes]:
    """For mixer a a new seed, for mixer b the counts masked by it; both under one new id."""
    share, contribution_id = split(vector, random.bytes(SEED_BYTES)), random.bytes(ID_BYTES)
    agreed = bytes.fromhex(digest)[:DIGEST_BYTES]
    to_a, to_b = (
        encode(Contribution(agreed, round_number, hospital, contribution_id, part))
        for part in (share.seed, share.masked)
    )
    return to_a, to_b


def contribute(mixers: tuple[Channel, Channel], both: tuple[bytes, bytes]) -> None:
    """Send each mixer its message."""
    for mixer, message in zip(mixers, both, strict=True):
        mixer.send(STEP, message)
