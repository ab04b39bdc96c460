"""A table of numeric and nominal columns in memory, with missing cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixbayes.local_methods.errors import UnfitTable

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]
Indices = NDArray[np.intp]
Rows = NDArray[np.integer[Any]] | Mask
"""Rows by their positions or by a mask."""

MISSING = -1
"""The code of a missing nominal cell."""


@dataclass(frozen=True, eq=False)
class Numeric:
    """A column of measurements; not-a-number is a missing cell."""

    numbers: Floats = field(repr=False)

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def missing(self) -> Mask:
        return np.isnan(self.numbers)

    def take(self, rows: Rows) -> Numeric:
        return Numeric(self.numbers[rows])

    def cells(self) -> NDArray[Any]:
        return self.numbers


@dataclass(frozen=True, eq=False)
class Nominal:
    """A column of values from a list; each cell is the position of its value, or -1 where it is missing."""

    codes: Codes = field(repr=False)
    values: NDArray[Any] = field(repr=False)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def missing(self) -> Mask:
        return self.codes == MISSING

    def take(self, rows: Rows) -> Nominal:
        return Nominal(self.codes[rows], self.values)

    def with_codes(self, codes: Codes) -> Nominal:
        return Nominal(codes, self.values)

    def counts(self) -> Codes:
        """How often each value of the list occurs."""
        return np.bincount(self.codes[~self.missing], minlength=len(self.values)).astype(np.int64)

    def cells(self) -> NDArray[Any]:
        """The values themselves, None where a cell is missing."""
        if not self.missing.any():
            return self.values[self.codes]
        cells = np.empty(len(self.values) + 1, object)  # the last, where code -1 leads, stays None
        cells[:-1] = self.values
        return cells[self.codes]


Column = Numeric | Nominal


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of one length, by name. What it shows of itself is its shape, never a cell."""

    names: tuple[str, ...]
    columns: tuple[Column, ...] = field(repr=False)
    rows: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows, len(self.names)

    def __len__(self) -> int:
        return self.rows

    @property
    def numeric(self) -> list[int]:
        """Where the numeric columns stand."""
        return [at for at, column in enumerate(self.columns) if isinstance(column, Numeric)]

    @property
    def nominal(self) -> list[int]:
        """Where the nominal columns stand."""
        return [at for at, column in enumerate(self.columns) if isinstance(column, Nominal)]

    def column(self, name: str) -> Column:
        return self.columns[self.position(name)]

    def position(self, name: str) -> int:
        """Where the column of this name stands."""
        if name not in self.names:
            listed = ", ".join(map(repr, self.names))
            raise UnfitTable(f"There is no column {name!r} with a value in it. The columns are {listed}.")
        return self.names.index(name)

    def positions(self, names: Iterable[str]) -> list[int]:
        return [self.position(name) for name in names]

    def numbers(self, at: Sequence[int] | None = None) -> Floats:
        """The numeric columns, all or those at these positions, side by side: rows × columns."""
        where = self.numeric if at is None else at
        words = [self.names[p] for p in where if isinstance(self.columns[p], Nominal)]
        if words:
            raise UnfitTable(f"These columns are not numeric: {', '.join(map(repr, words))}.")
        arrays = [column.numbers for p in where if isinstance(column := self.columns[p], Numeric)]
        return np.column_stack(arrays) if arrays else np.empty((self.rows, 0))

    def with_numbers(self, numbers: Floats, at: Sequence[int] | None = None) -> Table:
        """The table with other numbers in its numeric columns, all or those at these positions."""
        where = self.numeric if at is None else at
        return self.with_columns({p: Numeric(numbers[:, i].copy()) for i, p in enumerate(where)})

    def with_columns(self, columns: Mapping[int, Column]) -> Table:
        """The table with other columns at these positions."""
        return Table(self.names, tuple(columns.get(at, column) for at, column in enumerate(self.columns)), self.rows)

    def take(self, rows: Rows) -> Table:
        """The table with only these rows, by their positions or by a mask."""
        count = len(np.arange(self.rows)[rows])
        return Table(self.names, tuple(column.take(rows) for column in self.columns), count)

    def only(self, rows: Indices) -> Table:
        """The table with only these rows, each once and in their order: the same table, if these are all."""
        return self if len(rows) == self.rows else self.take(rows)

    def select(self, at: Sequence[int]) -> Table:
        """The table with only the columns at these positions."""
        return Table(tuple(self.names[p] for p in at), tuple(self.columns[p] for p in at), self.rows)

    def missing(self) -> Mask:
        """Where cells are missing: rows × columns."""
        return np.column_stack([column.missing for column in self.columns])

    def missing_cells(self) -> int:
        """How many cells are missing."""
        return sum(int(np.count_nonzero(column.missing)) for column in self.columns)

    def incomplete(self) -> Mask:
        """The rows with a missing cell."""
        rows: Mask = np.zeros(self.rows, bool)
        for column in self.columns:
            rows |= column.missing
        return rows

    def empty(self) -> Mask:
        """The rows in which every cell is missing."""
        rows: Mask = np.ones(self.rows, bool)
        for column in self.columns:
            rows &= column.missing
        return rows


def column_from(cells: NDArray[Any], missing: Mask, name: str) -> Column:
    """A numeric column if every present cell is a number, else a nominal one."""
    present = cells[~missing]
    if cells.dtype.kind in "mMV":
        raise UnfitTable(f"Column {name!r} holds dates or records. Turn them into numbers or texts.")
    if cells.dtype.kind in "fiu" or (cells.dtype == object and len(present) and all(map(_is_number, present))):
        numbers = np.full(len(cells), np.nan)
        numbers[~missing] = present.astype(np.float64)
        return numeric_from(numbers, name)
    return nominal_from(cells, missing)


def numeric_from(numbers: Floats, name: str) -> Numeric:
    """A numeric column; not-a-number is a missing cell, and infinity is refused."""
    if np.isinf(numbers).any():
        raise UnfitTable(f"Column {name!r} holds an infinite number. Remove it or leave the cell empty.")
    return Numeric(numbers)


def nominal_from(cells: NDArray[Any], missing: Mask) -> Nominal:
    """A nominal column; its values are listed in their order, or in the order of their texts if they have none."""
    present = cells[~missing]
    codes = np.full(len(cells), MISSING, np.int64)
    if cells.dtype != object:
        values, codes[~missing] = np.unique(present, return_inverse=True)
        return Nominal(codes, values)
    distinct = list(dict.fromkeys(present.tolist()))
    try:
        distinct.sort()
    except TypeError:
        distinct.sort(key=lambda value: (type(value).__name__, str(value)))
    at = {value: code for code, value in enumerate(distinct)}
    codes[~missing] = [at[value] for value in present.tolist()]
    values = np.empty(len(distinct), object)
    values[:] = distinct
    return Nominal(codes, values)


def _is_number(cell: object) -> bool:
    return isinstance(cell, (int, float, np.integer, np.floating)) and not isinstance(cell, bool)
