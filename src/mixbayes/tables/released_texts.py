"""Released tables as texts: a column that was not worked on keeps its spelling, of all others no cell stands out by it.

In a column that was worked on a number that happens to be what it was, and a gap where a gap was, are written as all
others are.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from mixbayes.local_methods.tables import Column, Numeric, Table
from mixbayes.protocol.attributes.cells import Texts, missing, spelled
from mixbayes.tables.columns import Columns

SUPPRESSED = "?"


def as_texts(released: Table, original: Columns | None = None, kept: Collection[str] = ()) -> Columns:
    """The cells as texts; in the kept columns those of the original, row i of one being row i of the other."""
    cells = [
        _kept(column, original.texts(name)) if original and (name in kept or column.missing.all()) else _texts(column)
        for name, column in zip(released.names, released.columns, strict=True)
    ]
    return Columns.of(released.names, cells, released.rows)


def _texts(column: Column) -> Texts:
    texts = spelled(column.numbers) if isinstance(column, Numeric) else column.cells().astype(np.str_)
    return np.where(column.missing, SUPPRESSED, texts)


def _kept(column: Column, before: Texts) -> Texts:
    same = column.missing == missing(before)
    if not same.all():
        same &= ~column.missing  # all gaps alike: none tells whether it was suppressed
    return np.where(same, before, _texts(column))
