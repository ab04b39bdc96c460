"""What is public of a column, whoever the patients are: the bounds of a number, the values of a name, the unit.

In a federation it is agreed. Where nothing is said of a column it is taken from the table: bounds are rounded outwards,
so that they are not the cells of the two most extreme patients, and a unit is a power of ten that several cells need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mixbayes.local_methods.arithmetic.rounding import outwards
from mixbayes.local_methods.errors import BadParameter
from mixbayes.local_methods.tables import Floats, Nominal, Numeric, Table

Domain = Mapping[str, Sequence[Any]]
"""By the names of columns: the lowest and the highest number, or the values of a nominal column."""

DOMAIN_CONSTRAINTS: Mapping[str, Any] = {"domain": [dict, None]}

DIGITS = 6
"""No unit is finer than the power of ten that has so many digits of a column's range."""
SAME = 1e-7
"""A number that is so near to a multiple of a unit is one: the rest is how single precision writes decimals."""
SMALLEST = 1e-290
"""Ranges below it have no unit: its powers of ten are no doubles any more."""


def bounds_of(name: str, column: Numeric, domain: Domain | None) -> tuple[float, float]:
    """The public bounds of a numeric column that has a number."""
    if domain is None or name not in domain:
        return outwards(float(np.nanmin(column.numbers)), float(np.nanmax(column.numbers)))
    try:
        low, high = map(float, domain[name])
    except (TypeError, ValueError):
        raise BadParameter(f"The domain of column {name!r} must be its lowest and its highest number.") from None
    if not (np.isfinite([low, high]).all() and low <= high):
        raise BadParameter(f"The domain of column {name!r} must be two numbers, the lower one first.")
    return low, high


def values_of(name: str, column: Nominal, domain: Domain | None) -> Sequence[Any]:
    """The public values of a nominal column: the agreed ones, or those that the table has."""
    if domain is None or name not in domain:
        return column.values.tolist()
    if not len(domain[name]):
        raise BadParameter(f"The domain of column {name!r} must list one value at least.")
    return list(domain[name])


def not_agreed(table: Table, domain: Domain | None) -> str:
    """What is not promised of the columns of which nothing public was said."""
    bounds, values = (
        ", ".join(table.names[at] for at in found if domain is None or table.names[at] not in domain)
        for found in (table.numeric, table.nominal)
    )
    said = (
        f"that the bounds of {bounds} tell nothing: they are the table's own, rounded outwards" if bounds else "",
        f"that the values of {values} tell nothing: they are those of the table" if values else "",
    )
    return "; ".join(filter(None, said))


@dataclass(frozen=True)
class Unit:
    """A power of ten: 10^exponent."""

    exponent: int

    def in_units(self, numbers: Floats) -> Floats:
        """How many units each number is."""
        return numbers / 10.0**self.exponent if self.exponent >= 0 else numbers * 10.0**-self.exponent

    def from_units(self, units: Floats) -> Floats:
        """The numbers that are so many units; of a whole number of them, the double nearest to its decimals."""
        return units * 10.0**self.exponent if self.exponent >= 0 else units / 10.0**-self.exponent

    def rounded(self, numbers: Floats) -> Floats:
        """The nearest multiples."""
        return self.from_units(np.rint(self.in_units(numbers))) + 0.0

    def within(self, low: float, high: float) -> tuple[float, float]:
        """The lowest and the highest multiple between these bounds; the bounds themselves, if there is none."""
        scaled = self.in_units(np.array([low, high]))
        least, most = np.ceil(scaled[0] - SAME), np.floor(scaled[1] + SAME)
        if least > most:
            return low, high
        ends = self.rounded(self.from_units(np.array([least, most])))
        return max(float(ends[0]), low), min(float(ends[1]), high)


@dataclass(frozen=True)
class Range:
    """What is public of a numeric column: its bounds, and the unit in which it is recorded."""

    low: float
    high: float
    unit: Unit | None

    def fraction(self, numbers: Floats) -> Floats:
        """How far between the bounds they are, from 0 to 1; what lies beyond a bound is at it."""
        half = self.high / 2 - self.low / 2  # the whole width may not be finite
        return np.clip((numbers / 2 - self.low / 2) / (half if half > 0 else 1.0), 0, 1)

    def number(self, fractions: Floats) -> Floats:
        """The numbers there, in the unit."""
        return self.nearest(self.low * (1 - fractions) + self.high * fractions)

    def nearest(self, numbers: Floats) -> Floats:
        """The nearest numbers of the column: multiples of its unit between its bounds."""
        if self.unit is None:
            return np.clip(numbers, self.low, self.high)
        return np.clip(self.unit.rounded(numbers), *self.unit.within(self.low, self.high))


def range_of(name: str, column: Numeric, domain: Domain | None, least: int) -> Range:
    """The public range of a column that has a number. At least so many cells decide about its unit."""
    low, high = bounds_of(name, column, domain)
    return Range(low, high, unit_of(column, low, high, least))


def unit_of(column: Numeric, low: float, high: float, least: int) -> Unit | None:
    """The unit in which a column is recorded: the finest power of ten that at least so many of its cells need.

    A single cell with more digits than the others does not decide. None for a range that is too small to have a unit.
    """
    numbers = np.clip(column.numbers[~column.missing], low, high)
    largest = max(abs(low), abs(high), SMALLEST)
    width = high - low if high > low else largest
    if width < SMALLEST or largest > 1 / SMALLEST:
        return None
    coarsest = int(f"{width:e}".partition("e")[2])
    finest = coarsest - DIGITS
    units = map(Unit, range(coarsest, finest, -1))
    return next((unit for unit in units if _finer(numbers, unit) < least), Unit(finest))


def _finer(numbers: Floats, unit: Unit) -> int:
    """How many of the numbers are no multiples of this unit."""
    scaled = unit.in_units(numbers)
    return int(np.count_nonzero(np.abs(scaled - np.rint(scaled)) > SAME * np.maximum(1.0, np.abs(scaled))))
