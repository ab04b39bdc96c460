"""Binned attributes: numbers that public cut points make discrete."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import model_validator

from mixbayes.protocol.attributes.cells import Numbers, Texts
from mixbayes.protocol.attributes.discrete import Discrete
from mixbayes.protocol.attributes.elsewhere import Arithmetic, Expression, Summands, flag, outside
from mixbayes.protocol.attributes.entry import Measurement
from mixbayes.protocol.attributes.fields import Finite, Label
from mixbayes.protocol.attributes.kind import Reading
from mixbayes.protocol.attributes.numbers import not_numbers, read_as_numbers

_DESCRIBED = 20
"""Cut points that a summary names."""


class Binned(Discrete):
    """A numeric attribute with cut points: bin i holds cuts[i-1] <= value < cuts[i].

    Quantiles of a column with many equal values may fall on a bound, so the first bin can be empty. A column that
    never changes, low equal to high, is allowed.
    """

    kind: Literal["binned"] = "binned"
    low: Finite
    high: Finite
    cuts: tuple[Finite, ...]
    unit: Label = ""
    """Of the numbers, for people."""

    numeric: ClassVar[bool] = True

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not all(a < b for a, b in pairwise(self.cuts)):
            raise ValueError("the cuts must rise strictly")
        if not all(a <= b for a, b in pairwise((self.low, *self.cuts, self.high))):
            raise ValueError(f"low {self.low!r} and high {self.high!r} must enclose the cuts")
        return self

    @property
    def size(self) -> int:
        return len(self.cuts) + 1

    def read(self, cells: Texts) -> Reading:
        return read_as_numbers(self, cells)

    def read_numbers(self, values: Numbers) -> Reading:
        # What lies beyond the bounds falls in the outermost bin. Clipping the number first would be the same, except
        # below a bound that is itself a cut point: there a pooled classifier uses the empty first bin.
        at = np.searchsorted(np.array(self.cuts), values, side="right")
        codes = np.where(np.isnan(values), self.size, at).astype(np.int32)
        beyond = (values < self.low) | (values > self.high)
        return Reading(codes[None], np.zeros_like(beyond), beyond)

    def summands(self, value: Expression, by: Arithmetic) -> Summands:
        code = by.choose(by.absent(value), by.number(self.size), self._bin(value, 0, self.size - 1, by))
        code = by.once(code)
        rows = [flag(code == by.number(row), by) for row in range(self.rows)]
        return Summands(rows, outside(value, self.low, self.high, by))

    def _bin(self, value: Expression, first: int, last: int, by: Arithmetic) -> Expression:
        """Which of these bins the value falls in, found by halving."""
        if first == last:
            return by.number(first)
        middle = (first + last) // 2
        lower, upper = self._bin(value, first, middle, by), self._bin(value, middle + 1, last, by)
        return by.choose(value < by.number(self.cuts[middle]), lower, upper)

    def cut_at(self, begins: Sequence[int]) -> Self:
        # Cell i begins at cuts[i - 1], and the first one at the lower bound.
        return self.model_copy(update={"cuts": tuple(self.cuts[cell - 1] for cell in begins)})

    @property
    def entry(self) -> Measurement:
        return Measurement(self.low, self.high, self.unit)

    def misfit(self, foreign: Texts) -> str:
        return not_numbers(foreign)

    def described(self) -> str:
        more = len(self.cuts) - _DESCRIBED
        cuts = ", ".join(map(repr, self.cuts[:_DESCRIBED]))
        return f"{self.low!r} to {self.high!r}, cut at {cuts}{f' and {more} more' if more > 0 else ''}"
