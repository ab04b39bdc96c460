"""A hospital's table in memory: named columns of text, every cell as the file has it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.attributes.cells import Texts
from mixbayes.protocol.errors import BadData


@dataclass(frozen=True, eq=False)
class Columns:
    """A table by columns. What it shows of itself are the names and the number of rows, never a cell."""

    names: tuple[str, ...]
    cells: tuple[Texts, ...] = field(repr=False)
    rows: int
    source: str = ""
    """Where it came from, for messages about it."""

    def __post_init__(self) -> None:
        twice = [name for name, times in Counter(self.names).items() if times > 1]
        if twice:
            raise BadData(f"Columns with the same name: {', '.join(map(repr, twice))}. Rename or remove one.")
        if [len(column) for column in self.cells] != [self.rows] * len(self.names):
            raise BadData(f"{len(self.names)} columns of {self.rows} rows were announced, others came.")

    def column(self, name: str) -> Texts:
        """The cells of one column."""
        return self.cells[self.names.index(name)]

    @contextmanager
    def named_in_errors(self) -> Iterator[None]:
        """What is found wrong with the table meanwhile is said of it by name."""
        try:
            yield
        except BadData as error:
            raise type(error)(f"{self.source}: {error}" if self.source else str(error)) from None

    def take(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> Columns:
        """The table with only these rows, by their positions or by a mask."""
        cells = tuple(column[rows] for column in self.cells)
        return Columns(self.names, cells, len(np.arange(self.rows)[rows]), self.source)


def rows_that(where: NDArray[np.bool_]) -> str:
    """Which rows these are, for a message that goes on with what they have: one is named, else the first of them."""
    at = np.flatnonzero(where) + 1
    return f"row {at[0]} below the header has" if at.size == 1 else f"{at.size} rows (first row {at[0]}) have"


def stacked(tables: Sequence[Columns]) -> Columns:
    """The rows of several tables with the same columns, in the first one's order of columns."""
    first = tables[0]
    for table in tables[1:]:
        if set(table.names) != set(first.names):
            one, other = table.source or "A table", first.source or "the first one"
            raise BadData(f"{one} has other columns than {other}. Give all the same header.")
    cells = tuple(np.concatenate([table.column(name) for table in tables]) for name in first.names)
    sources = ", ".join(dict.fromkeys(table.source for table in tables if table.source))
    return Columns(first.names, cells, sum(table.rows for table in tables), sources)
