"""Links in memory on which time is counted in one-way delays, and nothing else takes any.

Every role has a clock. A message carries the time at which it arrives, one delay after it was sent, and whoever
receives it is at that time or later. So the clock of a role says how many messages in a row led to where it is.
"""

from __future__ import annotations

import queue
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixbayes.protocol.channel import Buffer, Channel
from mixbayes.protocol.errors import PeerGone, PeerSilent
from tests.protocol.pairs import DEADLINE

Stamped = tuple[int, bytes] | None


@dataclass
class Clock:
    """The delays that have passed for one role, whatever channel it waited on."""

    now: int = 0


class CountingWire:
    """One end of a link between two roles."""

    def __init__(
        self, peer: str, clock: Clock, inbox: queue.SimpleQueue[Stamped], outbox: queue.SimpleQueue[Stamped]
    ) -> None:
        self._peer = peer
        self._clock = clock
        self._inbox = inbox
        self._outbox = outbox
        self._rest = memoryview(b"")

    def write(self, parts: Sequence[Buffer], step: str) -> None:
        whole = b"".join(part.tobytes() if isinstance(part, np.ndarray | memoryview) else bytes(part) for part in parts)
        self._outbox.put((self._clock.now + 1, whole))

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
            found = self._inbox.get(timeout=DEADLINE)
        except queue.Empty:
            raise PeerSilent(self._peer, step, f"nothing came within {DEADLINE:g} s") from None
        if found is None:
            raise PeerGone(self._peer, step, "it stopped")
        arrival, message = found
        self._clock.now = max(self._clock.now, arrival)
        return message


def link(first: tuple[str, Clock], second: tuple[str, Clock]) -> tuple[Channel, Channel]:
    """Both ends of a channel between two roles, each of a title and a clock."""
    there: queue.SimpleQueue[Stamped] = queue.SimpleQueue()
    back: queue.SimpleQueue[Stamped] = queue.SimpleQueue()
    return (
        Channel(second[0], CountingWire(second[0], first[1], back, there)),
        Channel(first[0], CountingWire(first[0], second[1], there, back)),
    )
