"""A parameter's values as whole numbers of steps, in the order of growing privacy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, floor, sqrt
from typing import Any

from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.local_methods.tuning.searches import Middle


@dataclass(frozen=True)
class Reach:
    """From where to where a parameter can go on a table, in steps."""

    high: int
    why: str
    """What the upper end is, in words."""
    low: int = 0


def geometric(one: int, other: int) -> int:
    """Kim: the smaller of sizes that differ by factors come first, for they cost less accuracy."""
    return round(sqrt(one * other))


def arithmetic(one: int, other: int) -> int:
    """For shares and ranks, which differ by no factors."""
    return round((one + other) / 2)


@dataclass(frozen=True)
class Scale:
    """How a parameter is searched."""

    least: int
    """The smallest number of steps that the method takes."""
    reach: Callable[[Any, Labelled], Reach]
    """For a method with its other settings, and the rows that are released."""
    middle: Middle = geometric
    steps_to_one: int = 1
    less_is_private: bool = False

    def bounds(self, method: Any, rows: Labelled) -> Reach:
        """From where to where the parameter can go here."""
        reach = self.reach(method, rows)
        return replace(reach, low=max(self.least, reach.low))

    def value(self, steps: int) -> float:
        """What the method is given."""
        return steps if self.steps_to_one == 1 else steps / self.steps_to_one

    def from_value(self, value: float) -> int:
        """The first number of steps from this value on."""
        return ceil(value * self.steps_to_one - ROUNDING)

    def up_to_value(self, value: float) -> int:
        """The last number of steps up to this value."""
        return floor(value * self.steps_to_one + ROUNDING)


ROUNDING = 1e-9
