"""Tables of text as the local methods take them: numbers, and values from a list."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from mixbayes.local_methods.errors import BadParameter, MethodError
from mixbayes.local_methods.tables import MISSING, Column, Nominal, Numeric, Table
from mixbayes.protocol.attributes.cells import Texts, missing, numbers
from mixbayes.protocol.errors import BadData, Unsupported
from mixbayes.tables.cells import Cells
from mixbayes.tables.columns import Columns

MOST_SHOWN = 20
CLASS = "class"


def class_column(table: Columns, asked: str | None) -> str | None:
    """The column that was asked for, else the one named `class`, else none."""
    if asked is not None:
        _refuse_unknown([table], [asked])
        return asked
    return CLASS if CLASS in table.names else None


def sensitive_column(table: Columns, asked: str | None, label: str | None) -> str | None:
    """The column that was asked for, else the class, else none."""
    if asked is not None:
        _refuse_unknown([table], [asked])
    return label if asked is None else asked


def numeric_names(tables: Sequence[Columns], nominal: Collection[str], numeric: Collection[str]) -> set[str]:
    """The columns that hold nothing but numbers in any of the tables, as far as nothing else is said of them."""
    _refuse_unknown(tables, [*nominal, *numeric])
    both = sorted(set(nominal) & set(numeric))
    if both:
        raise Unsupported(f"Said to be both nominal and numeric: {', '.join(map(repr, both))}. Say one.")
    words = {name for table in tables for name in table.names if len(_words(table.column(name)))}
    return {name for table in tables for name in table.names} - (words - set(numeric)) - set(nominal)


def as_table(columns: Columns, numeric: Collection[str]) -> Table:
    """The table, with these columns as numbers."""
    read = [_read(columns, name, name in numeric) for name in columns.names]
    return Table(columns.names, tuple(read), columns.rows)


@contextmanager
def as_command_error() -> Iterator[None]:
    """What a local method refuses ends the command: a wrong parameter as usage, a table as bad data."""
    try:
        yield
    except BadParameter as error:
        raise Unsupported(str(error)) from None
    except MethodError as error:
        raise BadData(str(error)) from None


def _read(columns: Columns, name: str, numeric: bool) -> Column:
    if not numeric:
        return _nominal(columns.column(name))
    values = columns.raw(name).all_numbers()
    if values is None:
        shown = ", ".join(map(repr, _words(columns.column(name))[:MOST_SHOWN].tolist()))
        raise BadData(f"{columns.source}: column {name!r} is said to be numeric, but holds {shown}.")
    return Numeric(values)


def _nominal(cells: Cells) -> Nominal:
    """Its values in the order of their texts."""
    listed = cells.distinct
    places = np.full(len(cells.values), MISSING, np.int64)
    said = ~missing(cells.values) & (cells.counts > 0)
    places[said] = np.searchsorted(listed, cells.values[said])
    return Nominal(places[cells.codes], listed)


def _words(cells: Cells) -> Texts:
    """The values that occur and are no numbers."""
    return cells.distinct[np.isnan(numbers(cells.distinct))]


def _refuse_unknown(tables: Sequence[Columns], names: Sequence[str]) -> None:
    unknown = [name for name in names if not any(name in table.names for table in tables)]
    if unknown:
        had = ", ".join(map(repr, tables[0].names))
        raise BadData(f"{tables[0].source}: there is no column {unknown[0]!r}. The columns are {had}.")
