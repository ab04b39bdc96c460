"""Brings tables that were read separately to the same columns and the same lists of values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np

from mixbayes.local_methods.tables import MISSING, Codes, Column, Nominal, Numeric, Table, nominal_from


def aligned(tables: Sequence[Table], names: Sequence[str]) -> list[Table]:
    """These columns of every table. A column that is nominal in one of them is nominal in all, with one list of values.

    Among words a number is its shortest text.
    """
    columns = [together([table.column(name) for table in tables]) for name in names]
    of_table = zip(*columns, strict=True) if columns else iter([()] * len(tables))
    return [Table(tuple(names), tuple(parts), table.rows) for table, parts in zip(tables, of_table, strict=True)]


def together(columns: Sequence[Column]) -> list[Column]:
    """The same column of several tables: all of them numeric, or all nominal with one list of values."""
    if all(isinstance(column, Numeric) for column in columns):
        return list(columns)
    return [*same_values(columns)]


def same_values(columns: Sequence[Column]) -> list[Nominal]:
    """The columns as nominal ones with the values of all of them, each of which is listed once."""
    texts = [_texts(column) for column in columns]
    values = sorted(set(chain.from_iterable(listed for listed, _ in texts)))
    code = {value: at for at, value in enumerate(values)}
    listed = np.array(values, np.str_)
    return [Nominal(_recoded(codes, (code[value] for value in own)), listed) for own, codes in texts]


def _texts(column: Column) -> tuple[list[str], Codes]:
    """The values as texts, and the codes."""
    if isinstance(column, Numeric):
        column = nominal_from(column.numbers, column.missing)
        return [f"{value:.17g}" if value % 1 else f"{value:.0f}" for value in column.values.tolist()], column.codes
    return [str(value) for value in column.values.tolist()], column.codes


def _recoded(codes: Codes, new: Iterable[int]) -> Codes:
    return np.array([*new, MISSING], np.int64)[codes]  # code -1 takes the last entry
