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
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import grpc

from mixbayes.transport.errors import CannotServe

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
        if (now := current()) == shown:
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


def for_client(own: Credentials) -> grpc.ChannelCredentials:
    """A caller's."""
    return grpc.ssl_channel_credentials(own.authority, own.private_key, own.certificate)


class RenewedChannel(grpc.Channel):
    """A gRPC channel that looks for renewed credentials before every call, and then connects anew.

    A call that is under way keeps its connection until the renewal after that.
    """

    def __init__(self, address: str, options: tuple[tuple[str, Any], ...], current: Callable[[], Credentials]) -> None:
        self._address = address
        self._options = options
        self._current = current
        self._lock = threading.Lock()
        self._shown = current()
        self._connection = self._connected()
        self._last: grpc.Channel | None = None
        self.closed = False

    def now(self) -> grpc.Channel:
        """The connection for a call that begins now."""
        with self._lock:
            if not self.closed and (own := self._current()) != self._shown:
                self._shown = own
                self._replace()
            return self._connection

    def connect_anew(self, used: grpc.Channel) -> None:
        """Over this connection nobody is reached. gRPC would try the same one again, later and later."""
        with self._lock:
            if not self.closed and used is self._connection:
                self._replace()

    def unary_unary(self, method: str, *args: Any, **options: Any) -> Any:
        return lambda *call, **about: self.now().unary_unary(method, *args, **options)(*call, **about)

    def unary_stream(self, method: str, *args: Any, **options: Any) -> Any:
        return lambda *call, **about: self.now().unary_stream(method, *args, **options)(*call, **about)

    def stream_unary(self, method: str, *args: Any, **options: Any) -> Any:
        return lambda *call, **about: self.now().stream_unary(method, *args, **options)(*call, **about)

    def stream_stream(self, method: str, *args: Any, **options: Any) -> Any:
        return lambda *call, **about: self.now().stream_stream(method, *args, **options)(*call, **about)

    def subscribe(self, callback: Callable[[grpc.ChannelConnectivity], None], try_to_connect: bool = False) -> None:
        self.now().subscribe(callback, try_to_connect)

    def unsubscribe(self, callback: Callable[[grpc.ChannelConnectivity], None]) -> None:
        self.now().unsubscribe(callback)

    def close(self) -> None:
        """Hang up. If Ctrl-C came while a call began, gRPC waits for that call for ever: nobody else does."""
        with self._lock:
            self.closed = True
            connections = [self._connection, *filter(None, [self._last])]
        closing = [threading.Thread(target=one.close, daemon=True) for one in connections]
        with suppress(RuntimeError):  # the system has none left: then they end with the process
            for thread in closing:
                thread.start()
        for thread in closing:
            if thread.ident is not None:
                thread.join(_FAREWELL)

    def __enter__(self) -> RenewedChannel:
        return self

    def __exit__(self, *ended: object) -> None:
        self.close()

    def _replace(self) -> None:
        if self._last:
            self._last.close()
        self._last, self._connection = self._connection, self._connected()

    def _connected(self) -> grpc.Channel:
        return grpc.secure_channel(self._address, for_client(self._shown), (*self._options, _OWN))
