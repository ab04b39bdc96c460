"""A wire over one bidirectional gRPC stream: one channel of a conversation, at either end.

Every channel has a stream of its own, so that HTTP/2 does what it is good at: it keeps channels apart, and holds back a
sender whose peer does not read. The protocol's thread reads from gRPC itself; what it writes leaves from gRPC's thread.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar, cast

import grpc
import numpy as np

from mixbayes.protocol.channel import Buffer
from mixbayes.protocol.errors import MixbayesError, PeerGone, PeerSilent
from mixbayes.transport.errors import Unreachable
from mixbayes.transport.probe import unreachable
from mixbayes.transport.status import connection_broke, error_from
from mixbayes.transport.watch import Watch
from mixbayes.wire.v1.node_pb2 import Chunk

CHUNK = 1 << 20
Reply = TypeVar("Reply", covariant=True)
_FAREWELL = 5.0


class Replies(Protocol[Reply]):
    """A call that is answered by a stream."""

    def __iter__(self) -> Iterator[Reply]: ...

    def __next__(self) -> Reply: ...

    def cancel(self) -> object: ...

    def add_callback(self, callback: Callable[[], None]) -> bool: ...


class StreamWire:
    """One end of a stream; `leaving` is what gRPC sends, `attach` says where to read and how to break off."""

    def __init__(self, peer: str, deadline: float, watch: Watch, patience: Mapping[str, float] = {}) -> None:
        """`patience` are the steps that may take longer than the deadline, such as the next question."""
        self.peer = peer
        self._deadline = deadline
        self._patience = patience
        self._watch = watch
        self._rest = memoryview(b"")
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._all_left = threading.Event()
        self._failure: MixbayesError | None = None
        self._late = False
        self._received = False
        self._closed = False
        self._ended = threading.Event()
        self._on_end: Callable[[], None] = lambda: None
        self._given_up: Callable[[str], MixbayesError] | None = None
        self.waiting_until: float | None = None

    def attach(self, incoming: Iterator[Chunk], cancel: Callable[[], object]) -> StreamWire:
        self._incoming, self._cancel = incoming, cancel
        self._watch.add(self)
        return self

    def write(self, parts: Sequence[Buffer], step: str) -> None:
        for piece in _pieces(parts):
            self._outbox.put(piece)

    def read(self, into: memoryview, step: str) -> None:
        patience, done = self._patience.get(step, self._deadline), 0
        latest = time.monotonic() + patience * (2 + len(into) / CHUNK)  # for a peer that sends a byte now and then
        while done < len(into):
            if not self._rest:
                self._rest = memoryview(self._something(step, patience, latest))
            part = self._rest[: len(into) - done]
            into[done : done + len(part)] = part
            self._rest = self._rest[len(part) :]
            done += len(part)

    def close(self) -> None:
        """Let what was written leave, and hang up."""
        if not self._closed:
            self._closed = True
            self._outbox.put(None)
            self._all_left.wait(_FAREWELL)
            self._watch.remove(self)

    def fail(self, error: MixbayesError) -> None:
        """Break off. A server's end sends the peer the reason; a caller's end cannot."""
        self._failure = error
        self.close()

    def break_off(self) -> None:
        """End what waits on this stream now."""
        self._late = True
        self._cancel()

    def give_up(self, why: Callable[[str], MixbayesError]) -> None:
        """Break off. A read that waits here, or a later one, raises `why` of its step."""
        self._given_up = why
        self._cancel()

    def leaving(self) -> Iterator[Chunk]:
        """What gRPC sends, until the end is closed."""
        try:
            while (piece := self._outbox.get()) is not None:
                yield Chunk(data=piece)
        finally:
            self._all_left.set()
        if self._failure:
            raise self._failure

    def abandoned(self) -> None:
        """The stream has ended under us: nothing written from now on will leave, and nobody waits for long."""
        self._outbox.put(None)
        self._watch.remove(self)
        self._ended.set()
        self._on_end()

    def when_abandoned(self, act: Callable[[], None]) -> None:
        """Call `act` once the stream has ended under us, or now if it has.

        A caller's end calls it only if the connection broke.
        """
        self._on_end = act
        if self._ended.is_set():
            act()

    def _something(self, step: str, patience: float, latest: float) -> bytes:
        """The next piece. Empty ones are no progress, so they do not put off the deadline."""
        self.waiting_until = until = min(time.monotonic() + patience, latest)
        try:
            while not (piece := next(self._incoming).data):
                pass
        except (StopIteration, grpc.RpcError) as error:  # a stream that was broken off here may end either way
            if self._late:
                slow = until == latest and "its message was not complete in time"
                raise PeerSilent(self.peer, step, slow or f"nothing came within {patience:g} s") from None
            if self._given_up:
                raise self._given_up(step) from None
            if isinstance(error, StopIteration):
                raise PeerGone(self.peer, step, "it hung up") from None
            raise self._gone(error, step) from None
        finally:
            self.waiting_until = None
        self._received = True
        return piece

    def _gone(self, error: grpc.RpcError, step: str) -> MixbayesError:
        """The error for a broken stream.

        A server's end only knows that the caller is gone. A peer that has answered before is not `Unreachable`.
        """
        ours = error_from(error, self.peer, step) if isinstance(error, grpc.Call) else None
        if ours is None or (self._received and type(ours) is Unreachable):
            return PeerGone(self.peer, step, "the connection broke")
        return ours


class CallerWire(StreamWire):
    """The end that called. After its last message it waits for the other end's last message, which may be an error.

    `explain` says what is wrong with a connection, if anything is.
    """

    def __init__(
        self,
        peer: str,
        deadline: float,
        watch: Watch,
        patience: Mapping[str, float] = {},
        explain: Callable[[], str | None] | None = None,
    ) -> None:
        super().__init__(peer, deadline, watch, patience)
        self._explain = explain
        self._on_over: Callable[[], None] = lambda: None
        self._is_over = False

    def call(self, method: Callable[[Iterator[Chunk]], Replies[Chunk]]) -> CallerWire:
        call = method(self.leaving())
        self.attach(call, call.cancel)
        if not call.add_callback(self._over):
            self._over()
        return self

    def lost(self, step: str) -> MixbayesError:
        """The error for a connection that broke."""
        return self._gone(cast("grpc.RpcError", self._incoming), step)

    def _over(self) -> None:
        """The call has ended. An error that the peer itself reports is raised by the next read."""
        if not (self._closed or self._late or self._given_up) and connection_broke(self._incoming):
            self.abandoned()
        self._is_over = True
        self._on_over()

    def when_over(self, act: Callable[[], None]) -> None:
        """Call `act` once the call has ended for any reason, or now if it has."""
        self._on_over = act
        if self._is_over:
            act()

    def close(self) -> None:
        """Say that nothing more comes, and wait for the other end to have taken it all."""
        super().close()
        if not self._late:
            self._drain()
        self._cancel()

    def _gone(self, error: grpc.RpcError, step: str) -> MixbayesError:
        ours = super()._gone(error, step)
        if self._explain and type(ours) is Unreachable:
            why = self._explain()
            return unreachable(self.peer, step, why) if why else PeerGone(self.peer, step, "the connection broke")
        return ours

    def _drain(self) -> None:
        until = threading.Timer(_FAREWELL, self._cancel)
        until.start()
        try:
            for _ in self._incoming:
                pass
        except grpc.RpcError:
            return  # the other end's last word; what mattered of it has been read before
        finally:
            until.cancel()


def _pieces(parts: Sequence[Buffer]) -> Iterable[bytes]:
    """The bytes in pieces of at most `CHUNK`; the header travels with what follows it."""
    views = [_view(part) for part in parts]
    if sum(map(len, views)) <= CHUNK:
        yield b"".join(views)
        return
    for view in views:
        for start in range(0, len(view), CHUNK):
            yield bytes(view[start : start + CHUNK])


def _view(part: Buffer) -> memoryview:
    return np.ascontiguousarray(part).data.cast("B") if isinstance(part, np.ndarray) else memoryview(part).cast("B")
