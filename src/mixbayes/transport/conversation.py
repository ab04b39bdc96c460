"""A conversation, at the end that opens it: one stream for every channel, ended together whatever happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

from mixbayes.protocol.channel import Channel
from mixbayes.transport.peer import CHANNEL, CONVERSATION, PURPOSE, WHOSE, Peer
from mixbayes.transport.streams import CallerWire, Replies
from mixbayes.wire.v1.node_pb2 import Chunk

ASKING, TRAINING = "asking", "training"
NOW, AHEAD = "now", "ahead"
"""The channels between two nodes: for the protocol, and for transfers made ahead."""


@contextmanager
def conversation(
    peer: Peer,
    method: Callable[..., Replies[Chunk]],
    channels: Sequence[str],
    purpose: str,
    whose: str,
    key: str,
    patience: Mapping[str, float] = {},
) -> Iterator[Sequence[Channel]]:
    """The channels to one peer, in the order of their names; broken off if the block raises."""
    about = {PURPOSE: purpose, WHOSE: whose, CONVERSATION: key}
    with ExitStack() as stack:
        wires = [stack.enter_context(_open(peer.stream(method, {**about, CHANNEL: n}, patience))) for n in channels]
        opened = [Channel(peer.title, wire) for wire in wires]
        peer.meter.begin(purpose, opened)
        stack.callback(peer.meter.end, purpose, opened)
        yield opened


@contextmanager
def _open(wire: CallerWire) -> Iterator[CallerWire]:
    try:
        yield wire
    except BaseException:
        wire.break_off()
        raise
    finally:
        wire.close()
