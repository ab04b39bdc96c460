"""The calls that are open at a node, by the certificates that they were begun with: those of revoked ones are ended."""

from __future__ import annotations

import threading
from collections.abc import Set

import grpc


class OpenCalls:
    """Looks through the open calls only when the list of revoked certificates is another one."""

    def __init__(self) -> None:
        self._open: dict[grpc.ServicerContext, int] = {}
        self._ended: Set[int] = frozenset()
        self._lock = threading.Lock()

    def enter(self, serial: int, context: grpc.ServicerContext) -> None:
        """A call has begun with the certificate of this serial number."""
        with self._lock:
            self._open[context] = serial
        if not context.add_callback(lambda: self._left(context)):
            self._left(context)

    def end(self, revoked: Set[int]) -> None:
        """Cancel the calls of these certificates."""
        with self._lock:
            if revoked == self._ended:
                return
            self._ended = revoked
            ending = [context for context, serial in self._open.items() if serial in revoked]
        for context in ending:
            context.cancel()

    def _left(self, context: grpc.ServicerContext) -> None:
        with self._lock:
            self._open.pop(context, None)
