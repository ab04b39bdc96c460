"""Another node, called by name: every call has a deadline, carries a header, and fails as one of our errors."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import grpc

from mixbayes.protocol.errors import MixbayesError, PeerGone, PeerSilent
from mixbayes.transport.errors import Unreachable
from mixbayes.transport.meter import Meter
from mixbayes.transport.probe import unreachable
from mixbayes.transport.proxies import proxy_for
from mixbayes.transport.status import error_from
from mixbayes.transport.streams import CHUNK, CallerWire, Replies
from mixbayes.transport.tls import Credentials, RenewedChannel
from mixbayes.transport.traffic import Traffic, With
from mixbayes.transport.trust import Trust
from mixbayes.transport.watch import Pause, Watch
from mixbayes.wire.v1.node_pb2 import Chunk

Metadata = tuple[tuple[str, str], ...]
Reply = TypeVar("Reply")

CONVERSATION, CHANNEL = "mixbayes-conversation", "mixbayes-channel"
PURPOSE, WHOSE = "mixbayes-purpose", "mixbayes-whose"
_MOST = 2 * CHUNK
LIMITS = (
    ("grpc.max_receive_message_length", _MOST),
    ("grpc.max_send_message_length", _MOST),
    ("grpc.max_metadata_size", 1 << 14),
    ("grpc.http2.max_pings_without_data", 0),
)
# A connection on which nothing comes is given up after 30 s. gRPC itself looks at the timeout of pings, which is a
# minute if it is not set; the other timeout goes to the system, for data that nobody acknowledges. A ping waits behind
# what was sent before it: with less patience, a slow link would lose connections that are at work.
KEEP_ALIVE = (
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.http2.ping_timeout_ms", 20_000),
    ("grpc.keepalive_permit_without_calls", 1),
)
# By gRPC's own settings an attempt to connect whose packets are lost lasts 20 s, and the next one comes minutes later.
_DIAL_AGAIN = (
    ("grpc.min_reconnect_backoff_ms", 3_000),
    ("grpc.initial_reconnect_backoff_ms", 250),
    ("grpc.max_reconnect_backoff_ms", 1_000),
)


def on_loopback(address: str) -> bool:
    """Whether HOST:PORT is of this machine alone."""
    host = address.rpartition(":")[0].strip("[]")
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class Endpoint:
    """A node as others dial it."""

    title: str
    """What people call it."""
    name: str
    """What its certificate must say."""
    address: str
    """HOST:PORT."""
    key: str | None = None
    """The fingerprint of its public key, where one is agreed."""


class Peer:
    """A node that this one dials. `credentials` is called whenever a call begins: they may have been renewed."""

    def __init__(
        self,
        endpoint: Endpoint,
        credentials: Callable[[], Credentials],
        header: Metadata,
        deadline: float,
        watch: Watch,
        explain: Callable[[str, str, Credentials], str | None] | None = None,
        traffic: Traffic | None = None,
    ) -> None:
        self.title, name, address = endpoint.title, endpoint.name, endpoint.address
        self.meter = Meter()
        self.deadline = deadline
        self._header = header
        self._watch = watch
        self._probe = (lambda: explain(address, name, credentials())) if explain else None
        # A node on this machine is reached without a proxy, whatever the usual variables name.
        local = on_loopback(address)
        self._proxy = None if local else proxy_for(address.rpartition(":")[0].strip("[]"))
        proxied = ("grpc.enable_http_proxy", int(not local))
        options = (*LIMITS, *KEEP_ALIVE, *_DIAL_AGAIN, proxied, ("grpc.ssl_target_name_override", name))
        root, counted = Trust(endpoint, self._proxy, deadline).root, With(name, traffic or Traffic()).counted
        self.channel = RenewedChannel(address, options, credentials, root, counted)

    def call(self, method: Callable[..., Reply], request: object, step: str, deadline: float | None = None) -> Reply:
        """One request, one reply."""
        self._refuse_closed(step)
        try:
            return self._called(method, request, deadline, step)
        except _Outdated:
            if isinstance(request, Iterator):  # part of it may be gone
                raise
            return self._called(method, request, deadline, step)

    def stream(
        self, method: Callable[..., Replies[Chunk]], about: Mapping[str, str], patience: Mapping[str, float] = {}
    ) -> CallerWire:
        """A wire over a stream that is opened with these metadata."""
        self._refuse_closed("opening a stream")
        explain = partial(self._explained, self.channel.now()) if self._probe else None
        wire = CallerWire(self.title, self.deadline, self._watch, patience, explain)
        metadata = (*self._header, *about.items())
        return wire.call(lambda leaving: method(leaving, metadata=metadata))

    def answers(self, method: Callable[..., Replies[Reply]], requests: object, step: str) -> Iterator[Reply]:
        """One request or a stream of them, replies in a stream. No reply may take longer than the deadline."""
        used = self.channel.now()
        replies = method(requests, metadata=self._header)
        pause = Pause(replies.cancel)
        self._watch.add(pause)
        try:
            while True:
                pause.begin(self.deadline)
                yield next(replies)
        except StopIteration:
            return
        except grpc.RpcError as error:
            raise self._ours(error, step, used) if not pause.late else self._silent(step) from None
        finally:
            self._watch.remove(pause)
            replies.cancel()

    def close(self) -> None:
        self.channel.close()

    def _refuse_closed(self, step: str) -> None:
        if self.channel.closed:
            raise PeerGone(self.title, step, "this node itself has hung up", "Start this node again, unless it stops")

    def _called(self, method: Callable[..., Reply], request: object, deadline: float | None, step: str) -> Reply:
        used = self.channel.now()
        try:
            return method(request, timeout=deadline or self.deadline, metadata=self._header)
        except grpc.RpcError as error:
            raise self._ours(error, step, used) from None

    def _silent(self, step: str) -> PeerSilent:
        return PeerSilent(self.title, step, f"nothing came within {self.deadline:g} s")

    def _ours(self, error: grpc.RpcError, step: str, used: grpc.Channel) -> MixbayesError:
        """The error of a failed call. If no connection was made, it says why as exactly as can be found out."""
        ours = error_from(error, self.title, step) if isinstance(error, grpc.Call) else MixbayesError(str(error))
        if not self._probe or not isinstance(ours, Unreachable | PeerSilent) or ours.peer != self.title:
            return ours
        if why := self._explained(used):
            silent = isinstance(ours, PeerSilent)
            return PeerSilent(self.title, step, why) if silent else unreachable(self.title, step, why)
        if isinstance(ours, Unreachable) and self._proxy:
            why = f"it can be reached from here, but not through the proxy {self._proxy}"
            return Unreachable(self.title, step, why, "Have the proxy let it through, or name it in no_proxy")
        if isinstance(ours, Unreachable):  # gRPC says what it found some seconds ago
            return _Outdated(self.title, step, "it could not be reached until just now", "Try again")
        return ours

    def _explained(self, used: grpc.Channel) -> str | None:
        """Why the other node cannot be reached over this connection. If it can by now, the next call connects anew."""
        self.channel.doubt()
        why = self._probe() if self._probe else None
        if why is None:
            self.channel.connect_anew(used)
        return why


class _Outdated(Unreachable):
    """The other node can be reached by now."""


def chunks(message: bytes) -> Iterator[Chunk]:
    """A long message in pieces."""
    return (Chunk(data=message[start : start + CHUNK]) for start in range(0, len(message), CHUNK))


def joined(pieces: Iterator[Chunk], most: int) -> bytes | None:
    """The message in these pieces, or None if it is longer than `most` bytes."""
    message = bytearray()
    for piece in pieces:
        message += piece.data
        if len(message) > most:
            return None
    return bytes(message)
