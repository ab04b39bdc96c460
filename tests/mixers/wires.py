"""What stands for gRPC between nodes in memory: streams that break, stubs, and errors that travel."""

from __future__ import annotations

import queue
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import grpc

from mixbayes.protocol.channel import Buffer
from mixbayes.protocol.errors import MixbayesError, PeerGone
from mixbayes.protocol.memory import MemoryWire
from mixbayes.transport.status import error_from, status_of
from tests.mixers.three_hospitals import DEADLINE
from tests.node.serving.certificates import shown_by


class Wire(MemoryWire):
    """A stream: it can break, and a node that answers can say why it ends it."""

    left: int | None = None
    """Messages until it breaks."""

    def write(self, parts: Sequence[Buffer], step: str) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise PeerGone(self._peer, step, "the connection broke")
        super().write(parts, step)

    def fail(self, error: MixbayesError) -> None:
        cast("queue.SimpleQueue[Any]", self._outbox).put(error)

    def _next(self, step: str) -> bytes:
        part: Any = super()._next(step)
        if isinstance(part, MixbayesError):
            raise reported(part, self._peer, step)
        return cast("bytes", part)


def linked(caller: str, callee: str) -> tuple[Wire, Wire]:
    """Both ends of a stream, each of which names the other end."""
    there: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    back: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    return Wire(callee, back, there, DEADLINE), Wire(caller, there, back, DEADLINE)


class _Ended(grpc.RpcError):
    """A call that failed with one of our errors, as gRPC shows it to the caller."""

    def __init__(self, error: MixbayesError, raised_at: str) -> None:
        self._status = status_of(error, raised_at)

    def code(self) -> grpc.StatusCode:
        return self._status.code

    def details(self) -> str:
        return str(self._status.details)

    def trailing_metadata(self) -> Any:
        return self._status.trailing_metadata


def reported(error: MixbayesError, peer: str, step: str) -> MixbayesError:
    """An error of another node, as it arrives here."""
    return error_from(cast("grpc.Call", _Ended(error, peer)), peer, step)


@dataclass(frozen=True)
class Method:
    """What a stub makes of one call."""

    service: str
    name: str
    serialise: Callable[[Any], bytes]
    deserialise: Callable[[bytes], Any]
    streamed: bool


class Stubs:
    """Looks like a gRPC channel to the generated stubs."""

    def unary_unary(self, path: str, request_serializer: Any, response_deserializer: Any, **_: object) -> Method:
        return self._method(path, request_serializer, response_deserializer, False)

    def unary_stream(self, path: str, request_serializer: Any, response_deserializer: Any, **_: object) -> Method:
        return self._method(path, request_serializer, response_deserializer, False)

    def stream_unary(self, path: str, request_serializer: Any, response_deserializer: Any, **_: object) -> Method:
        return self._method(path, request_serializer, response_deserializer, True)

    def stream_stream(self, path: str, request_serializer: Any, response_deserializer: Any, **_: object) -> Method:
        return self._method(path, request_serializer, response_deserializer, True)

    def _method(self, path: str, serialise: Any, deserialise: Any, streamed: bool) -> Method:
        service, name = path.removeprefix("/mixbayes.wire.v1.").split("/")
        return Method(service, name, serialise, deserialise, streamed)


@dataclass(frozen=True)
class Caller:
    """What a handler is told about who calls."""

    name: str

    def auth_context(self) -> Mapping[str, Sequence[bytes]]:
        return shown_by(self.name)
