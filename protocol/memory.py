"""Roles that run together in memory: what `run_*` and the tests stand on.

Each role is an ordinary blocking function, so each has a thread while it runs; nothing outlives the call.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from mixbayes.protocol.channel import Buffer, Channel
from mixbayes.protocol.errors import PeerGone, PeerSilent

DEADLINE = 60.0


class MemoryWire:
    """One end of a pair of queues."""

    def __init__(
        self,
        peer: str,
        inbox: queue.SimpleQueue[bytes | None],
        outbox: queue.SimpleQueue[bytes | None],
        deadline: float,
    ):
        self._peer = peer
        self._inbox = inbox
        self._outbox = outbox
        self._deadline = deadline
        self._rest = memoryview(b"")

    def write(self, parts: Sequence[Buffer], step: str) -> None:
        for part in parts:
            self._outbox.put(part.tobytes() if isinstance(part, np.ndarray | memoryview) else bytes(part))

    def read(self, into: memoryview, step: str) -> None:
        done = 0
        while done < len(into):
            if not self._rest:
                self._rest = memoryview(self._next(step))
            part = self._rest[: len(into) - done]
            into[done : done + len(part)] = part
            self._rest = self._rest[len(part) :]
            done += len(part)

    def close(self) -> None:
        self._outbox.put(None)

    def _next(self, step: str) -> bytes:
        try:
            part = self._inbox.get(timeout=self._deadline)
        except queue.Empty:
            raise PeerSilent(self._peer, step, f"nothing came within {self._deadline:g} s") from None
        if part is None:
            raise PeerGone(self._peer, step, "it stopped")
        return part


def channels(first: str, second: str, deadline: float = DEADLINE) -> tuple[Channel, Channel]:
    """Two ends: the first role's (whose peer is the second), and the second's."""
    there: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    back: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    return (
        Channel(second, MemoryWire(second, back, there, deadline)),
        Channel(first, MemoryWire(first, there, back, deadline)),
    )


def together(*roles: Callable[[], Any]) -> list[Any]:
    """Run every role at once and return what each returns. A failure is raised once the others are done too.

    Of several failures that is one which is not only about a peer being silent or gone.
    """
    with ThreadPoolExecutor(len(roles)) as pool:
        running = [pool.submit(role) for role in roles]
    errors = [e for e in (r.exception() for r in running) if e]
    blunt = [e for e in errors if not isinstance(e, PeerSilent | PeerGone)]
    if errors:
        raise (blunt or errors)[0]
    return [r.result() for r in running]
