"""The calls that are open at a node, by the certificates that they were begun with: those of revoked ones are ended."""

from __future__ import annotations

import threading
from collections.abc import Callable, Set

import grpc

Serials = Callable[[], Set[int]]
"""The serial numbers of certificates that are revoked now."""


class OpenCalls:
    """Looks through the open calls only when the list of revoked certificates is another one."""

    def __init__(self, revoked: Serials = frozenset) -> None:
        self._revoked = revoked
        self._open: dict[grpc.ServicerContext, int] = {}
        self._ended: Set[int] = frozenset()
        self._lock = threading.Lock()

    def enter(self, serial: int, context: grpc.ServicerContext) -> Set[int]:
        """A call has begun with the certificate of this serial number. It stays out if the certificate is among those
        that are returned: these were revoked when the calls were last looked through, perhaps since the caller was
        checked."""
        with self._lock:
            ended = self._ended
            if serial in ended:
                return ended
            self._open[context] = serial
        if not context.add_callback(lambda: self._left(context)):
            self._left(context)
        return ended

    def end(self) -> Set[int]:
        """Cancel the calls of the certificates that are revoked now, which are returned."""
        with self._lock:  # also while the list is read: an older one must not take the place of a newer one
            revoked = self._revoked()
            if revoked == self._ended:
                return revoked
            self._ended = revoked
            ending = [context for context, serial in self._open.items() if serial in revoked]
        for context in ending:
            context.cancel()
        return revoked

    def _left(self, context: grpc.ServicerContext) -> None:
        with self._lock:
            self._open.pop(context, None)
