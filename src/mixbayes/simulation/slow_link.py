"""A link between two nodes that are far from each other: how long bytes take from one end to the other."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SlowLink:
    """Seconds of delay one way, and bytes a second in each direction."""

    delay: float
    rate: float

    @classmethod
    def of(cls, milliseconds: float, megabits: float) -> SlowLink:
        """From milliseconds one way and Mbit/s."""
        return cls(milliseconds / 1e3, megabits * 1e6 / 8)


class Direction:
    """One direction of a link: bytes leave one after the other at the rate, and arrive a delay later."""

    def __init__(self, link: SlowLink) -> None:
        self._link = link
        self._free = 0.0

    def arrival(self, now: float, count: int) -> float:
        """When the last of these bytes arrives that are sent now, behind all that was sent before."""
        self._free = max(self._free, now) + count / self._link.rate
        return self._free + self._link.delay
