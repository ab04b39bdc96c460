"""Released tables as texts: a column that was not worked on keeps its spelling, of all others no cell stands out by it.

In a column that was worked on a number that happens to be what it was, and a gap where a gap was, are written as all
others are. Numbers that were worked on are mostly all different, so that their texts would take ten times the room:
they are spelled when somebody asks for some of them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from mixbayes.local_methods.tables import Column, Floats, Mask, Numeric, Table
from mixbayes.protocol.attributes.cells import Numbers, Texts, missing, spelled
from mixbayes.tables import cells
from mixbayes.tables.cells import Cells, in_few_bytes
from mixbayes.tables.columns import Columns

SUPPRESSED = "?"


@dataclass(frozen=True, eq=False)
class Spelled(cells.Column):
    """A column of numbers, as texts that are all alike; not-a-number is a suppressed cell."""

    values: Floats = field(repr=False)

    def __len__(self) -> int:
        return len(self.values)

    def coded(self) -> Cells:
        different, codes = np.unique(self.values, return_inverse=True)
        return Cells(_spelled(different), in_few_bytes(codes, len(different)))

    def all_numbers(self) -> Numbers:
        return np.where(np.isfinite(self.values), self.values + 0.0, np.nan)

    def texts_in(self, rows: slice) -> Texts:
        return _spelled(self.values[rows])


def as_texts(released: Table, original: Columns | None = None, kept: Collection[str] = ()) -> Columns:
    """The cells as texts; in the kept columns those of the original, row i of one being row i of the other."""
    columns = [
        _kept(column, original.column(name)) if original and (name in kept or column.missing.all()) else _texts(column)
        for name, column in zip(released.names, released.columns, strict=True)
    ]
    return Columns(released.names, tuple(columns), released.rows)


def _texts(column: Column) -> cells.Column:
    if isinstance(column, Numeric):
        return Spelled(column.numbers)
    texts = np.append(column.values.astype(np.str_), SUPPRESSED)  # the last, where code -1 leads
    values, places = np.unique(texts, return_inverse=True)
    return Cells(values, in_few_bytes(places, len(values))[column.codes])


def _kept(column: Column, before: Cells) -> Cells:
    same = column.missing == before.where(missing)
    if not same.all():
        same &= ~column.missing  # all gaps alike: none tells whether it was suppressed
    return before if same.all() else _filled_in(before, same, _texts(column.take(~same)).coded())


def _filled_in(before: Cells, same: Mask, others: Cells) -> Cells:
    """The cells as they were where they are the same, and the others in the rest of the rows."""
    values, found = np.unique(np.append(before.values, others.values), return_inverse=True)
    places = in_few_bytes(found, len(values))
    codes = places[: len(before.values)][before.codes]
    codes[~same] = places[len(before.values) :][others.codes]
    return Cells(values, codes)


def _spelled(numbers: Floats) -> Texts:
    return np.where(np.isnan(numbers), SUPPRESSED, spelled(numbers))
