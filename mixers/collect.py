"""A mixer gathers one contribution from every hospital and adds up the shares."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import LyingHospital, OutOfRange, PeerError
from mixbayes.protocol.layout import Layout
from mixbayes.protocol.party import A, Party
from mixbayes.protocol.shares import expand
from mixbayes.protocol.validity import honest
from mixbayes.transport.contribution import STEP, Contribution, decode, encoded_size


def collect(role: int, layout: Layout, round_number: int, hospitals: Mapping[str, Channel]) -> list[Contribution]:
    """Every hospital's contribution to this mixer, each of the right form; `honest_ones` says which are true."""
    return [_from(role, layout, round_number, name, channel) for name, channel in hospitals.items()]


def joint_share(layout: Layout, contributions: list[Contribution]) -> Words:
    """This mixer's share of the joint counts: the sum of what it received."""
    total = np.zeros(layout.size, np.uint64)
    for contribution in contributions:
        total += _share(layout, contribution)
    return total


def agree_on_set(me: Party, contributions: list[Contribution]) -> None:
    """Compare who sent which contribution; mixers that sum different sets would get noise that looks like an answer."""
    mine = hashlib.sha256()
    for contribution in sorted(contributions, key=lambda c: c.hospital):
        mine.update(hashlib.sha256(contribution.hospital.encode()).digest() + contribution.id)
    step = "set of contributions"
    if me.channel.swap(step, mine.digest()).tobytes() != mine.digest():
        raise PeerError(
            me.channel.peer,
            step,
            "the two mixers hold different contributions",
            "Nothing was computed; compare which hospitals each mixer has, and start a new round",
        )


def honest_ones(
    me: Party, layout: Layout, contributions: list[Contribution]
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


def _from(role: int, layout: Layout, round_number: int, name: str, channel: Channel) -> Contribution:
    size = encoded_size(name, round_number, None if role == A else layout.size)
    contribution = decode(channel.receive(STEP, size).tobytes(), channel.peer, layout.size)
    if contribution.digest.hex() != layout.dictionary.digest():
        raise PeerError(channel.peer, STEP, "its dictionary is not this mixer's", "Compare the dictionaries")
    if (contribution.hospital, contribution.round) != (name, round_number):
        raise OutOfRange(channel.peer, STEP, "it speaks for another hospital or another round")
    return contribution
