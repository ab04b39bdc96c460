"""A network between nodes of this machine that can lose whatever is sent, without a word to either end."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from types import TracebackType

_AT_ONCE = 1 << 16
_FAREWELL = 5.0


class Outage:
    """Listens at one port, and passes on what comes to another.

    While it is lost, nothing is passed on and nothing is closed. A connection that it met, or that was made meanwhile,
    stays dead afterwards: firewalls and translated addresses forget connections like that. Only new ones go through.
    """

    def __init__(self, behind: int, port: int = 0) -> None:
        self._behind = behind
        self._listening = socket.create_server(("127.0.0.1", port))
        self.port: int = self._listening.getsockname()[1]
        self._lock = threading.Lock()
        self._lost = False
        self._ends: list[socket.socket] = []
        self._dead: set[socket.socket] = set()

    def lose(self) -> None:
        """From now on everything is lost."""
        with self._lock:
            self._lost = True
            self._dead.update(self._ends)

    def heal(self) -> None:
        """New connections go through."""
        with self._lock:
            self._lost = False

    def __enter__(self) -> Outage:
        threading.Thread(target=self._accept, name="outage", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the port and all connections."""
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        with self._lock:
            ends = list(self._ends)
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _accept(self) -> None:
        with suppress(OSError):  # once it is closed
            while True:
                self._connect(self._listening.accept()[0])

    def _connect(self, near: socket.socket) -> None:
        with self._lock:
            self._ends.append(near)
            if self._lost:
                self._dead.add(near)
                return
        try:
            far = socket.create_connection(("127.0.0.1", self._behind), _FAREWELL)
        except OSError:  # nobody listens there
            near.close()
            return
        far.settimeout(None)
        with self._lock:
            self._ends.append(far)
        for source, target in ((near, far), (far, near)):
            threading.Thread(target=self._pass, args=(source, target), name="outage", daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(_AT_ONCE):
                if self._is_dead(source):
                    return
                target.sendall(data)
        if not self._is_dead(source):
            with suppress(OSError):
                target.shutdown(socket.SHUT_WR)

    def _is_dead(self, end: socket.socket) -> bool:
        with self._lock:
            return end in self._dead
