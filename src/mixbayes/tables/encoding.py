"""A table's text as codes of the dictionary: strict for training, forgiving for questions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from mixbayes.protocol.arrays import Values
from mixbayes.protocol.attributes.cells import Texts, missing, positions
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.kind import Reading
from mixbayes.protocol.attributes.nominal import SPELLING
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.bayes.counts import Codes
from mixbayes.protocol.errors import BadData
from mixbayes.tables.columns import Columns, rows_that

MOST_SHOWN = 20


class TableMismatch(BadData):
    """The table breaks the dictionary; the message lists every column and value that does."""

    code = "E101"


def encode_training(dictionary: Dictionary, columns: Columns) -> tuple[Codes, tuple[int, ...]]:
    """The codes of a table that keeps to the dictionary, and how many values of each attribute were clipped.

    Columns that the dictionary does not name are not looked at.
    """
    _refuse(_absent(columns, (*dictionary.names, dictionary.class_column)))
    labels = columns.column(dictionary.class_column)
    readings = [attribute.read(columns.column(attribute.name)) for attribute in dictionary.attributes]
    _refuse(
        [
            *_too_many(columns.rows, dictionary.max_rows),
            *_class_problems(dictionary, labels),
            *chain.from_iterable(
                _problems(attribute, columns.column(attribute.name)[reading.foreign])
                for attribute, reading in zip(dictionary.attributes, readings, strict=True)
            ),
        ]
    )
    codes = Codes(_joined(readings), positions(labels, dictionary.classes))
    return codes, tuple(int(reading.beyond.sum()) for reading in readings)


def encode_query(dictionary: Dictionary, columns: Columns) -> Codes:
    """The codes of rows to classify. What the dictionary does not know is missing; a class is ignored."""
    absent = _absent(columns, dictionary.names)
    if absent:
        raise BadData(_message("The table cannot be classified:", absent))
    return Codes(_joined([a.read(columns.column(a.name)) for a in dictionary.attributes]))


def _joined(readings: Sequence[Reading]) -> Values:
    return np.concatenate([reading.codes for reading in readings])


def _absent(columns: Columns, names: Sequence[str]) -> list[str]:
    return [f"column {name!r} is missing. Add it" for name in names if name not in columns.names]


def _too_many(rows: int, most: int) -> list[str]:
    return [f"it has {rows} rows, all hospitals together may have {most}. Agree on more"] if rows > most else []


def _class_problems(dictionary: Dictionary, labels: Texts) -> list[str]:
    column = f"column {dictionary.class_column!r}"
    without = missing(labels)
    foreign = labels[(positions(labels, dictionary.classes) == len(dictionary.classes)) & ~without]
    return [
        *([f"{column}: {rows_that(without)} no class. Fill it in, or remove the row"] if without.any() else []),
        *([f"{column}: {_shown(foreign)} not among the classes. {SPELLING}"] if foreign.size else []),
    ]


def _problems(attribute: Attribute, foreign: Texts) -> list[str]:
    if not foreign.size:
        return []
    return [f"column {attribute.name!r}: {_shown(attribute.shown(foreign))} {attribute.misfit(foreign)}"]


def _shown(foreign: Texts) -> str:
    distinct = np.unique(foreign)
    more = distinct.size - MOST_SHOWN
    return ", ".join(map(repr, distinct[:MOST_SHOWN].tolist())) + (f" and {more} more" if more > 0 else "")


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        raise TableMismatch(_message("The table breaks the dictionary:", problems))


def _message(title: str, problems: Sequence[str]) -> str:
    return "\n  ".join([title, *problems])
