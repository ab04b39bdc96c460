"""The common treatment of missing cells: filled, or their rows dropped; counted in either case."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mixbayes.local_methods.tables import Column, Nominal, Numeric, Table


@dataclass(frozen=True)
class MissingCells:
    """How many cells were missing, in how many rows, and what was done about them: fill, drop or keep."""

    cells: int
    rows: int
    treatment: str


def filled(table: Table, labels: Nominal | None = None) -> Table:
    """Missing numbers become the mean, missing values the most frequent one: of the class if it has any, else of all.

    A column without any present cell is left as it is.
    """
    return table.with_columns(
        {at: _filled(column, labels) for at, column in enumerate(table.columns) if column.missing.any()}
    )


def _filled(column: Column, labels: Nominal | None) -> Column:
    if column.missing.all():
        return column
    column = _by_class(column, labels) if labels else column
    return _with(column, column.missing, _usual(column))


def _by_class(column: Column, labels: Nominal) -> Column:
    for at in range(len(labels.values)):
        members = column.take(labels.codes == at)
        if not members.missing.all():
            column = _with(column, column.missing & (labels.codes == at), _usual(members))
    return column


def _usual(column: Column) -> float:
    return float(np.nanmean(column.numbers)) if isinstance(column, Numeric) else int(column.counts().argmax())


def _with(column: Column, where: np.ndarray, value: float) -> Column:
    if isinstance(column, Numeric):
        return Numeric(np.where(where, value, column.numbers))
    return column.with_codes(np.where(where, int(value), column.codes))
