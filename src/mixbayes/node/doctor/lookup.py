"""The addresses of a host, looked up in bounded time."""

from __future__ import annotations

import socket
import threading
from queue import Empty, SimpleQueue

from mixbayes.transport.probe import PATIENCE


def addresses_of(host: str) -> list[str]:
    """Empty if the name is unknown; a TimeoutError if no name server answers."""
    found: SimpleQueue[list[str]] = SimpleQueue()

    def ask() -> None:
        try:
            found.put(sorted({str(info[4][0]) for info in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}))
        except (OSError, UnicodeError):
            found.put([])

    threading.Thread(target=ask, daemon=True).start()  # there is no other way to stop waiting for it
    try:
        return found.get(timeout=PATIENCE)
    except Empty:
        raise TimeoutError(f"no answer in {PATIENCE:g} s") from None
