"""Projections as they are released: the columns of a group and the class, in an order independent of the table's.

Rows are sorted by their values before they are shuffled. So whoever knows the seed and reverses the shuffle gets the
sorted order, and learns nothing about the order of the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixbayes.local_methods.coded import cells_of
from mixbayes.local_methods.tables import Column, Nominal, Numeric, Table


@dataclass(frozen=True, eq=False)
class Projection:
    """Some columns of a release, and the classes of their rows."""

    table: Table
    labels: Nominal


def projected(table: Table, labels: Nominal, groups: Sequence[Sequence[int]], seed: int) -> list[Projection]:
    """Every group of columns in an order of its own."""
    random = np.random.default_rng(seed)
    return [_shuffled(table.select(group), labels, random) for group in groups]


def rejoined(
    table: Table, labels: Nominal, groups: Sequence[Sequence[int]], random: np.random.Generator
) -> tuple[Table, Nominal]:
    """One table that says what the projections say: each shuffled within the classes, and cells in no group missing.

    The counts of every column by class are those of the table.
    """
    classes = np.sort(labels.codes)
    place = random.permutation(table.rows)
    columns: dict[int, Column] = {at: emptied(column) for at, column in enumerate(table.columns)}
    for group in groups:
        rows = _in_order([table.columns[at] for at in group], labels)
        rows = rows[np.lexsort((random.random(table.rows), classes))][place]
        columns |= {at: table.columns[at].take(rows) for at in group}
    return table.with_columns(columns), labels.with_codes(classes[place])


def _shuffled(table: Table, labels: Nominal, random: np.random.Generator) -> Projection:
    rows = _in_order(table.columns, labels)[random.permutation(table.rows)]
    return Projection(table.take(rows), labels.take(rows))


def _in_order(columns: Sequence[Column], labels: Nominal) -> NDArray[np.intp]:
    """The rows by class, and within a class by their cells."""
    return np.lexsort([*(cells_of(column) for column in reversed(columns)), labels.codes])


def emptied(column: Column) -> Column:
    """The same column without any cell."""
    if isinstance(column, Numeric):
        return Numeric(np.full(len(column), np.nan))
    return column.with_codes(np.full(len(column), -1, np.int64))
