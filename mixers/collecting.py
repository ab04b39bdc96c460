"""What a mixer does with the contributions it holds: check their form, add up the shares, refuse lies."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.validity import honest
from mixbayes.protocol.computing_party import A, ComputingParty
from mixbayes.protocol.errors import OutOfRange, PeerError, WrongLength
from mixbayes.protocol.shares import expand
from mixbayes.transport.contribution import STEP, Contribution, decode, encoded_size
from mixbayes.transport.errors import DifferentSets, LyingHospital


def checked(role: int, layout: Layout, agreement: str, hospital: str, peer: str, message: bytes) -> Contribution:
    """The contribution in a message: of this hospital, under this agreement, of the form that is due here."""
    contribution = decode(message, peer, layout.size)
    if contribution.digest.hex() != agreement:
        raise PeerError(peer, STEP, "it was made under another agreement", "Compare the federation files")
    if contribution.hospital != hospital:
        raise OutOfRange(peer, STEP, "it speaks for another hospital")
    if isinstance(contribution.share, bytes) != (role == A):
        raise WrongLength(peer, STEP, "it is the share that is meant for the other mixer")
    return contribution


def longest(role: int, layout: Layout, hospitals: Iterable[str]) -> int:
    """More bytes than this no contribution has."""
    return max(encoded_size(name, 2**32 - 1, None if role == A else layout.size) for name in hospitals)


def joint_share(layout: Layout, contributions: Iterable[Contribution]) -> Words:
    """This mixer's share of the joint counts: the sum of what it received."""
    total = np.zeros(layout.size, np.uint64)
    for contribution in contributions:
        total += _share(layout, contribution)
    return total


def agree_on_set(me: ComputingParty, contributions: list[Contribution]) -> None:
    """Compare who sent which contribution; mixers that sum different sets would get noise that looks like an answer."""
    mine = hashlib.sha256()
    for contribution in sorted(contributions, key=lambda c: c.hospital):
        mine.update(hashlib.sha256(contribution.hospital.encode()).digest() + contribution.id)
        mine.update(contribution.round.to_bytes(8, "little"))
    step = "set of contributions"
    if me.channel.swap(step, mine.digest()).tobytes() != mine.digest():
        raise DifferentSets(me.channel.peer, step, "the two mixers hold different contributions")


def honest_ones(
    me: ComputingParty, layout: Layout, contributions: list[Contribution]
) -> tuple[list[Contribution], list[LyingHospital]]:
    """The contributions that are counts of some table, and for every other one whom it blames."""
    contributions = sorted(contributions, key=lambda contribution: contribution.hospital)  # both mixers alike
    verdicts = honest(me, layout, (_share(layout, contribution) for contribution in contributions))
    judged = list(zip(contributions, verdicts, strict=True))
    return [contribution for contribution, right in judged if right], [
        LyingHospital(f"party {contribution.hospital}", STEP, "its numbers are not the counts of any table")
        for contribution, right in judged
        if not right
    ]


def _share(layout: Layout, contribution: Contribution) -> Words:
    share = contribution.share
    return expand(share, layout.size) if isinstance(share, bytes) else share
