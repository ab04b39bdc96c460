"""Roles that run together in memory. All `run_*` functions and most tests are built on this.

Each role is an ordinary blocking function and has a thread of its own while it runs. All threads end with the call.
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
    """A `Wire` whose two directions are two queues."""

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
    """Both ends of one channel: the end of the role `first`, whose peer is `second`, and the end of `second`."""
    there: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    back: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    return (
        Channel(second, MemoryWire(second, back, there, deadline)),
        Channel(first, MemoryWire(first, there, back, deadline)),
    )


def together(*roles: Callable[[], Any]) -> list[Any]:
    """Run all roles at the same time and return their results.

    If roles fail, one failure is raised, after all roles have ended. A peer that is silent or gone has often failed
    itself, so another kind of failure is raised in preference.
    """
    with ThreadPoolExecutor(len(roles)) as pool:
        running = [pool.submit(role) for role in roles]
    errors = [e for e in (r.exception() for r in running) if e]
    causes = [e for e in errors if not isinstance(e, PeerSilent | PeerGone)]
    if errors:
        raise (causes or errors)[0]
    return [r.result() for r in running]
