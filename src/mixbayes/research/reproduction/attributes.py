"""A public table as the methods take it: attributes, and the class of each row."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.local_methods.tables import Nominal, Table
from mixbayes.protocol.errors import BadData
from mixbayes.tables.columns import Columns
from mixbayes.tables.method_table import CLASS, as_table, numeric_names


def labelled(columns: Columns, nominal: Collection[str] = (), complete: bool = False) -> Labelled:
    """Its rows, or the complete ones. A column of numbers is numeric, but for those that are said to be nominal."""
    names = {CLASS, *(set(nominal) & set(columns.names))}
    table = as_table(columns, numeric_names([columns], names, ()))
    if complete:
        table = table.take(np.flatnonzero(~table.missing().any(axis=1)))
    labels = table.column(CLASS)
    if not isinstance(labels, Nominal) or labels.missing.any():
        raise BadData(f"{columns.source} has rows without a class. Remove them.")
    return Labelled(without_class(table), labels)


def without_class(table: Table) -> Table:
    """The attributes alone."""
    return table.select([at for at, name in enumerate(table.names) if name != CLASS])


def numeric_attributes(columns: Columns) -> Table:
    """The columns that hold nothing but numbers; a class takes no part."""
    table = without_class(as_table(columns, numeric_names([columns], (), ())))
    return table.select(table.numeric)
