"""From values to places in a picture, with round numbers along the way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, log10


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
    """The multiples of a round step from below the range to above it, with so many steps at most.

    If less than two of them would be in the range, the step is a smaller one.
    """
    widest = (high - low) / most
    steps = [step for step in _steps(widest) if not whole or step.denominator == 1] or [Fraction(1)]
    large = next((at for at, step in enumerate(steps) if step >= widest * (1 - 1e-9)), len(steps) - 1)
    found: list[float] = []
    for step in reversed(steps[: large + 1]):
        found = [float(number * step) for number in range(floor(low / step), ceil(high / step) + 1)]
        if sum(low <= value <= high for value in found) >= 2:
            return found
    return found


def _steps(widest: float) -> list[Fraction]:
    """Round ones from a tenth of it to ten times it."""
    power = floor(log10(widest))
    return [Fraction(digits, 2) * Fraction(10) ** (power + more) for more in (-1, 0, 1) for digits in (2, 4, 5, 10)]
