"""What there is to say of a table's columns: its different values, and how often each occurs.

Of a column with very many different values only some are kept, so that a profile does not grow with the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.attributes.cells import Numbers, Texts, missing, numbers
from mixbayes.tables.cells import Cells, Column, FreeText
from mixbayes.tables.columns import Columns

MOST_DISTINCT = 1 << 17
"""Of a column that is not in memory and has more different values than this, only so many are kept."""


@dataclass(frozen=True, eq=False)
class ColumnProfile:
    """One column of a table."""

    name: str
    rows: int
    missing: int
    """Cells that say nothing."""
    first_missing: int | None
    """The first row with such a cell, where there is one and the source has an order."""
    values: Texts = field(repr=False)
    """Its different texts that say something, sorted; MOST_DISTINCT of them where there are more."""
    counts: NDArray[np.int64] = field(repr=False)
    """How often each of these occurs."""
    complete: bool
    """Whether `values` has all."""
    range: tuple[float, float] | None
    """The smallest and the largest number, if all cells that say something are numbers."""

    @property
    def present(self) -> int:
        """How many cells say something."""
        return self.rows - self.missing

    @property
    def numeric(self) -> bool:
        """Whether all cells that say something are numbers, and any does."""
        return self.range is not None

    def numbers(self) -> Numbers:
        """`values` as numbers."""
        return numbers(self.values)


@dataclass(frozen=True, eq=False)
class Profile:
    """Columns of a table, in its order."""

    columns: Mapping[str, ColumnProfile]
    rows: int
    source: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.columns)


class Profiling:
    """A profile that grows part by part."""

    def __init__(self, names: Sequence[str], most: int = MOST_DISTINCT) -> None:
        self._columns = {name: Growing(name, most) for name in names}
        self._rows = 0

    def add(self, part: Columns) -> None:
        """Take these rows in."""
        for name, column in self._columns.items():
            column.add(part.raw(name))
        self._rows += part.rows

    def done(self, source: str) -> Profile:
        """The profile of all rows."""
        return Profile({name: column.done() for name, column in self._columns.items()}, self._rows, source)


def profiled(table: Columns) -> Profile:
    """The profile of a table in memory, where all values are kept."""
    profiling = Profiling(table.names, max(table.rows, 1))
    profiling.add(table)
    return profiling.done(table.source)


def merged(profiles: Sequence[ColumnProfile]) -> ColumnProfile:
    """The profile of one column of several tables together."""
    values, at = np.unique(np.concatenate([one.values for one in profiles]), return_inverse=True)
    counts = np.bincount(at, np.concatenate([one.counts for one in profiles]), len(values)).astype(np.int64)
    ranges = [one.range for one in profiles if one.present]
    known = [found for found in ranges if found]
    return ColumnProfile(
        profiles[0].name,
        sum(one.rows for one in profiles),
        sum(one.missing for one in profiles),
        None,
        values,
        counts,
        all(one.complete for one in profiles),
        (min(low for low, _ in known), max(high for _, high in known)) if known and len(known) == len(ranges) else None,
    )


class Growing:
    """One column's profile. Once it has `most` values, further ones only widen the range."""

    def __init__(self, name: str, most: int = MOST_DISTINCT) -> None:
        self.name = name
        self._most = most
        self._counts: dict[str, int] = {}
        self.complete = True
        """Whether all values are kept."""
        self.numeric = True
        """Whether all cells so far that say something are numbers."""
        self._rows = self._missing = 0
        self._first_missing: int | None = None
        self._low, self._high = np.inf, -np.inf

    def add(self, column: Column) -> None:
        try:
            self._add(column)
        except FreeText:
            self.complete = self.numeric = False
        self._rows += len(column)

    def add_groups(self, texts: Texts, times: NDArray[np.int64]) -> None:
        """Take cells in that are counted by their text, from a source without an order."""
        gaps = missing(texts)
        self._rows += int(times.sum())
        self._missing += int(times[gaps].sum())
        self._add_said(texts[~gaps], times[~gaps])

    def _add(self, column: Column) -> None:
        values = None if self.complete else column.all_numbers()
        if values is None:
            self._add_texts(column.coded())
        else:
            self._add_missing(np.isnan(values))
            self._widen(values)

    def replace(self, rows: int, missing: int, bounds: tuple[float, float] | None) -> None:
        """What the source says of all rows, where it did not give all of them."""
        self._rows, self._missing, self.numeric = rows, missing, bounds is not None
        self._low, self._high = bounds or (np.inf, -np.inf)

    def done(self) -> ColumnProfile:
        texts = np.array(list(self._counts), np.str_)
        order = np.argsort(texts)
        counts = np.array(list(self._counts.values()), np.int64)
        known = self.numeric and self._low <= self._high
        found = (float(self._low), float(self._high)) if known else None
        return ColumnProfile(
            self.name,
            self._rows,
            self._missing,
            self._first_missing,
            texts[order],
            counts[order],
            self.complete,
            found,
        )

    def _add_texts(self, cells: Cells) -> None:
        gaps = missing(cells.values)
        if gaps.any():
            self._add_missing(gaps[cells.codes])
        said = np.flatnonzero(~gaps & (cells.counts > 0))
        self._add_said(cells.values[said], cells.counts[said])

    def _add_said(self, texts: Texts, counts: NDArray[np.int64]) -> None:
        values = numbers(texts)
        if np.isnan(values).any():
            self.numeric = False
        else:
            self._widen(values)
        for text, times in zip(texts.tolist(), counts.tolist(), strict=True):
            if text in self._counts or self._room():
                self._counts[text] = self._counts.get(text, 0) + times

    def _room(self) -> bool:
        self.complete = self.complete and len(self._counts) < self._most
        return self.complete

    def _add_missing(self, gaps: NDArray[np.bool_]) -> None:
        times = int(np.count_nonzero(gaps))
        if times and self._first_missing is None:
            self._first_missing = self._rows + int(gaps.argmax())
        self._missing += times

    def _widen(self, values: Numbers) -> None:
        if values.size and not np.isnan(values).all():
            self._low = min(self._low, np.nanmin(values))
            self._high = max(self._high, np.nanmax(values))
