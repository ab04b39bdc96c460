"""A node's gRPC server: mutual TLS, health, reflection on request, an end in bounded time."""

from __future__ import annotations

import errno
import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from types import TracebackType

import grpc
from grpc_health.v1 import health, health_pb2_grpc
from grpc_health.v1.health_pb2 import HealthCheckResponse
from grpc_reflection.v1alpha import reflection

from mixbayes.node.open_files import for_connections, raised
from mixbayes.node.serving.admission import MOST_CALLS, Admission
from mixbayes.node.serving.doorkeeper import Doorkeeper, HouseRules
from mixbayes.node.serving.guests import Guests
from mixbayes.transport.errors import CannotServe
from mixbayes.transport.peer import KEEP_ALIVE, LIMITS
from mixbayes.transport.tls import Credentials, for_server

THREADS, _OF_CALLER = 1024, 4
"""Every open call takes a thread; threads are made as they are needed. Mixer b has three streams for each hospital with
a conversation, one from the hospital and two from mixer a, and room for one call more."""
_GRACE = 2.0
HANDSHAKE = 5.0
"""Seconds for a handshake, unless less is agreed for every wait."""
_OF_SITE, _OF_ALL = 128, 1024
"""Connections that have led to no admitted call yet: of one address, from which a hundred hospitals may dial at once,
and of all. Where more callers are expected from one address there may be more."""
_SERVES = "_serve"
"""In the name of gRPC's thread that takes calls. Without it a server listens, and answers nobody."""
_OPTIONS = (
    *LIMITS,
    ("grpc.so_reuseport", 0),  # else two nodes share a port and each gets half of the calls
    ("grpc.http2.min_ping_interval_without_data_ms", 2_000),  # less than what callers keep to
    *KEEP_ALIVE,
)


def _options(handshake: float, connections: int, streams: int) -> tuple[tuple[str, int], ...]:
    return (
        *_OPTIONS,
        ("grpc.server_handshake_timeout_ms", int(1000 * handshake)),
        ("grpc.max_allowed_incoming_connections", connections),
        ("grpc.max_concurrent_streams", streams),
    )


def _knocking(guests: Guests, current: Callable[[], Credentials]) -> Credentials:
    """The credentials for a connection that was accepted."""
    guests.knock()
    return current()


def threads_for(callers: int) -> int:
    """With fewer, conversations in which nobody asks would keep everybody else waiting."""
    return THREADS + _OF_CALLER * callers


def house_rules(callers: int, connections: int, seconds: float) -> HouseRules:
    """Of all connections at least half are for admitted callers."""
    of_site = max(_OF_SITE, callers)
    of_all = min(max(_OF_ALL, 2 * of_site), connections // 2)
    return HouseRules(min(of_site, of_all), of_all, seconds)


def refuse_taken(address: str) -> None:
    """Refuse an address that is taken, before a start that cannot succeed changes anything on disk."""
    host, _, port = address.rpartition(":")
    try:
        for family, kind, _, _, where in socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM):
            with socket.socket(family, kind) as trial:
                trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as gRPC does
                trial.bind(where)
    except (OSError, UnicodeError) as error:
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:  # of anything else gRPC is the judge
            raise _cannot_listen(address) from None


def _cannot_listen(address: str) -> CannotServe:
    return CannotServe(
        f"Nothing can listen on {address}: another program does (`ss -ltnp` names it), or the address is not of this "
        "machine. End that program. Only if a firewall forwards the agreed address to this machine, give another with "
        "--listen."
    )


class _Pool(ThreadPoolExecutor):
    """If the system has no more threads, an existing one takes the call later, and gRPC goes on listening."""

    def _adjust_thread_count(self) -> None:
        with suppress(RuntimeError):
            super()._adjust_thread_count()


class Server:
    """Listens as soon as it is made. Use it as a context."""

    def __init__(
        self,
        address: str,
        current: Callable[[], Credentials],
        admission: Admission,
        services: Sequence[Callable[[grpc.Server], None]],
        names: Sequence[str],
        *,
        reflected: bool = False,
        streams: int = 2 * MOST_CALLS,
        callers: int = 0,
    ) -> None:
        """`streams` are the calls that one connection may have open: gRPC refuses more, ended ones included that still
        wait for a thread. So many `callers` may dial at once from one address, and each may have a conversation."""
        handshake, connections = min(HANDSHAKE, admission.timeout), for_connections(raised())
        self._pool = _Pool(threads_for(callers), "grpc")
        self._server = grpc.server(
            self._pool, interceptors=[admission], options=_options(handshake, connections, streams)
        )
        self._health = health.HealthServicer()
        self._names = ("", *names)
        for add in services:
            add(self._server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        if reflected:
            listed = (*names, health.SERVICE_NAME, reflection.SERVICE_NAME)
            reflection.enable_server_reflection(listed, self._server)
        self.port = self._bind(address, for_server(partial(_knocking, admission.guests, current)))
        rules = house_rules(callers, connections, 2 * handshake)
        self._doorkeeper = Doorkeeper(self.port, admission.guests, rules, admission.log)
        before = set(threading.enumerate())
        self._server.start()
        self.threads = [thread for thread in threading.enumerate() if thread not in before and _SERVES in thread.name]
        self._doorkeeper.start()
        self._say("SERVING")

    def _bind(self, address: str, credentials: grpc.ServerCredentials) -> int:
        try:
            return self._server.add_secure_port(address, credentials)
        except RuntimeError:
            raise _cannot_listen(address) from None

    def _say(self, status: str) -> None:
        for name in self._names:
            self._health.set(name, HealthCheckResponse.ServingStatus.Value(status))

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Report that the node stops, give open calls a moment to finish, and end the others."""
        self._say("NOT_SERVING")
        self._doorkeeper.stop()
        with suppress(RuntimeError):  # no thread left to wait for them with: they end with the process
            self._server.stop(_GRACE).wait(2 * _GRACE)
        self._pool.shutdown(wait=False, cancel_futures=True)
