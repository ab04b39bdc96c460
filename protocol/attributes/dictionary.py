"""The public dictionary: classes, attributes and how each is counted. It fixes the size of everything sent.

Both orders matter: attributes fix the layout of every vector, and ties go to the class that comes first.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Self

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_validator,
    model_serializer,
    model_validator,
)

from mixbayes.protocol.attributes.entry import Option, options
from mixbayes.protocol.attributes.fields import (
    Frozen,
    Label,
    Smoothing,
    Text,
    Value,
    all_different,
    refuse_other_number,
)
from mixbayes.protocol.attributes.formulas import no_formula
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.errors import BadDictionary, DictionaryTooLarge

MOST_CLASSES = 64
MOST_ROWS = 2**40


class Dictionary(Frozen):
    """What all hospitals agreed to count. `dictionary_from` reads it from a file, `infer` from tables."""

    class_column: Text
    classes: tuple[Value, ...] = Field(min_length=2)
    class_title: Label = ""
    """What a person calls that which is predicted."""
    class_meanings: tuple[Label, ...] = ()
    """What a person calls the classes, in their order; without them, the classes themselves."""
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
        all_different(classes)
        return tuple(map(no_formula, classes))

    @model_validator(mode="after")
    def _different_columns(self) -> Self:
        all_different([*self.names, self.class_column])
        refuse_other_number(self.class_meanings, self.classes)
        return self

    @model_serializer(mode="wrap")
    def _without_empty_labels(self, content: SerializerFunctionWrapHandler) -> dict[str, object]:
        found: dict[str, object] = content(self)
        return {key: value for key, value in found.items() if value or key not in ("class_title", "class_meanings")}

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes' columns, in their order."""
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def class_options(self) -> tuple[Option, ...]:
        """The classes with their meanings."""
        return options(self.classes, self.class_meanings)

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
