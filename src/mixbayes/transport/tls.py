"""TLS for both ends: mutual, 1.3 only, ECDSA certificates of the federation's authority.

gRPC has no switch for TLS 1.3 only. But its list of ciphers governs 1.2 alone, and an ECDSA certificate cannot serve
an RSA suite. The package sets that list, in its `__init__`, to one RSA suite, so 1.2 finds no cipher;
`mixbayes.keys.folder` refuses RSA keys at the start.

Certificates may be renewed while a node runs: a server looks for new ones at every handshake, a caller's channel at the
beginning of every call.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Set
from contextlib import suppress
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import grpc

from mixbayes.transport.errors import CannotServe, Revoked, WrongKey

_ORDER = list(sys.modules)
_FAREWELL = 5.0
_OWN = "grpc.use_local_subchannel_pool", 1
"""Else two channels to one address share a connection, and the attempts to make it."""
_TOO_LATE = _ORDER.index("grpc") < _ORDER.index("mixbayes")


@dataclass(frozen=True)
class Credentials:
    """What a node shows and whom it trusts, as PEM."""

    private_key: bytes = field(repr=False)
    certificate: bytes = field(repr=False)
    authority: bytes = field(repr=False)
    revoked: Set[int] = field(default=frozenset(), repr=False)
    """The serial numbers of certificates that the authority has revoked, whatever they say."""

    @property
    def shown(self) -> tuple[bytes, bytes, bytes]:
        """What TLS itself takes of them."""
        return self.private_key, self.certificate, self.authority


def for_server(current: Callable[[], Credentials]) -> grpc.ServerCredentials:
    """One server's; it looks for renewed ones at every handshake, so that a renewed certificate needs no restart."""
    if _TOO_LATE:
        raise CannotServe(
            "gRPC was imported before mixbayes, so TLS 1.2 would be accepted. Import mixbayes first in this program."
        )
    shown = current()

    def renewed() -> grpc.ServerCertificateConfiguration | None:
        # Only what is new: gRPC drops the old configuration even while another handshake reads it (grpc/grpc#36693),
        # and then aborts the process.
        nonlocal shown
        if (now := current()).shown == shown.shown:
            return None
        shown = now
        return _configuration(now)

    return grpc.dynamic_ssl_server_credentials(
        _configuration(shown),
        renewed,  # type: ignore[arg-type] # None is "as before"; the stubs do not know it
        require_client_authentication=True,
    )


def _configuration(own: Credentials) -> grpc.ServerCertificateConfiguration:
    return grpc.ssl_server_certificate_configuration([(own.private_key, own.certificate)], own.authority)


def for_client(own: Credentials, root: bytes | None = None) -> grpc.ChannelCredentials:
    """A caller's. It trusts the authority, or only the root that is given."""
    return grpc.ssl_channel_credentials(root or own.authority, own.private_key, own.certificate)


class RenewedChannel(grpc.Channel):
    """A gRPC channel that looks for renewed credentials before every call, and then connects anew.

    `root` says whom to trust. It is asked again when the credentials are renewed, or the connection broke: the other
    end's certificate may be another one by then. A call that is under way keeps its connection until the renewal after
    that.
    """

    def __init__(
        self,
        address: str,
        options: tuple[tuple[str, Any], ...],
        current: Callable[[], Credentials],
        root: Callable[[Credentials], bytes] = attrgetter("authority"),
        counted: Callable[[dict[str, Any]], dict[str, Any]] = dict,
    ) -> None:
        """`counted` makes of the options of a call those with which its messages are counted."""
        self._counted = counted
        self._address = address
        self._options = options
        self._current = current
        self._root = root
        self._dialling, self._lock = threading.Lock(), threading.Lock()
        self._connection: _Connection | None = None
        self._last: _Connection | None = None
        self.closed = False

    def now(self) -> grpc.Channel:
        """The connection for a call that begins now. Raises why there is nobody to trust."""
        with self._dialling:
            made, own = self._connection, self._current()
            if self.closed or (made and made.own == own and not made.broken):
                return self._made()
            root = self._root_for(own)
            if made and (made.own, made.root) == (own, root) and not made.stale:
                made.broken = False
            else:
                self._connect(own, root)
            return self._made()

    def _root_for(self, own: Credentials) -> bytes:
        """Whoever answers there with a wrong key or a revoked certificate is talked to no longer, in no open call."""
        try:
            return self._root(own)
        except (WrongKey, Revoked):
            with self._lock:
                connections, self._connection, self._last = (self._connection, self._last), None, None
            _hang_up(connections)
            raise

    def doubt(self) -> None:
        """A call could not connect. gRPC tells of that too, but perhaps not before the next call."""
        if made := self._connection:
            made.broken = True

    def _made(self) -> grpc.Channel:
        if self._connection is None:
            raise ValueError("Cannot invoke RPC on closed channel!")  # as gRPC says it
        return self._connection.channel

    def _connect(self, own: Credentials, root: bytes) -> None:
        with self._lock:
            if self.closed:
                return
            if self._last:
                self._last.channel.close()
            channel = grpc.secure_channel(self._address, for_client(own, root), (*self._options, _OWN))
            self._last, self._connection = self._connection, _Connection(own, root, channel)
            if self._last and self._last.lost:
                self._last.channel.close()  # else it would go on dialling whom it does not trust any more
        if root != own.authority:
            channel.subscribe(self._connection.heard)

    def connect_anew(self, used: grpc.Channel) -> None:
        """Over this connection nobody is reached. gRPC would try the same one again, later and later."""
        made = self._connection
        if made and made.channel is used:
            made.broken = made.stale = True

    def unary_unary(self, method: str, *args: Any, **options: Any) -> Any:
        options = self._counted(options)
        return lambda *call, **about: self.now().unary_unary(method, *args, **options)(*call, **about)

    def unary_stream(self, method: str, *args: Any, **options: Any) -> Any:
        options = self._counted(options)
        return lambda *call, **about: self.now().unary_stream(method, *args, **options)(*call, **about)

    def stream_unary(self, method: str, *args: Any, **options: Any) -> Any:
        options = self._counted(options)
        return lambda *call, **about: self.now().stream_unary(method, *args, **options)(*call, **about)

    def stream_stream(self, method: str, *args: Any, **options: Any) -> Any:
        options = self._counted(options)
        return lambda *call, **about: self.now().stream_stream(method, *args, **options)(*call, **about)

    def subscribe(self, callback: Callable[[grpc.ChannelConnectivity], None], try_to_connect: bool = False) -> None:
        self.now().subscribe(callback, try_to_connect)

    def unsubscribe(self, callback: Callable[[grpc.ChannelConnectivity], None]) -> None:
        self.now().unsubscribe(callback)

    def close(self) -> None:
        """Hang up."""
        with self._lock:
            self.closed = True
            connections = self._connection, self._last
        _hang_up(connections)

    def __enter__(self) -> RenewedChannel:
        return self

    def __exit__(self, *ended: object) -> None:
        self.close()


@dataclass
class _Connection:
    """gRPC's channel, and what it was made with."""

    own: Credentials
    root: bytes = field(repr=False)
    channel: grpc.Channel
    broken: bool = False
    """Whether it broke, or could not be made, since its root was last asked for; or may have."""
    lost: bool = False
    """Whether gRPC has no connection any more."""
    stale: bool = False
    """Whether another one is to take its place."""
    _held: bool = False

    def heard(self, state: grpc.ChannelConnectivity) -> None:
        """What gRPC tells of a channel whose root is one certificate."""
        if state is grpc.ChannelConnectivity.READY:
            self._held, self.lost = True, False
        elif self._held or state is grpc.ChannelConnectivity.TRANSIENT_FAILURE:
            self._held, self.lost, self.broken = False, True, True


def _hang_up(connections: Iterable[_Connection | None]) -> None:
    """If Ctrl-C came while a call began, gRPC waits for that call for ever: nobody else does."""
    closing = [threading.Thread(target=one.channel.close, daemon=True) for one in connections if one]
    with suppress(RuntimeError):  # the system has no thread left: then they end with the process
        for thread in closing:
            thread.start()
    for thread in closing:
        if thread.ident is not None:
            thread.join(_FAREWELL)
