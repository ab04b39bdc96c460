"""The fields of a dictionary: texts, values, bounds and the smoothing, each checked where it is read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer

from mixbayes.protocol.attributes.cells import MISSING

LONGEST_LABEL = 120
MOST_SMOOTHING = 2**20  # of numerator and denominator, so that counts times them stay within 64 bits

_SMOOTHING = re.compile(r"[0-9]{1,12}([./][0-9]{1,12})?")


class Frozen(BaseModel):
    """A part of the dictionary: it never changes, and fields that nobody knows are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def all_different(values: Sequence[str]) -> None:
    """Refuse a list that names a value twice."""
    twice = [value for value, times in Counter(values).items() if times > 1]
    if twice:
        raise ValueError(f"listed twice: {', '.join(map(repr, twice))}")


def read_smoothing(text: str) -> Fraction:
    """A smoothing as people write it, or a ValueError that says how to."""
    return _positive_and_small(Fraction(str(_as_fraction(text))))


def _plain_text(text: str) -> str:
    if "\0" in text:
        raise ValueError("a text with a NUL character")
    return text


def _says_something(text: str) -> str:
    if text in MISSING:
        raise ValueError(f"{text!r} means a missing cell and cannot be a value")
    return text


def _without_negative_zero(number: float) -> float:
    return number + 0.0  # -0.0 equals 0.0 and would give another digest


def _as_fraction(given: object) -> Fraction:
    """Read a text, or a number as it would be written."""
    if not _SMOOTHING.fullmatch(str(given)):
        raise ValueError('write it as "1", "0.5" or "1/2"')
    try:
        return Fraction(str(given))
    except ZeroDivisionError:
        raise ValueError("its denominator is zero") from None


def _positive_and_small(fraction: Fraction) -> Fraction:
    if fraction <= 0:
        raise ValueError("it must be positive")
    if max(fraction.numerator, fraction.denominator) > MOST_SMOOTHING:
        raise ValueError(f"numerator and denominator must not exceed {MOST_SMOOTHING}")
    return fraction


def _one_line(text: str) -> str:
    if text and (not text.isprintable() or text != text.strip() or len(text) > LONGEST_LABEL):
        raise ValueError(f"it must be one line of at most {LONGEST_LABEL} visible characters")
    return text


def refuse_other_number(meanings: Sequence[str], values: Sequence[str]) -> None:
    """Refuse meanings that are not one for each value."""
    if meanings and len(meanings) != len(values):
        raise ValueError(f"{len(meanings)} meanings for {len(values)} values: give one for each, in their order")


Text = Annotated[str, Field(strict=True), AfterValidator(_plain_text)]
Label = Annotated[Text, AfterValidator(_one_line)]
Value = Annotated[Text, AfterValidator(_says_something)]
Finite = Annotated[float, Field(strict=True, allow_inf_nan=False), AfterValidator(_without_negative_zero)]
Smoothing = Annotated[
    Fraction,
    BeforeValidator(_as_fraction),
    AfterValidator(_positive_and_small),
    PlainSerializer(str, return_type=str),
]
