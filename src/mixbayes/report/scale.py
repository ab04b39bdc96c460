"""From values to places in a picture, with round numbers along the way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """A range of values on a stretch of the picture."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, most: int = 5, whole: bool = False) -> list[float]:
        """Round values within the range."""
        return [tick for tick in _round_values(self.low, self.high, most, whole) if self.low <= tick <= self.high]


def around(values: Iterable[float], start: float, end: float) -> Scale:
    """A scale with room for all of the values and a little more."""
    values = list(values)
    low, high = min(values), max(values)
    margin = (high - low) * 0.08 or abs(high) * 0.05 or 1.0
    return Scale(low - margin, high + margin, start, end)


def up_to(most: float, start: float, end: float) -> Scale:
    """A scale from nothing."""
    return Scale(0.0, most or 1.0, start, end)


def _round_values(low: float, high: float, most: int, whole: bool) -> list[float]:
    from matplotlib.ticker import MaxNLocator  # slow to import

    return [float(tick) for tick in MaxNLocator(most, steps=[1, 2, 2.5, 5, 10], integer=whole).tick_values(low, high)]
