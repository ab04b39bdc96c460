"""Rows to classify as codes of the dictionary, and how a table that breaks the dictionary is refused."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from mixbayes.protocol.arrays import Values
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.bayes.counts import Codes
from mixbayes.protocol.errors import BadData
from mixbayes.tables.columns import Columns

MOST_SHOWN = 20


class TableMismatch(BadData):
    """The table breaks the dictionary; the message lists every column and value that does."""

    code = "E101"


def encode_query(dictionary: Dictionary, columns: Columns) -> Codes:
    """The codes of rows to classify. What the dictionary does not know is missing; a class is ignored."""
    lacking = absent(columns.names, dictionary.names)
    if lacking:
        raise BadData(_message("The table cannot be classified:", lacking))
    return Codes(np.concatenate([_codes(attribute, columns) for attribute in dictionary.attributes]))


def _codes(attribute: Attribute, columns: Columns) -> Values:
    column = columns.raw(attribute.name)
    values = column.all_numbers() if attribute.numeric else None
    if values is not None:
        return attribute.read_numbers(values).codes
    cells = column.coded()
    return attribute.read(cells.values).codes[:, cells.codes]


def absent(names: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """The problem with each wanted column that is not among these."""
    return [f"column {name!r} is missing. Add it" for name in wanted if name not in names]


def shown(foreign: Collection[str]) -> str:
    """The values that do not fit, for the hospital whose table it is."""
    distinct = sorted(set(foreign))
    more = len(distinct) - MOST_SHOWN
    return ", ".join(map(repr, distinct[:MOST_SHOWN])) + (f" and {more} more" if more > 0 else "")


def refuse(problems: Sequence[str]) -> None:
    """Refuse a table that has these problems."""
    if problems:
        raise TableMismatch(_message("The table breaks the dictionary:", problems))


def _message(title: str, problems: Sequence[str]) -> str:
    return "\n  ".join([title, *problems])
