"""The cells of a column as places on a public grid, and places as cells again. The last place is a missing cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mixbayes.local_methods.domain import Domain, Unit, bounds_of, unit_of, values_of
from mixbayes.local_methods.errors import UnfitTable
from mixbayes.local_methods.tables import MISSING, Codes, Column, Floats, Nominal, Numeric

FINEST = 256
"""Into no more places the range of a number is divided."""
SEVERAL = 5
"""So many cells must need a unit, where it is taken from the table."""
WHOLE = 10
"""Bounds that are given as whole numbers at least so far apart say that the numbers are whole."""
DIGITS = 3
"""Else the unit is the power of ten that has so many digits of the range."""
MANY = 1 << 20
"""How many numbers a range has that is too small or too large for a unit."""


class PublicGrid(Protocol):
    """What is public of a column."""

    @property
    def name(self) -> str: ...

    @property
    def size(self) -> int:
        """How many places there are, the one of missing cells among them."""
        ...

    @property
    def ordered(self) -> bool:
        """Whether places that are neighbours are near to each other."""
        ...

    def places(self, column: Column) -> tuple[Codes, int]:
        """The places of a column's cells, and how many cells lie outside what is public."""
        ...

    def column(self, places: Codes, random: np.random.Generator) -> Column:
        """Cells drawn at these places."""
        ...


@dataclass(frozen=True, eq=False)
class ListedValues:
    """A list of values."""

    name: str
    values: NDArray[Any] = field(repr=False)
    ordered = False

    @property
    def size(self) -> int:
        return len(self.values) + 1

    def places(self, column: Column) -> tuple[Codes, int]:
        if not isinstance(column, Nominal):
            raise UnfitTable(f"Column {self.name!r} has numbers in one place and names in another.")
        at = {value: place for place, value in enumerate(self.values.tolist())}
        own = np.array([at.get(value, len(self.values)) for value in column.values.tolist()] + [len(self.values)], int)
        places = own[column.codes]
        return places, int(np.count_nonzero(places == len(self.values)) - np.count_nonzero(column.missing))

    def column(self, places: Codes, random: np.random.Generator) -> Column:
        return Nominal(np.where(places == len(self.values), MISSING, places), self.values)


@dataclass(frozen=True)
class Nothing:
    """No number is known of the column: every cell is missing."""

    name: str
    size = 1
    ordered = False

    def places(self, column: Column) -> tuple[Codes, int]:
        return np.zeros(len(column), np.int64), int(np.count_nonzero(~column.missing))

    def column(self, places: Codes, random: np.random.Generator) -> Column:
        return Numeric(np.full(len(places), np.nan))


@dataclass(frozen=True)
class Bins:
    """The numbers between two bounds that are multiples of a unit: so many of them, in bins of the same width."""

    name: str
    low: float
    high: float
    unit: Unit | None
    ordered = True

    @property
    def numbers(self) -> int:
        if self.unit is None:
            return MANY if self.high > self.low else 1
        return 1 + int(self._multiples(np.array([self.high]))[0])

    @property
    def bins(self) -> int:
        return min(FINEST, self.numbers)

    @property
    def size(self) -> int:
        return self.bins + 1

    def places(self, column: Column) -> tuple[Codes, int]:
        """Numbers outside the bounds are put at the nearest bound."""
        if not isinstance(column, Numeric):
            raise UnfitTable(f"Column {self.name!r} has numbers in one place and names in another.")
        missing = column.missing
        present = np.where(missing, self.low, column.numbers)
        outside = int(np.count_nonzero((present < self.low) | (present > self.high)))
        multiples = np.clip(self._multiples(np.clip(present, self.low, self.high)), 0, self.numbers - 1)
        places = multiples.astype(np.int64) * self.bins // self.numbers
        return np.where(missing, self.bins, places), outside

    def column(self, places: Codes, random: np.random.Generator) -> Column:
        """Every number of a bin is equally likely."""
        missing = places == self.bins
        bins = np.where(missing, 0, places)
        first, beyond = -(-bins * self.numbers // self.bins), -(-(bins + 1) * self.numbers // self.bins)
        return Numeric(np.where(missing, np.nan, self._number(random.integers(first, beyond))))

    def _multiples(self, numbers: Floats) -> Floats:
        """How many units numbers lie above the lowest one."""
        if self.unit is None:
            spread = self.high / 2 - self.low / 2  # twice as much may not be finite
            return np.rint((numbers / 2 - self.low / 2) / (spread or 1.0) * (MANY - 1))
        return np.rint(self.unit.in_units(numbers)) - np.rint(self.unit.in_units(np.array([self.low])))

    def _number(self, multiples: Codes) -> Floats:
        if self.unit is None:
            part = multiples / (MANY - 1)
            return np.clip(self.low * (1 - part) + self.high * part, self.low, self.high).astype(np.float64)
        whole = multiples.astype(np.float64) + np.rint(self.unit.in_units(np.array([self.low])))
        return np.clip(self.unit.from_units(whole), self.low, self.high) + 0.0


def grid_of(name: str, column: Column, domain: Domain | None) -> PublicGrid:
    """What is public of a column: agreed, or else taken from the table."""
    agreed = domain is not None and name in domain
    if isinstance(column, Nominal):
        return ListedValues(name, _listed(values_of(name, column, domain)))
    if not agreed and column.missing.all():
        return Nothing(name)
    low, high = bounds_of(name, column, domain)
    unit = _agreed_unit(*domain[name]) if domain is not None and agreed else unit_of(column, low, high, SEVERAL)
    return Bins(name, *_ends(low, high, unit), unit)


def _ends(low: float, high: float, unit: Unit | None) -> tuple[float, float]:
    return unit.within(low, high) if unit else (low, high)


def _listed(values: Sequence[Any]) -> NDArray[Any]:
    found = np.empty(len(values), object)
    found[:] = values
    kinds = {type(value) for value in values}
    return np.array(list(values)) if len(kinds) == 1 else found


def _agreed_unit(low: float, high: float) -> Unit | None:
    """From the bounds alone."""
    if isinstance(low, int) and isinstance(high, int) and high - low >= WHOLE:
        return Unit(0)
    width = float(high) - float(low)
    if not 1e-280 < width < 1e280 or max(abs(low), abs(high)) > 1e12 * width:
        return None
    return Unit(int(f"{width:e}".partition("e")[2]) - DIGITS)
