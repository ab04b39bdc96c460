"""From contributions to a share of a model: a mixer checks their form, agrees on the set, refuses lies, and trains."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from mixbayes.mixers.supply import NO_SUPPLY, Supply
from mixbayes.node.cuts import words_of
from mixbayes.node.questions import RUN_BYTES
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes import label
from mixbayes.protocol.bayes.agreed_set import start_agreeing
from mixbayes.protocol.bayes.cuts import cuts_on_shares
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.noise import blurred
from mixbayes.protocol.bayes.tossing import Draw
from mixbayes.protocol.bayes.training import train, transfers_at_first
from mixbayes.protocol.bayes.validity import Nonce, joint, judged, start_nonce
from mixbayes.protocol.bayes.verdicts import MOST_OPENINGS, KeptByBoth, VerdictBook, VerdictsInMemory, start_comparing
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.computing_party import A, ComputingParty
from mixbayes.protocol.errors import OutOfRange, PeerError, WrongLength
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.shares import expand
from mixbayes.protocol.transfer.supplied import connect_supplied
from mixbayes.transport.contribution import STEP, Contribution, decode, encoded_size
from mixbayes.transport.errors import LyingHospital, RoundFailed, Unjudged


@dataclass(frozen=True)
class Trained:
    """A mixer's share of a model, which training it is of, and whose contributions are not in it."""

    run: bytes
    model: Model | None
    """Nothing where the agreement is preliminary."""
    refused: list[str]
    counts: Words = field(repr=False)
    """This mixer's share of the joint counts, with their noise where it is agreed; or the cut points, which both have.
    """


Charge = Callable[[Mapping[str, bytes]], Draw]
"""Charges the noise on these contributions, by hospital their ids, and gives this mixer's part in drawing it."""


def checked(role: int, layout: Layout, agreement: str, hospital: str, peer: str, message: bytes) -> Contribution:
    """The contribution in a message, if it is this hospital's, under this agreement, and the share for this mixer."""
    contribution = decode(message, peer, layout.contributed)
    if contribution.digest.hex() != agreement:
        raise PeerError(peer, STEP, "it was made under another agreement", "Compare the federation files")
    if contribution.hospital != hospital:
        raise OutOfRange(peer, STEP, "it speaks for another hospital")
    if isinstance(contribution.share, bytes) != (role == A):
        raise WrongLength(peer, STEP, "it is the share that is meant for the other mixer")
    return contribution


def longest(role: int, layout: Layout, hospitals: Iterable[str]) -> int:
    """The length in bytes of the longest contribution that one of these hospitals can send."""
    name = max(hospitals, key=lambda name: len(name.encode()))
    return encoded_size(name, 2**32 - 1, None if role == A else layout.contributed)


def train_round(
    role: int,
    other: tuple[Channel, Channel],
    layout: Layout,
    number: int,
    contributions: list[Contribution],
    minimum: int,
    random: Randomness,
    charge: Charge,
    bins: int | None = None,
    supply: Supply = NO_SUPPLY,
    book: VerdictBook | None = None,
) -> Trained:
    """One training of a round, of at least `minimum` honest contributions, over the two channels to the other mixer.

    With `bins` it finds the cut points for so many, in place of a model. Without a book, verdicts are kept nowhere.
    """
    book = book or VerdictsInMemory()
    pool = connect_supplied(role, other[1], random, supply, kind=supply.kind)
    me = ComputingParty(role, other[0], pool, random)
    # All that depends on no other message travels at once, while the first transfers are made.
    agree = start_agreeing(me.channel, number, ((one.hospital, one.id) for one in contributions))
    kept = start_comparing(me.channel, book, (one.hospital for one in contributions))
    nonce, run = start_nonce(me), label.start_blinding(me)
    me.pool.reserve(transfers_at_first(layout))
    agree()
    # Now both mixers are known to hold the same contributions.
    accepted, refused = honest_ones(me, layout, contributions, book, kept(), nonce)
    if len(accepted) < minimum:
        named = "; ".join(str(one) for one in refused)
        raise RoundFailed(f"only {len(accepted)} of the {minimum} contributions that are needed hold. {named}")
    counts = joint_share(layout, accepted)
    if layout.terms.coins:
        # The noise belongs to this set: it is charged first, and drawn again it is the same.
        counts = blurred(me, layout, counts, charge({one.hospital: one.id for one in accepted}))
    model = train(me, layout, counts) if bins is None else None
    if bins is not None:
        counts = words_of(cuts_on_shares(me, layout, counts, bins))
    return Trained(run()[:RUN_BYTES], model, [one.peer.removeprefix("party ") for one in refused], counts)


def honest_ones(
    me: ComputingParty,
    layout: Layout,
    contributions: Iterable[Contribution],
    book: VerdictBook,
    kept: Mapping[str, KeptByBoth] | None = None,
    nonce: Nonce | None = None,
) -> tuple[list[Contribution], list[PeerError]]:
    """The contributions that are counts of some table, and for every other one the error that names its hospital."""
    by_name = {one.hospital: one for one in contributions}
    shares = {name: partial(share_of, layout, one) for name, one in by_name.items()}
    verdicts = judged(me, layout, shares, book, kept, nonce)
    accepted = [by_name[name] for name, holds in verdicts.items() if holds]
    return accepted, [_refusal(f"party {name}", holds) for name, holds in verdicts.items() if not holds]


def _refusal(hospital: str, holds: bool | None) -> PeerError:
    if holds is None:
        why = f"the verdict on its numbers was opened {MOST_OPENINGS} times, and not both mixers have it"
        return Unjudged(hospital, STEP, why)
    return LyingHospital(hospital, STEP, "its numbers are not the counts of any table")


def joint_share(layout: Layout, contributions: Iterable[Contribution]) -> Words:
    """This mixer's share of the joint counts: the sum of what it received."""
    total = np.zeros(layout.size, np.uint64)
    for contribution in contributions:
        total += joint(layout, share_of(layout, contribution))
    return total


def share_of(layout: Layout, contribution: Contribution) -> Words:
    """This mixer's share of the vectors of all folds."""
    share = contribution.share
    return expand(share, layout.contributed) if isinstance(share, bytes) else share
