"""The traffic of a node by purpose, summed over its conversations."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from mixbayes.protocol.channel import Channel


@dataclass(frozen=True)
class Moved:
    """Bytes in both directions, and changes of direction."""

    bytes: int = 0
    rounds: int = 0

    @classmethod
    def by(cls, channel: Channel) -> Moved:
        return cls(channel.traffic.sent + channel.traffic.received, channel.traffic.rounds)

    def __add__(self, other: Moved) -> Moved:
        return Moved(self.bytes + other.bytes, self.rounds + other.rounds)

    def __sub__(self, other: Moved) -> Moved:
        return Moved(self.bytes - other.bytes, self.rounds - other.rounds)


class Meter:
    """Sums the traffic of open channels when it is asked, and keeps the sum of those that ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[str, list[Channel]] = defaultdict(list)
        self._ended: dict[str, Moved] = defaultdict(Moved)

    def begin(self, purpose: str, channels: Iterable[Channel]) -> None:
        with self._lock:
            self._open[purpose].extend(channels)

    def end(self, purpose: str, channels: Iterable[Channel]) -> None:
        with self._lock:
            for channel in channels:
                self._open[purpose].remove(channel)
                self._ended[purpose] += Moved.by(channel)

    def receive(self, purpose: str, size: int) -> None:
        """A message outside any conversation."""
        with self._lock:
            self._ended[purpose] += Moved(size, 0)

    def total(self, purpose: str) -> Moved:
        with self._lock:
            return sum(map(Moved.by, self._open[purpose]), self._ended[purpose])
