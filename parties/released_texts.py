"""Released tables as texts: what did not change keeps its spelling, other numbers get their full precision."""

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
    gaps = column.missing & missing(before)
    if not isinstance(column, Numeric):
        return gaps | (texts == before)
    same = column.numbers == numbers(before)
    if (same | column.missing).all():
        return gaps | same
    return gaps  # a number that happens to be the mean of its group must not stand out by its spelling
