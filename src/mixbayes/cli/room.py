"""Whether the system still gives a node threads and memory. Without them it is up, and every call at it fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from mixbayes.cli import bounded
from mixbayes.transport.errors import NO_ROOM, CannotServe

PATIENCE = 25.0
"""Seconds without room, at every look, after which the node ends. A shorter want passes by itself."""
_MEMORY = 4 << 20
"""Bytes to ask for: the messages of a few calls."""


class Room:
    """Looks for room now and then, by taking a little of it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._none_since: float | None = None

    def look(self) -> None:
        """Raises `CannotServe` once no look has found room for `PATIENCE` seconds."""
        if is_there():
            self._none_since = None
        elif self._none_since is None:
            self._none_since = self._clock()
        elif self._clock() - self._none_since >= PATIENCE:
            raise CannotServe(f"This node cannot serve: it gets no thread, or no memory. {NO_ROOM}")


def is_there() -> bool:
    """Whether the system gives this process one more thread and some memory."""
    bounded.begin("to begin a thread", PATIENCE)  # a thread that fails between two steps leaves its maker waiting
    try:
        bytearray(_MEMORY)
        threading.Thread(target=_nothing, name="room", daemon=True).start()
    except (RuntimeError, MemoryError):
        return False
    finally:
        bounded.over()
    return True


def _nothing() -> None:
    """The thread is of use because it could begin."""
