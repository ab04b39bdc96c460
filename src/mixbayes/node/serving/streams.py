"""Streams that other nodes open at this one: the metadata that say their purpose, and a wire over each stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import grpc

from mixbayes.node.questions import NEXT
from mixbayes.protocol.errors import WrongStep
from mixbayes.transport.streams import StreamWire
from mixbayes.transport.watch import Watch
from mixbayes.wire.v1.node_pb2 import Chunk

IDLE: Mapping[str, float] = {NEXT: 900.0}
"""Seconds for which a conversation waits for the next question."""
_LONGEST = 100


def opened(
    incoming: Iterator[Chunk], context: grpc.ServicerContext, peer: str, deadline: float, watch: Watch
) -> StreamWire:
    """The wire over a stream that `peer` has opened."""
    wire = StreamWire(peer, deadline, watch, IDLE)
    wire.attach(incoming, context.cancel)
    if not context.add_callback(wire.abandoned):
        wire.abandoned()
    return wire


def about(context: grpc.ServicerContext, peer: str, key: str) -> str:
    """One of the metadata that say what a stream is for."""
    value = dict(context.invocation_metadata()).get(key)
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise WrongStep(peer, "opening a stream", f"it does not say its {key}")
    return value
