"""One patient, as a form says it: what is asked for each attribute, and what was understood of the answers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.entry import Measurement, OneOption, SomeOptions
from mixbayes.tables.columns import Columns

Answers = Mapping[str, Sequence[str]]
"""What a form sent: by the name of a field, its values."""
FEW_OPTIONS = 24
"""Values of a list that a form offers one by one; of more, it asks for them in a line of text."""
NOT_A_NUMBER, BEYOND, UNKNOWN = "not_a_number", "beyond", "unknown"
CONFIRMED = "confirmed"


def field_of(position: int) -> str:
    """The name of an attribute's field: names of columns may hold anything, and this is plain."""
    return f"a{position}"


@dataclass(frozen=True)
class Patient:
    """The cells of a patient, and what is wrong with those that could not be read."""

    cells: Mapping[str, str] = field(repr=False)
    """By attribute; an empty one says nothing."""
    problems: Mapping[str, str]
    """By attribute, the kind of the problem."""

    @property
    def empty(self) -> bool:
        return not any(self.cells.values())

    def columns(self) -> Columns:
        return Columns.of(list(self.cells), [np.array([cell], np.str_) for cell in self.cells.values()], 1)


def read_patient(dictionary: Dictionary, answers: Answers) -> Patient:
    """The patient of a form that was sent. A number beyond the bounds counts as the bound once somebody confirms it."""
    confirmed = bool(answers.get(CONFIRMED))
    cells, problems = {}, {}
    for position, attribute in enumerate(dictionary.attributes):
        given = [text.strip() for text in answers.get(field_of(position), ()) if text.strip()]
        cell, problem = _read(attribute.entry, given)
        cells[attribute.name] = cell
        if problem and not (problem == BEYOND and confirmed):
            problems[attribute.name] = problem
    return Patient(cells, problems)


def _read(entry: OneOption | Measurement | SomeOptions, given: Sequence[str]) -> tuple[str, str]:
    """The cell, and the kind of its problem if it has one."""
    if isinstance(entry, Measurement):
        return _number(entry, given[0]) if given else ("", "")
    known = {option.value for option in entry.options}
    if isinstance(entry, OneOption):
        return (given[0], "" if given[0] in known else UNKNOWN) if given else ("", "")
    values = [text.strip() for line in given for text in line.split(entry.separator) if text.strip()]
    cell = entry.separator.join(values)
    return cell, "" if set(values) <= known | {entry.none} else UNKNOWN


def _number(entry: Measurement, text: str) -> tuple[str, str]:
    """With a decimal point or a decimal comma."""
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        return text, NOT_A_NUMBER
    if not math.isfinite(number):
        return text, NOT_A_NUMBER
    return repr(number), "" if entry.low <= number <= entry.high else BEYOND
