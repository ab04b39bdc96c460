"""A table in memory: named columns, every cell with the text that its source has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.attributes.cells import Texts
from mixbayes.protocol.errors import BadData
from mixbayes.tables.cells import Cells, Column, Rows, joined, positions_of


@dataclass(frozen=True, eq=False)
class Columns:
    """A table by columns, or some of its rows. What it shows of itself are the names and the number of rows."""

    names: tuple[str, ...]
    cells: tuple[Column, ...] = field(repr=False)
    rows: int
    source: str = ""
    """Where it came from, for messages about it."""

    @classmethod
    def of(cls, names: Sequence[str], texts: Sequence[Texts], rows: int, source: str = "") -> Columns:
        """The table with these cells."""
        return cls(tuple(names), tuple(map(Cells.of, texts)), rows, source)

    def __post_init__(self) -> None:
        refuse_twice(self.names)
        if [len(column) for column in self.cells] != [self.rows] * len(self.names):
            raise BadData(f"{len(self.names)} columns of {self.rows} rows were announced, others came.")

    def column(self, name: str) -> Cells:
        """One column, with each text once."""
        return self.raw(name).coded()

    def raw(self, name: str) -> Column:
        """One column as its source yields it."""
        return self.cells[self.names.index(name)]

    def texts(self, name: str) -> Texts:
        """The cells of one column."""
        return self.column(name).texts()

    @contextmanager
    def named_in_errors(self) -> Iterator[None]:
        """What is found wrong with the table meanwhile is said of it by name."""
        with named_in_errors(self.source):
            yield

    def take(self, rows: Rows) -> Columns:
        """The table with only these rows, by their positions or by a mask."""
        at = positions_of(rows)
        return Columns(self.names, tuple(column.take(at) for column in self.cells), len(at), self.source)

    def chosen(self, names: Sequence[str]) -> Columns:
        """The table with only these columns, in this order."""
        return Columns(tuple(names), tuple(map(self.raw, names)), self.rows, self.source)


def refuse_twice(names: Sequence[str]) -> None:
    """Columns are found by their names."""
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise BadData(f"Columns with the same name: {', '.join(map(repr, twice))}. Rename or remove one.")


@contextmanager
def named_in_errors(source: str) -> Iterator[None]:
    """What is found wrong with data meanwhile is said of this source."""
    try:
        yield
    except BadData as error:
        raise type(error)(f"{source}: {error}" if source else str(error)) from None


def rows_that(where: NDArray[np.bool_]) -> str:
    """Which rows these are, for a message that goes on with what they have: one is named, else the first of them."""
    at = np.flatnonzero(where)
    return said_of_rows(at.size, int(at[0]))


def said_of_rows(many: int, first: int | None) -> str:
    """So many rows, of which the first is known where the source has an order."""
    if first is None:
        return f"{many} row{'s' * (many > 1)} {'have' if many > 1 else 'has'}"
    return f"row {first + 1} below the header has" if many == 1 else f"{many} rows (first row {first + 1}) have"


def stacked(tables: Sequence[Columns]) -> Columns:
    """The rows of several tables with the same columns, in the first one's order of columns."""
    first = tables[0]
    for table in tables[1:]:
        if set(table.names) != set(first.names):
            one, other = table.source or "A table", first.source or "the first one"
            raise BadData(f"{one} has other columns than {other}. Give all the same header.")
    cells = tuple(joined(name, (table.raw(name) for table in tables)) for name in first.names)
    sources = ", ".join(dict.fromkeys(table.source for table in tables if table.source))
    return Columns(first.names, cells, sum(table.rows for table in tables), sources)
