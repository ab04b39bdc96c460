"""The one text of every value that a typed source can hold: the text that its CSV export has.

docs/operations/data.md lists the same spellings for the people who export.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import singledispatch
from uuid import UUID

import numpy as np

from mixbayes.protocol.attributes.cells import Texts
from mixbayes.protocol.errors import BadData
from mixbayes.tables.cells import texts_of


def spelled_values(name: str, values: Iterable[object]) -> Texts:
    """The texts of some values of this column."""
    try:
        return texts_of(name, [spelled_value(value) for value in values])
    except TypeError as error:
        raise BadData(f"Column {name!r} holds {error}, which has no text. Remove it.") from None


@singledispatch
def spelled_value(value: object) -> str:
    """The text of one value. Null and not-a-number are the empty cell."""
    raise TypeError(f"values of type {type(value).__name__}")


@spelled_value.register
def _(value: None) -> str:
    return ""


@spelled_value.register
def _(value: str) -> str:
    return value


@spelled_value.register
def _(value: bool) -> str:
    return "true" if value else "false"


@spelled_value.register(int)
@spelled_value.register(np.integer)
def _(value: int) -> str:
    return str(int(value))


@spelled_value.register
def _(value: float) -> str:
    """The shortest text that is read as the same number."""
    return "" if math.isnan(value) else repr(value + 0.0).removesuffix(".0")  # minus zero is 0


@spelled_value.register
def _(value: np.float32) -> str:
    """The shortest digits that are read as the same number of 32 bits, written as those of a wider number."""
    return spelled_value(float(str(value)))


@spelled_value.register
def _(value: Decimal) -> str:
    """All digits, without zeros at the end of a fraction and without an exponent."""
    if value.is_nan():
        return ""
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


@spelled_value.register
def _(value: datetime) -> str:
    """As ISO 8601 has it, with a blank between date and time; midnight of no zone is the date alone."""
    if value.tzinfo is not None:
        return _without_zeros(value.astimezone(UTC).replace(tzinfo=None).isoformat(sep=" ")) + "Z"
    if value.time() == time():
        return value.date().isoformat()
    return _without_zeros(value.isoformat(sep=" "))


@spelled_value.register
def _(value: date) -> str:
    return value.isoformat()


@spelled_value.register
def _(value: time) -> str:
    return _without_zeros(value.isoformat())


@spelled_value.register
def _(value: UUID) -> str:
    return str(value)


def _without_zeros(text: str) -> str:
    return text.rstrip("0") if "." in text else text
