"""Released tables as texts: the cells that did not change keep theirs, the others get their full precision."""

from __future__ import annotations

import numpy as np

from mixbayes.local_methods.tables import Column, Numeric, Table
from mixbayes.protocol.cells import Texts, missing, numbers
from mixbayes.protocol.columns import Columns

SUPPRESSED = "?"


def as_texts(released: Table, original: Columns | None) -> Columns:
    """The cells as texts; the original, if row i of one is row i of the other, says how unchanged ones are written."""
    cells = [
        _texts(column, original.column(name) if original else None)
        for name, column in zip(released.names, released.columns, strict=True)
    ]
    return Columns(released.names, tuple(cells), released.rows)


def _texts(column: Column, before: Texts | None) -> Texts:
    texts = _number_texts(column) if isinstance(column, Numeric) else column.cells().astype(np.str_)
    texts = np.where(column.missing, SUPPRESSED, texts)
    return texts if before is None else np.where(_unchanged(column, texts, before), before, texts)


def _number_texts(column: Numeric) -> Texts:
    return np.array([repr(number).removesuffix(".0") for number in column.numbers.tolist()], np.str_)


def _unchanged(column: Column, texts: Texts, before: Texts) -> np.ndarray:
    same = column.numbers == numbers(before) if isinstance(column, Numeric) else texts == before
    return same | (column.missing & missing(before))
