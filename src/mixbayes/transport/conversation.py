"""A conversation, at the end that opens it: one stream for every channel, ended together whatever happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial

from mixbayes.protocol.channel import Channel
from mixbayes.transport.peer import CHANNEL, CONVERSATION, PURPOSE, WHOSE, Peer
from mixbayes.transport.streams import CallerWire, Replies
from mixbayes.wire.v1.node_pb2 import Chunk

ASKING, TRAINING, SUPPLYING = "asking", "training", "supplying"
MODEL_KEPT = "model is kept"
"""The follower's last message in a training, sent once its model is on disk: the leader asks for that model next."""
NOW, AHEAD = "now", "ahead"
"""The channels between two nodes: for the protocol, and for transfers made ahead."""


class Bound:
    """Streams that are of use only together: if the connection of one breaks, all others are given up.

    `over` is called when one of them has ended for any reason, for somebody who does not wait for a message.
    """

    def __init__(self, over: Callable[[], None] = lambda: None) -> None:
        self._wires: list[CallerWire] = []
        self._lost: CallerWire | None = None
        self._over = over

    def add(self, wire: CallerWire) -> None:
        self._wires.append(wire)
        wire.when_abandoned(partial(self._give_up, wire))
        wire.when_over(self._over)
        if self._lost:
            wire.give_up(self._lost.lost)

    def _give_up(self, lost: CallerWire) -> None:
        self._lost = self._lost or lost
        for wire in self._wires:
            if wire is not lost:
                wire.give_up(self._lost.lost)


@contextmanager
def conversation(
    peer: Peer,
    method: Callable[..., Replies[Chunk]],
    channels: Sequence[str],
    purpose: str,
    whose: str,
    key: str,
    patience: Mapping[str, float] = {},
    bound: Bound | None = None,
) -> Iterator[Sequence[Channel]]:
    """The channels to one peer, in the order of their names; broken off if the block raises.

    `bound` is given where a second peer takes part in the conversation.
    """
    bound = bound or Bound()
    about = {PURPOSE: purpose, WHOSE: whose, CONVERSATION: key}
    with ExitStack() as stack:
        wires = [stack.enter_context(_open(peer.stream(method, {**about, CHANNEL: n}, patience))) for n in channels]
        for wire in wires:
            bound.add(wire)
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
