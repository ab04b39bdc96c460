"""Where each count stands in the vector a hospital contributes: the one place that knows.

First the K class counts. Then, attribute by attribute, a block of rows with K cells each: one row for every
value and one for "missing", or the five rows of a numeric attribute. Squares are summed in two halves, so
that sums stay exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.attributes.dictionary import Attribute, Dictionary, Numeric
from mixbayes.protocol.errors import DictionaryTooLarge

NUMERIC_BITS = 24
"""f: a numeric value is an integer between 0 and 2^f."""

PRESENT, SUM, SQUARES_LOW, SQUARES_HIGH, ABSENT = range(5)
"""The rows of a numeric attribute's block."""

MOST_CELLS = 2**20

Cell = TypeVar("Cell", bound=np.generic)


class Layout:
    """The positions of a dictionary's counts in a vector, for one vector or any array of them."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self.classes = len(dictionary.classes)
        self.rows = tuple(_rows(attribute) for attribute in dictionary.attributes)
        self._starts = tuple(accumulate((rows * self.classes for rows in self.rows), initial=self.classes))
        self.size = self._starts[-1]
        if self.size > MOST_CELLS:
            raise DictionaryTooLarge(_too_many_cells(self.size, dictionary.attributes))

    def class_counts(self, vector: NDArray[Cell]) -> NDArray[Cell]:
        """A view of n_c, shaped (..., K)."""
        return vector[..., : self.classes]

    def block(self, vector: NDArray[Cell], attribute: int) -> NDArray[Cell]:
        """A view of one attribute's cells, shaped (..., rows, K)."""
        part = vector[..., self._starts[attribute] : self._starts[attribute + 1]]
        return part.reshape(*part.shape[:-1], self.rows[attribute], self.classes)


def _rows(attribute: Attribute) -> int:
    return ABSENT + 1 if isinstance(attribute, Numeric) else attribute.size + 1


def _too_many_cells(size: int, attributes: Sequence[Attribute]) -> str:
    largest = sorted(attributes, key=_rows, reverse=True)[:3]
    names = ", ".join(f"{a.name!r} ({_rows(a) - 1} values)" for a in largest)
    return (
        f"{size} cells, at most {MOST_CELLS} are possible. The largest attributes are {names}. "
        "Leave out columns that name a patient; bin those that are numbers."
    )
