"""Conversations at the node that answers: their streams arrive one by one, and the last one starts the work.

Each stream says in its metadata what it is for. A conversation in which no question comes for `IDLE` seconds ends.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import grpc

from mixbayes.node.log import Log
from mixbayes.node.questions import NEXT
from mixbayes.node.repeated import Repeated
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import LocalError, MixbayesError, PeerGone, PeerSilent, WrongStep
from mixbayes.transport.errors import RefusedByPolicy
from mixbayes.transport.streams import StreamWire
from mixbayes.transport.watch import Watch
from mixbayes.wire.v1.node_pb2 import Chunk

Channels = Mapping[str, Channel]
Work = Callable[[Channels], None]
_STEP = "joining a conversation"
_FAREWELL = 3.0
_LONGEST = 100
IDLE: Mapping[str, float] = {NEXT: 900.0}
"""Seconds for which a conversation waits for the next question."""


@dataclass
class _Gathering:
    """One conversation: the streams that it needs, those that have arrived, and the work that follows."""

    needed: Mapping[str, str]
    """By the channel's name, the title of the node that opens it."""
    work: Work
    timer: threading.Timer
    wires: dict[str, StreamWire] = field(default_factory=dict)
    at_work: bool = False

    @property
    def missing(self) -> list[str]:
        return [name for name in self.needed if name not in self.wires]


class Conversations:
    """All conversations at one node. A hospital may have `most` of them at once."""

    def __init__(self, deadline: float, log: Log, most: int = 8) -> None:
        self._deadline = deadline
        self._log = log
        self._most = most
        self._repeated = Repeated()
        self._closing = False
        self._open: dict[tuple[str, str], _Gathering] = {}
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)

    def join(self, whose: str, key: str, channel: str, wire: StreamWire, needed: Mapping[str, str], work: Work) -> None:
        """A stream has arrived. The first one opens its conversation, the last one starts the work."""
        with self._lock:
            if self._closing:
                raise _stopping(_STEP)
            if needed.get(channel) != wire.peer:
                raise WrongStep(wire.peer, _STEP, "it opens a channel that is not for it to open")
            gathering = self._open.get((whose, key)) or self._opened(whose, key, needed, work)
            if channel in gathering.wires or gathering.at_work:
                raise WrongStep(wire.peer, _STEP, "it opens a channel twice, or one too many")
            gathering.wires[channel] = wire
            gathering.at_work = complete = not gathering.missing
        wire.when_abandoned(lambda: self._left(whose, key, wire.peer))
        if not complete:
            return
        gathering.timer.cancel()
        try:
            threading.Thread(target=self._run, args=(whose, key, gathering), name=f"conversation {whose}").start()
        except RuntimeError:  # the system has none left now
            self._give_back(whose, key, gathering)
            raise

    def close(self) -> None:
        """Break off every conversation and wait until nobody works any more."""
        with self._lock:
            self._closing = True
            gatherings = list(self._open.values())
        for gathering in gatherings:
            gathering.timer.cancel()
            for wire in gathering.wires.values():
                wire.give_up(_stopping)
        with self._changed:
            self._changed.wait_for(lambda: not any(g.at_work for g in self._open.values()), _FAREWELL)

    def _opened(self, whose: str, key: str, needed: Mapping[str, str], work: Work) -> _Gathering:
        if sum(name == whose for name, _ in self._open) >= self._most:
            raise RefusedByPolicy(f"{whose} has {self._most} conversations open already; end one of them first.")
        timer = threading.Timer(self._deadline, self._late, (whose, key))
        timer.daemon = True
        timer.start()
        gathering = self._open[whose, key] = _Gathering(needed, work, timer)
        return gathering

    def _late(self, whose: str, key: str) -> None:
        with self._lock:
            gathering = self._open.get((whose, key))
            if gathering is None or gathering.at_work:
                return
            del self._open[whose, key]
        missing = gathering.needed[gathering.missing[0]]
        error = PeerSilent(missing, _STEP, f"it did not join within {self._deadline:g} s")
        self._end(gathering, error)

    def _left(self, whose: str, key: str, peer: str) -> None:
        """A stream ends before all have arrived. The others end too, and their nodes may open them again at once."""
        with self._lock:
            gathering = self._open.get((whose, key))
            if gathering is None or gathering.at_work:
                return
            del self._open[whose, key]
        gathering.timer.cancel()
        error = PeerGone(peer, _STEP, "it hung up")
        try:
            threading.Thread(target=self._end, args=(gathering, error), name="farewell", daemon=True).start()
        except RuntimeError:  # the system has none left now: then without a reason
            _break_off(gathering)

    def _give_back(self, whose: str, key: str, gathering: _Gathering) -> None:
        """There is no thread for the work: the conversation ends, and another may take its place."""
        with self._lock:
            del self._open[whose, key]
        _break_off(gathering)

    def _run(self, whose: str, key: str, gathering: _Gathering) -> None:
        error: MixbayesError | None = None
        try:
            channels = {name: Channel(gathering.needed[name], wire) for name, wire in gathering.wires.items()}
            gathering.work(channels)
        except MixbayesError as failure:
            error = failure
        except Exception as failure:  # noqa: BLE001 - a mistake of ours must not carry a value to another node
            self._repeated.failed(self._log, failure, "a mistake of this program")
            error = LocalError("This program made a mistake; its log has the place.")
        finally:
            self._end(gathering, error)
            with self._changed:
                self._open.pop((whose, key), None)
                self._changed.notify_all()

    def _end(self, gathering: _Gathering, error: MixbayesError | None) -> None:
        if error and not self._closing:
            why = str(error)
            self._repeated.say(why, self._log.warning, "conversation broke off", why=why, code=error.code)
        for wire in gathering.wires.values():
            if error:
                wire.fail(error)
            else:
                wire.close()


def _stopping(step: str) -> PeerGone:
    return PeerGone("this node", step, "it stops")


def _break_off(gathering: _Gathering) -> None:
    for wire in gathering.wires.values():
        wire.break_off()


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
