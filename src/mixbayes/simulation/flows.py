"""Who sends whom how many bytes in a simulation, and what for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mixbayes.simulation.crew import Crew
from mixbayes.simulation.outcome import Flow
from mixbayes.simulation.roles import FIRST_ROUND
from mixbayes.simulation.stage import Stage
from mixbayes.transport.contribution import encoded_size
from mixbayes.transport.conversation import ASKING, TRAINING
from mixbayes.transport.meter import Moved

SEED, MASKED = "seed", "masked counts"
EVALUATING = "evaluation"
PURPOSES = TRAINING, EVALUATING, ASKING
BOTH = "both mixers"

ByNode = Mapping[str, Mapping[str, Moved]]
"""What the nodes that open conversations have moved, by node and purpose."""


def contributions(set_up: Stage) -> list[Flow]:
    """What hospitals send mixers: a seed to one, masked counts to the other. Two hospitals alone send nothing."""
    federation = set_up.federation
    cells = federation.layout.contributed
    return [
        Flow(hospital, federation.title(mixer.name), purpose, encoded_size(name, FIRST_ROUND, share), both_ways=False)
        for hospital, name in set_up.names.items()
        for mixer, purpose, share in zip(federation.mixers, (SEED, MASKED), (None, cells), strict=False)
    ]


def seen_by(crew: Crew, set_up: Stage, asking: Sequence[str]) -> dict[str, dict[str, Moved]]:
    """By node and purpose, every conversation so far counted once, by the node that opened it."""
    federation = set_up.federation
    seen = {}
    for role in [federation.title("a"), *asking] if federation.mixers else list(set_up.names):
        crew.tell(role, "what was seen")
        seen[role] = crew.hear(role)
    return seen


def by_purpose(trained: ByNode, evaluated: ByNode, ended: ByNode) -> dict[str, dict[str, Moved]]:
    """What was moved for each purpose, from what nodes had moved after the training, the evaluations and the last row.

    Personal classifiers are trained while they are judged or asked. Transfers made ahead are for questions.
    """
    return {
        node: {
            TRAINING: trained[node][TRAINING],
            EVALUATING: _all(evaluated[node]) - _all(trained[node]),
            ASKING: trained[node][ASKING] + _all(ended[node]) - _all(evaluated[node]),
        }
        for node in ended
    }


def _all(moved: Mapping[str, Moved]) -> Moved:
    return sum(moved.values(), Moved())


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
