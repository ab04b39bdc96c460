"""Patients of a file, as people write them: by headings, meanings and decimal commas too. What cannot be read is named.

A form refuses what it does not understand, field by field. A file must not be less careful: a label for a patient of
whom half was not understood looks like any other label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mixbayes.pages.patient import BEYOND, NOT_A_NUMBER, UNKNOWN
from mixbayes.protocol.attributes.cells import Texts
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.entry import Measurement, Option, SomeOptions
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.tables.columns import Columns


@dataclass(frozen=True)
class Problem:
    """A cell that says something, and not what the agreement understands."""

    row: int
    attribute: Attribute
    cell: str = field(repr=False)
    kind: str


def lacking(dictionary: Dictionary, names: Sequence[str]) -> list[str]:
    """The attributes that have no column, by name or by heading."""
    return [one.name for one in dictionary.attributes if _column_of(one, names) is None]


def understood(dictionary: Dictionary, rows: Columns) -> Columns:
    """The columns of the dictionary, with cells as the hospitals' tables spell them."""
    names = [(one, _column_of(one, rows.names) or one.name) for one in dictionary.attributes]
    cells = [_spelled(one, rows, name) for one, name in names]
    return Columns.of(list(dictionary.names), cells, rows.rows, rows.source)


def problems(dictionary: Dictionary, rows: Columns) -> Iterator[Problem]:
    """What is not understood of these rows, column by column."""
    for attribute in dictionary.attributes:
        cells = rows.column(attribute.name)
        reading = attribute.read(cells.values)
        beyond = reading.beyond if isinstance(attribute.entry, Measurement) else np.zeros_like(reading.beyond)
        wrong = reading.foreign | beyond
        for row in np.flatnonzero(wrong[cells.codes]).tolist():
            at = cells.codes[row]
            yield Problem(row, attribute, str(cells.values[at]), _kind(attribute, bool(beyond[at])))


def _kind(attribute: Attribute, beyond: bool) -> str:
    if beyond:
        return BEYOND
    return NOT_A_NUMBER if isinstance(attribute.entry, Measurement) else UNKNOWN


def _column_of(attribute: Attribute, names: Sequence[str]) -> str | None:
    if attribute.name in names:
        return attribute.name
    heading = attribute.heading.casefold()
    return next((name for name in names if name.strip().casefold() == heading), None)


def _spelled(attribute: Attribute, rows: Columns, name: str) -> Texts:
    cells = rows.column(name)
    spell = _speller(attribute)
    return np.array([spell(str(text)) for text in cells.values], np.str_)[cells.codes]


def _speller(attribute: Attribute) -> Callable[[str], str]:
    entry = attribute.entry
    if isinstance(entry, Measurement):
        return _with_point
    values = _values_of(entry.options)
    if not isinstance(entry, SomeOptions):
        return lambda text: values.get(text.strip().casefold(), text)
    sign = entry.separator
    return lambda text: sign.join(values.get(one.strip().casefold(), one.strip()) for one in text.split(sign))


def _values_of(options: Sequence[Option]) -> Mapping[str, str]:
    """By a value or its meaning, whatever their capitals, the value; only of those that name one value alone."""
    said = [(word.casefold(), one.value) for one in options for word in {one.value, one.meaning}]
    several = {word for word, value in said if any(word == other and value != one for other, one in said)}
    return {word: value for word, value in said if word not in several}


def _with_point(text: str) -> str:
    """A number as tables spell it; of one with both signs nobody knows which is the decimal one."""
    return text.replace(",", ".") if text.count(",") == 1 and "." not in text else text
