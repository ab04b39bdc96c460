"""Who sends whom how many bytes in a simulation, and what for."""

from __future__ import annotations

from collections.abc import Mapping

from mixbayes.simulation.outcome import Flow
from mixbayes.simulation.roles import FIRST_ROUND
from mixbayes.simulation.stage import Stage
from mixbayes.transport.contribution import encoded_size
from mixbayes.transport.meter import Moved

SEED, MASKED = "seed", "masked counts"
BOTH = "both mixers"

ByNode = Mapping[str, Mapping[str, Moved]]
"""What the nodes that open conversations have moved, by node and purpose."""


def contributions(set_up: Stage) -> list[Flow]:
    """What hospitals send mixers: a seed to one, masked counts to the other. Two hospitals alone send nothing."""
    federation = set_up.federation
    cells = federation.layout.size
    return [
        Flow(hospital, federation.title(mixer.name), purpose, encoded_size(name, FIRST_ROUND, share), both_ways=False)
        for hospital, name in set_up.names.items()
        for mixer, purpose, share in zip(federation.mixers, (SEED, MASKED), (None, cells), strict=False)
    ]


def conversations(set_up: Stage, seen: ByNode) -> list[Flow]:
    """Between the computing parties, and between the asker and both mixers: those that took place."""
    return [
        Flow(node, _other_end(set_up, node), purpose, moved.bytes, both_ways=True)
        for node, by_purpose in seen.items()
        for purpose, moved in by_purpose.items()
        if moved.bytes
    ]


def _other_end(set_up: Stage, node: str) -> str:
    """Mixer a converses with b, a hospital with the mixers, or with the other hospital where there are none."""
    federation = set_up.federation
    if not federation.mixers:
        return next(hospital for hospital in set_up.names if hospital != node)
    return federation.title("b") if node == federation.title("a") else BOTH
