"""The public dictionary: classes, attributes and how each is counted. It fixes the size of everything sent.

Both orders matter: attributes fix the layout of every vector, and ties go to the class that comes first.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    field_validator,
    model_validator,
)

from mixbayes.protocol.attributes.cells import MISSING
from mixbayes.protocol.errors import BadDictionary, DictionaryTooLarge

MOST_CLASSES = 64
MOST_ROWS = 2**40
MOST_SMOOTHING = 2**20  # of numerator and denominator, so that counts times them stay within 64 bits

_SMOOTHING = re.compile(r"[0-9]{1,12}([./][0-9]{1,12})?")


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


def read_smoothing(text: str) -> Fraction:
    """A smoothing as people write it, or a ValueError that says how to."""
    return _positive_and_small(Fraction(str(_as_fraction(text))))


def _all_different(values: Sequence[str]) -> None:
    twice = [value for value, times in Counter(values).items() if times > 1]
    if twice:
        raise ValueError(f"listed twice: {', '.join(map(repr, twice))}")


Text = Annotated[str, Field(strict=True), AfterValidator(_plain_text)]
Value = Annotated[Text, AfterValidator(_says_something)]
Finite = Annotated[float, Field(strict=True, allow_inf_nan=False), AfterValidator(_without_negative_zero)]
Smoothing = Annotated[
    Fraction,
    BeforeValidator(_as_fraction),
    AfterValidator(_positive_and_small),
    PlainSerializer(str, return_type=str),
]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Nominal(_Frozen):
    """An attribute with a closed list of values, which are texts: `1` and `1.0` are two of them."""

    name: Text
    kind: Literal["nominal"] = "nominal"
    values: tuple[Value, ...] = Field(min_length=1)

    @field_validator("values")
    @classmethod
    def _different(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        _all_different(values)
        return values

    @property
    def size(self) -> int:
        """How many values it has, not counting the missing one."""
        return len(self.values)


class Numeric(_Frozen):
    """A Gaussian attribute. Its bounds differ: the variance floor is a share of their distance."""

    name: Text
    kind: Literal["numeric"] = "numeric"
    low: Finite
    high: Finite

    @model_validator(mode="after")
    def _has_width(self) -> Self:
        if not 0 < self.high - self.low < math.inf:
            raise ValueError(f"low {self.low!r} must lie below high {self.high!r}, a finite distance apart")
        return self


class Binned(_Frozen):
    """A numeric attribute that public cut points make nominal: bin i holds cuts[i-1] <= value < cuts[i].

    Quantiles of a column with many equal values may fall on a bound, so the first bin can be empty. A column
    that never changes, low equal to high, is allowed.
    """

    name: Text
    kind: Literal["binned"] = "binned"
    low: Finite
    high: Finite
    cuts: tuple[Finite, ...]

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not all(a < b for a, b in pairwise(self.cuts)):
            raise ValueError("the cuts must rise strictly")
        if not all(a <= b for a, b in pairwise((self.low, *self.cuts, self.high))):
            raise ValueError(f"low {self.low!r} and high {self.high!r} must enclose the cuts")
        return self

    @property
    def size(self) -> int:
        """How many bins it has, not counting the missing one."""
        return len(self.cuts) + 1


Attribute = Annotated[Nominal | Numeric | Binned, Field(discriminator="kind")]


class Dictionary(_Frozen):
    """What all hospitals agreed to count. `dictionary_from` reads it from a file, `infer` from tables."""

    class_column: Text
    classes: tuple[Value, ...] = Field(min_length=2)
    attributes: tuple[Attribute, ...] = Field(min_length=1)
    smoothing: Smoothing = Fraction(1)
    max_rows: Annotated[int, Field(strict=True, ge=1, le=MOST_ROWS)] = 2**20

    @field_validator("classes")
    @classmethod
    def _different_and_few(cls, classes: tuple[str, ...]) -> tuple[str, ...]:
        if len(classes) > MOST_CLASSES:
            raise DictionaryTooLarge(
                f"{len(classes)} classes, at most {MOST_CLASSES} are possible. Is it the right class column?"
            )
        _all_different(classes)
        return classes

    @model_validator(mode="after")
    def _different_columns(self) -> Self:
        _all_different([*self.names, self.class_column])
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes' columns, in their order."""
        return tuple(attribute.name for attribute in self.attributes)

    def canonical(self) -> str:
        """Its one JSON text: sorted keys, no spaces, ASCII, numbers as Python writes them."""
        content = self.model_dump(mode="json")
        return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)

    def digest(self) -> str:
        """SHA-256 of the canonical text, in hex."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()


def dictionary_from(data: Mapping[str, object]) -> Dictionary:
    """Check a dictionary read from a file; what is wrong comes as one `BadDictionary`."""
    try:
        return Dictionary.model_validate(data)
    except ValidationError as error:
        raise BadDictionary("The dictionary is not valid:" + "".join(map(_line, error.errors()))) from None


def _line(problem: Mapping[str, object]) -> str:
    where = problem["loc"]
    path = ".".join(map(str, where)) if isinstance(where, tuple) else ""
    return f"\n  {path or 'dictionary'}: {str(problem['msg']).removeprefix('Value error, ')}"
