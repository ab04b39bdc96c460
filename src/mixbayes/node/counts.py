"""The noisy counts of a round, or its cut points, on their way to a hospital, if the agreement gives them away."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mixbayes.node.rounds.rounds import Rounds
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.errors import WrongLength
from mixbayes.transport.errors import RefusedByPolicy
from mixbayes.transport.peer import joined
from mixbayes.wire.v1.node_pb2 import Chunk

STEP = "noisy counts"
_BYTES = 8


def released(rounds: Rounds, number: int, asker: str) -> bytes:
    """What this party keeps of the round that serves, for a hospital that asks: counts, or cut points."""
    cuts = rounds.federation.bins_to_find is not None
    if not (cuts or rounds.federation.gives_model):
        raise RefusedByPolicy(
            'The agreement gives labels alone. A model to keep needs noise and release = "model" in the agreement.'
        )
    rounds.current().answer(number)
    found = rounds.counts(number)
    rounds.write_down(asker, "took the cut points" if cuts else "took the model", rounds.me, {"round": number})
    return found


def counts_from(pieces: Iterator[Chunk], size: int, peer: str) -> Words:
    """The words in these pieces of a message."""
    message = joined(pieces, _BYTES * size)
    if message is None or len(message) != _BYTES * size:
        raise WrongLength(peer, STEP, f"{_BYTES * size} bytes are due")
    return np.frombuffer(message, "<u8").astype(np.uint64)
