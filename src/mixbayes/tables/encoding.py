"""A table's text as codes of the dictionary: strict for training, forgiving for questions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.attributes.cells import Texts, missing, numbers, positions
from mixbayes.protocol.attributes.dictionary import Attribute, Binned, Dictionary, Nominal, Numeric
from mixbayes.protocol.attributes.layout import NUMERIC_BITS
from mixbayes.protocol.bayes.counts import Codes
from mixbayes.protocol.errors import BadData
from mixbayes.tables.columns import Columns, rows_that

NO_NUMBER = -1
"""The code of a missing cell of a numeric attribute; elsewhere it is the attribute's size."""

MOST_SHOWN = 20
_CORRECT = "Correct the spelling, leave missing cells empty, or agree on the value"


class TableMismatch(BadData):
    """The table breaks the dictionary; the message lists every column and value that does."""

    code = "E101"


class _Reading(NamedTuple):
    """One column read: its codes, what in it breaks the dictionary, how many values lay beyond the bounds."""

    codes: NDArray[np.int32]
    foreign: Texts
    clipped: int


def encode_training(dictionary: Dictionary, columns: Columns) -> tuple[Codes, tuple[int, ...]]:
    """The codes of a table that keeps to the dictionary, and how many values of each attribute were clipped.

    Columns that the dictionary does not name are not looked at.
    """
    _refuse(_absent(columns, (*dictionary.names, dictionary.class_column)))
    labels = columns.column(dictionary.class_column)
    readings = [_read(attribute, columns.column(attribute.name)) for attribute in dictionary.attributes]
    _refuse(
        [
            *_too_many(columns.rows, dictionary.max_rows),
            *_class_problems(dictionary, labels),
            *chain.from_iterable(map(_problems, dictionary.attributes, readings)),
        ]
    )
    codes = Codes(_stacked(readings), positions(labels, dictionary.classes))
    return codes, tuple(reading.clipped for reading in readings)


def encode_query(dictionary: Dictionary, columns: Columns) -> Codes:
    """The codes of rows to classify. What the dictionary does not know is missing; a class is ignored."""
    absent = _absent(columns, dictionary.names)
    if absent:
        raise BadData(_message("The table cannot be classified:", absent))
    return Codes(_stacked([_read(a, columns.column(a.name)) for a in dictionary.attributes]))


def _read(attribute: Attribute, cells: Texts) -> _Reading:
    if isinstance(attribute, Nominal):
        codes = positions(cells, attribute.values)
        return _Reading(codes, _said(cells, codes == attribute.size), 0)
    values = numbers(cells)
    unread = np.isnan(values)
    codes = _bins(attribute, values) if isinstance(attribute, Binned) else _scaled(attribute, values)
    beyond = (values < attribute.low) | (values > attribute.high)
    return _Reading(codes, _said(cells, unread), int(np.count_nonzero(beyond)))


def _said(cells: Texts, where: NDArray[np.bool_]) -> Texts:
    some = cells[where]
    return some[~missing(some)]


def _bins(attribute: Binned, values: NDArray[np.float64]) -> NDArray[np.int32]:
    # What lies beyond the bounds falls in the outermost bin. Clipping the number first would be the same,
    # except below a bound that is itself a cut point: there a pooled classifier uses the empty first bin.
    at = np.searchsorted(np.array(attribute.cuts), values, side="right")
    return np.where(np.isnan(values), attribute.size, at).astype(np.int32)


def _scaled(attribute: Numeric, values: NDArray[np.float64]) -> NDArray[np.int32]:
    """Integers in [0, 2^f], ties to even."""
    low, high = attribute.low, attribute.high
    share = (np.clip(values, low, high) - low) / (high - low)
    return np.where(np.isnan(values), NO_NUMBER, np.rint(share * 2**NUMERIC_BITS)).astype(np.int32)


def _stacked(readings: Sequence[_Reading]) -> NDArray[np.int32]:
    return np.stack([reading.codes for reading in readings])


def _absent(columns: Columns, names: Sequence[str]) -> list[str]:
    return [f"column {name!r} is missing. Add it" for name in names if name not in columns.names]


def _too_many(rows: int, most: int) -> list[str]:
    return [f"it has {rows} rows, all hospitals together may have {most}. Agree on more"] if rows > most else []


def _class_problems(dictionary: Dictionary, labels: Texts) -> list[str]:
    column = f"column {dictionary.class_column!r}"
    without = missing(labels)
    foreign = _said(labels, positions(labels, dictionary.classes) == len(dictionary.classes))
    return [
        *([f"{column}: {rows_that(without)} no class. Fill it in, or remove the row"] if without.any() else []),
        *([f"{column}: {_shown(foreign)} not among the classes. {_CORRECT}"] if foreign.size else []),
    ]


def _problems(attribute: Attribute, reading: _Reading) -> list[str]:
    if not reading.foreign.size:
        return []
    why = "not in the list of values. " + _CORRECT if isinstance(attribute, Nominal) else _not_numbers(reading.foreign)
    return [f"column {attribute.name!r}: {_shown(reading.foreign)} {why}"]


def _not_numbers(foreign: Texts) -> str:
    with_comma = ~np.isnan(numbers(np.char.replace(foreign, ",", ".")))
    remedies = [
        *(["Write decimal points, not commas"] if with_comma.any() else []),
        *(["Write numbers without units, and leave missing cells empty"] if not with_comma.all() else []),
    ]
    return ". ".join(["not a number", *remedies])


def _shown(foreign: Texts) -> str:
    distinct = np.unique(foreign)
    more = distinct.size - MOST_SHOWN
    return ", ".join(map(repr, distinct[:MOST_SHOWN].tolist())) + (f" and {more} more" if more > 0 else "")


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        raise TableMismatch(_message("The table breaks the dictionary:", problems))


def _message(title: str, problems: Sequence[str]) -> str:
    return "\n  ".join([title, *problems])
