"""Nominal attributes: a closed list of values."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
from pydantic import Field, field_validator, model_validator

from mixbayes.protocol.attributes.cells import Texts, missing, positions
from mixbayes.protocol.attributes.discrete import Discrete
from mixbayes.protocol.attributes.entry import OneOption, options
from mixbayes.protocol.attributes.fields import Label, Value, all_different, refuse_other_number
from mixbayes.protocol.attributes.kind import Reading

SPELLING = "Correct the spelling, leave missing cells empty, or agree on the value"


class Nominal(Discrete):
    """An attribute with a closed list of values. Values are texts: `1` and `1.0` are two of them."""

    kind: Literal["nominal"] = "nominal"
    values: tuple[Value, ...] = Field(min_length=1)
    meanings: tuple[Label, ...] = ()
    """What a person calls the values, in their order; without them, the values themselves."""

    @field_validator("values")
    @classmethod
    def _different(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        all_different(values)
        return values

    @model_validator(mode="after")
    def _means_each(self) -> Self:
        refuse_other_number(self.meanings, self.values)
        return self

    @property
    def entry(self) -> OneOption:
        return OneOption(options(self.values, self.meanings))

    @property
    def size(self) -> int:
        return len(self.values)

    @property
    def listed(self) -> int:
        return len(self.values)

    def read(self, cells: Texts) -> Reading:
        codes = positions(cells, self.values)
        foreign = (codes == self.size) & ~missing(cells)
        return Reading(codes[None], foreign, np.zeros_like(foreign))

    def misfit(self, foreign: Texts) -> str:
        return f"not in the list of values. {SPELLING}"

    def described(self) -> str:
        return ", ".join(self.values)
