"""Who says which step to whom, learnt from real runs of every protocol in memory."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mixbayes.protocol.channel import Buffer
from mixbayes.protocol.memory import MemoryWire

Said = set[tuple[str, str, str]]
"""Step, who says it, and to whom."""


@contextmanager
def overhearing() -> Iterator[Said]:
    """What is said within, over channels in memory."""
    said: Said = set()
    readers: dict[int, tuple[str, Any]] = {}
    """By inbox, whom the reader of it takes for the sender. The inbox is kept, so that its number stays its own."""
    plain_init, plain_write, lock = MemoryWire.__init__, MemoryWire.write, threading.Lock()
    pending: list[tuple[str, Any, str]] = []

    def init(self: MemoryWire, peer: str, inbox: Any, outbox: Any, deadline: float) -> None:
        plain_init(self, peer, inbox, outbox, deadline)
        readers[id(inbox)] = peer, inbox

    def write(self: MemoryWire, parts: Sequence[Buffer], step: str) -> None:
        with lock:
            pending.append((step, self._outbox, self._peer))
        plain_write(self, parts, step)

    MemoryWire.__init__, MemoryWire.write = init, write  # type: ignore[method-assign]
    try:
        yield said
    finally:
        MemoryWire.__init__, MemoryWire.write = plain_init, plain_write  # type: ignore[method-assign]
        said |= {(step, readers[id(outbox)][0], receiver) for step, outbox, receiver in pending}
