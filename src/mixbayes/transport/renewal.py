"""A gRPC channel whose credentials may be renewed: calls that begin afterwards go over a new connection."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import grpc

from mixbayes.transport.tls import Credentials, for_client


class RenewedChannel(grpc.Channel):
    """Asks for the current credentials before every call. What is under way keeps its connection until the next
    renewal."""

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
                if self._last:
                    self._last.close()
                self._last, self._connection = self._connection, self._connected()
            return self._connection

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
        with self._lock:
            self.closed = True
            self._connection.close()
            if self._last:
                self._last.close()

    def __enter__(self) -> RenewedChannel:
        return self

    def __exit__(self, *ended: object) -> None:
        self.close()

    def _connected(self) -> grpc.Channel:
        return grpc.secure_channel(self._address, for_client(self._shown), self._options)
