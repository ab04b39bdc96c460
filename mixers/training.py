"""One training between the two mixers: the same set, the honest ones of it, and shares of their joint model."""

from __future__ import annotations

from dataclasses import dataclass

from mixbayes.mixers.collecting import agree_on_set, honest_ones, joint_share
from mixbayes.node.questions import RUN_BYTES
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes import label
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.training import train
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.computing_party import ComputingParty
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.pool import connect_pair
from mixbayes.transport.contribution import Contribution
from mixbayes.transport.errors import RoundFailed


@dataclass(frozen=True)
class Trained:
    """A mixer's share of a model, which training it is of, and whose contributions are not in it."""

    run: bytes
    model: Model
    refused: list[str]


def train_round(
    role: int,
    other: tuple[Channel, Channel],
    layout: Layout,
    contributions: list[Contribution],
    minimum: int,
    random: Randomness,
) -> Trained:
    """`other` are the channels to the other mixer, for now and ahead. At least `minimum` contributions must hold."""
    me = ComputingParty(role, other[0], connect_pair(role, other[1], random), random)
    agree_on_set(me, contributions)
    accepted, lies = honest_ones(me, layout, contributions)
    if len(accepted) < minimum:
        named = "; ".join(str(lie) for lie in lies)
        raise RoundFailed(f"only {len(accepted)} of the {minimum} contributions that are needed hold. {named}")
    model = train(me, layout, joint_share(layout, accepted))
    run = label.common_blinding(me)[:RUN_BYTES]  # drawn by both, once both have the model
    return Trained(run, model, [lie.peer.removeprefix("party ") for lie in lies])
