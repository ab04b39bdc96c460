"""Roles in memory over links that take time, without waiting for it.

Every role has a clock, which runs on while the role computes. Every message carries the time at which it arrives. A
role that reads a message before that time would have waited until then, so its clock is set. A role is one thread that
reads from one peer at a time, so in the end its clock shows what it would have shown over such links.
"""

from __future__ import annotations

import queue
import struct
import time
from collections.abc import Callable, Sequence

import numpy as np

from mixbayes.protocol.channel import Buffer, Channel
from mixbayes.protocol.memory import DEADLINE, MemoryWire
from mixbayes.simulation.slow_link import Direction, SlowLink

_STAMP = struct.Struct("<dQ")


class Clock:
    """One role's time, in seconds and in one-way delays: the longest chain of messages, each after the one before."""

    def __init__(self, computed: Callable[[], float] = time.thread_time) -> None:
        """`computed` says for how many seconds the thread that calls it has computed."""
        self._computed = computed
        self._counted: float | None = None
        self._seconds = 0.0
        self.delays = 0

    def now(self) -> float:
        """Seconds of waiting and of computing. The first call begins to count the computing."""
        computed = self._computed()
        self._seconds += 0.0 if self._counted is None else computed - self._counted
        self._counted = computed
        return self._seconds

    def wait_until(self, seconds: float, delays: int) -> None:
        self._seconds = max(self.now(), seconds)
        self.delays = max(self.delays, delays)


class TimedLink:
    """Between two roles. All channels between the two share it."""

    def __init__(self, link: SlowLink, first: Clock, second: Clock) -> None:
        self._ends = _End(first, Direction(link)), _End(second, Direction(link))

    @property
    def bytes(self) -> int:
        """In both directions."""
        return sum(end.sent for end in self._ends)

    def channels(self, first: str, second: str) -> tuple[Channel, Channel]:
        """Both ends of one channel, as those of `memory.channels`."""
        there: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        back: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        of_first, of_second = self._ends
        return (
            Channel(second, _TimedWire(of_first, second, back, there, DEADLINE)),
            Channel(first, _TimedWire(of_second, first, there, back, DEADLINE)),
        )


class _End:
    """A role at one end of a link."""

    def __init__(self, clock: Clock, leaving: Direction) -> None:
        self.clock = clock
        self.sent = 0
        self._leaving = leaving

    def stamp(self, count: int) -> bytes:
        """When so many bytes arrive that leave now."""
        self.sent += count
        return _STAMP.pack(self._leaving.arrival(self.clock.now(), count), self.clock.delays + 1)


class _TimedWire(MemoryWire):
    """A wire in memory; every message begins with its stamp, which is not counted."""

    def __init__(
        self,
        end: _End,
        peer: str,
        inbox: queue.SimpleQueue[bytes | None],
        outbox: queue.SimpleQueue[bytes | None],
        deadline: float,
    ) -> None:
        super().__init__(peer, inbox, outbox, deadline)
        self._end = end

    def write(self, parts: Sequence[Buffer], step: str) -> None:
        message = b"".join(part.tobytes() if isinstance(part, np.ndarray) else part for part in parts)
        super().write([self._end.stamp(len(message)) + message], step)

    def _next(self, step: str) -> bytes:
        self._end.clock.now()
        message = super()._next(step)
        self._end.clock.wait_until(*_STAMP.unpack_from(message))
        return message[_STAMP.size :]
