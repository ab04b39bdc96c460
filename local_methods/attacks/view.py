"""What an attacker has: the released table, and what everybody knows of its columns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mixbayes.local_methods.coordinates import numerics
from mixbayes.local_methods.domain import Domain, bounds_of, unit_of
from mixbayes.local_methods.tables import MISSING, Codes, Column, Floats, Indices, Mask, Nominal, Table

NO_CLASS = 0

LARGEST = 2.0**40
"""In units: larger numbers leave no digits to a fraction, and their squares none to a sum."""


@dataclass(frozen=True, eq=False)
class AttackersView:
    """A release as numbers: rows × columns, a name as its place in the list of its column, not-a-number a gap."""

    cells: Floats = field(repr=False)
    units: Floats
    """In which each column is recorded; 1 for the places of names. Public: whoever knows the hospital knows it."""
    bounds: Floats
    """The lowest and the highest number that each column may have, not-a-number for names. Public as well."""
    nominal: Mask
    classes: Codes = field(repr=False)
    """Of each row; all alike where there is no class."""

    @staticmethod
    def of(released: Table, labels: Nominal | None, known: tuple[Floats, Floats]) -> AttackersView:
        """The release with its classes, which come last as one more nominal column; `known` as `known_of` has it."""
        units, bounds = known
        columns: list[Column] = [*released.columns, *([labels] if labels else [])]
        cells = np.column_stack([as_numbers(column) for column in columns])
        nominal = np.array([isinstance(column, Nominal) for column in columns])
        classes = labels.codes if labels else np.full(released.rows, NO_CLASS, np.int64)
        if labels:
            units, bounds = np.append(units, 1.0), np.vstack([bounds, [np.nan, np.nan]])
        return AttackersView(cells, units, bounds, nominal, classes)

    @property
    def rows(self) -> int:
        return len(self.cells)

    @property
    def whole(self) -> Floats:
        """The cells in units of their columns."""
        return self.cells / self.units

    def measurements(self) -> Indices:
        """The columns of numbers that are not the same in every row, and not so large that their digits end before."""
        return np.array([at for at in np.flatnonzero(~self.nominal) if _varied(self.whole[:, at])], np.intp)

    def complete(self, columns: Indices) -> Mask:
        """The rows that have all of these columns."""
        return np.count_nonzero(np.isnan(self.cells[:, columns]), axis=1) == 0

    def pools(self) -> list[Indices]:
        """The rows of each class."""
        return [np.flatnonzero(self.classes == code) for code in np.unique(self.classes)]

    def rounded(self) -> Floats:
        """The cells at the nearest multiple of their unit, in units."""
        return np.rint(self.whole)


def _has_range(numbers: Floats) -> bool:
    """Whether there are numbers, and the largest less the smallest is one."""
    present = numbers[~np.isnan(numbers)] / 2
    return len(present) > 0 and bool(np.ptp(present) < np.finfo(float).max / 2)


def _varied(cells: Floats) -> bool:
    present = cells[~np.isnan(cells)]
    return len(present) > 0 and bool(np.abs(present).max() < LARGEST and np.ptp(present) > 0)


def as_numbers(column: Column) -> Floats:
    """Numbers as they are, names by their places, gaps as not-a-number."""
    if isinstance(column, Nominal):
        return np.where(column.codes == MISSING, np.nan, column.codes)
    return column.numbers


def known_of(table: Table, domain: Domain | None = None) -> tuple[Floats, Floats]:
    """The unit and the bounds of each column of the original, as they are public."""
    units, bounds = np.ones(len(table.names)), np.full((len(table.names), 2), np.nan)
    for at, column in numerics(table):
        if _has_range(column.numbers):
            bounds[at] = bounds_of(table.names[at], column, domain)
            unit = unit_of(column, bounds[at, 0], bounds[at, 1], 1)
            units[at] = unit.from_units(np.ones(1))[0] if unit else 1
    return units, bounds
