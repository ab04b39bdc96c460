"""What an attacker has: the released table, and what everybody knows of its columns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from mixbayes.local_methods.tables import MISSING, Codes, Column, Floats, Indices, Mask, Nominal, Table

FINEST_DIGITS = 9
"""No unit is looked for below so many decimal places."""

SAME = 1e-6
"""In units: numbers that are so near to a whole one are written with rounding errors."""

NO_CLASS = 0


@dataclass(frozen=True, eq=False)
class Seen:
    """A release as numbers: rows × columns, a name as its place in the list of its column, not-a-number a gap."""

    cells: Floats = field(repr=False)
    units: Floats
    """In which each column is recorded; 1 for the places of names. Public: whoever knows the hospital knows it."""
    nominal: Mask
    classes: Codes = field(repr=False)
    """Of each row; all alike where there is no class."""

    @staticmethod
    def of(released: Table, labels: Nominal | None, units: Floats) -> Seen:
        """The release with its classes, which come last as one more nominal column."""
        columns: list[Column] = [*released.columns, *([labels] if labels else [])]
        cells = np.column_stack([as_numbers(column) for column in columns])
        nominal = np.array([isinstance(column, Nominal) for column in columns])
        classes = labels.codes if labels else np.full(released.rows, NO_CLASS, np.int64)
        return Seen(cells, np.append(units, [1.0] * (labels is not None)), nominal, classes)

    @property
    def rows(self) -> int:
        return len(self.cells)

    @property
    def whole(self) -> Floats:
        """The cells in units of their columns."""
        return self.cells / self.units

    def measurements(self) -> Indices:
        """The columns of numbers that are not the same in every row."""
        varied = np.array([np.ptp(column[~np.isnan(column)]) > 0 if not np.isnan(column).all() else False
                           for column in self.cells.T])
        return np.flatnonzero(~self.nominal & varied)

    def complete(self, columns: Indices) -> Mask:
        """The rows that have all of these columns."""
        return ~np.isnan(self.cells[:, columns]).any(axis=1)

    def pools(self) -> list[Indices]:
        """The rows of each class."""
        return [np.flatnonzero(self.classes == code) for code in np.unique(self.classes)]

    def one_pool(self) -> Seen:
        """The same release to somebody who does not go by the classes."""
        return replace(self, classes=np.full(self.rows, NO_CLASS, np.int64))

    def rounded(self) -> Floats:
        """The cells at the nearest multiple of their unit, in units."""
        return np.rint(self.whole)


def as_numbers(column: Column) -> Floats:
    """Numbers as they are, names by their places, gaps as not-a-number."""
    if isinstance(column, Nominal):
        return np.where(column.codes == MISSING, np.nan, column.codes)
    return column.numbers


def units_of(table: Table) -> Floats:
    """The unit of each column of the original: the largest power of ten of which all its numbers are multiples."""
    return np.array([1.0 if isinstance(column, Nominal) else _unit(column.numbers) for column in table.columns])


def _unit(numbers: Floats) -> float:
    present = numbers[~np.isnan(numbers)]
    for digits in range(FINEST_DIGITS):
        scaled = present * 10.0**digits
        if (np.abs(scaled - np.rint(scaled)) <= SAME).all():
            return 10.0**-digits
    return 10.0**-FINEST_DIGITS
