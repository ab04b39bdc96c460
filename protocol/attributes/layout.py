"""Where each count stands in the vector a hospital contributes: the one place that knows.

First the K class counts. Then, attribute by attribute, a block of rows with K cells each; what the rows hold is the
matter of the attribute's kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Values
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.kind import IMAGINED, Kind
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.attributes.terms import USUAL, Terms
from mixbayes.protocol.errors import DictionaryTooLarge

MOST_CELLS = 2**20

Cell = TypeVar("Cell", bound=np.generic)


class Layout:
    """The positions of a dictionary's counts in a vector, for one vector or any array of them."""

    def __init__(self, dictionary: Dictionary, terms: Terms = USUAL) -> None:
        self.dictionary = dictionary
        self.terms = terms
        self.classes = len(dictionary.classes)
        self.rows_each = terms.max_rows_each or dictionary.max_rows
        """Of patients of one hospital, at most."""
        self.rows_together = (terms.hospitals + terms.weight) * self.rows_each
        self.most = self.rows_together + self.noise + IMAGINED * self.spread
        """No count is larger that training takes, noise and imagined patients included."""
        self.smoothing = max(dictionary.smoothing, Fraction(-(-self.spread // 4)))
        """Of values. With noise a quarter of its deviation did best, where less is agreed (docs/noise.md)."""
        self.rows = tuple(attribute.rows for attribute in dictionary.attributes)
        self._starts = tuple(accumulate((rows * self.classes for rows in self.rows), initial=self.classes))
        self._columns = tuple(accumulate((a.columns for a in dictionary.attributes), initial=0))
        self.size = self._starts[-1]
        self.contributed = terms.folds * self.size
        """Numbers in a contribution: a vector for each fold."""
        self.columns = self._columns[-1]
        """Integers that a patient's attributes become."""
        if self.size > MOST_CELLS:
            raise DictionaryTooLarge(_too_many_cells(self.size, self.classes, dictionary.attributes))

    @property
    def noise(self) -> int:
        """The largest noise on a count."""
        return self.terms.coins.bound if self.terms.coins else 0

    @property
    def coordinates(self) -> int:
        """How many of the sums that get noise one patient changes, at most."""
        return 1 + sum(attribute.touched for attribute in self.dictionary.attributes)

    @property
    def noisy_numbers(self) -> int:
        """How many sums get noise."""
        return self.classes * (1 + sum(len(attribute.units) for attribute in self.dictionary.attributes))

    @property
    def spread(self) -> int:
        """The standard deviation of the noise on a count, rounded up."""
        return self.terms.coins.spread if self.terms.coins else 0

    def weighing(self, weight: int) -> Layout:
        """The same counts, of which one hospital's may be added so often once more."""
        return self if weight == self.terms.weight else Layout(self.dictionary, replace(self.terms, weight=weight))

    def class_counts(self, vector: NDArray[Cell]) -> NDArray[Cell]:
        """A view of n_c, shaped (..., K)."""
        return vector[..., : self.classes]

    def block(self, vector: NDArray[Cell], attribute: int) -> NDArray[Cell]:
        """A view of one attribute's cells, shaped (..., rows, K)."""
        part = vector[..., self._starts[attribute] : self._starts[attribute + 1]]
        return part.reshape(*part.shape[:-1], self.rows[attribute], self.classes)

    def blocks(self, vector: NDArray[Cell]) -> Iterator[tuple[Attribute, NDArray[Cell]]]:
        """Every attribute with a view of its cells."""
        return ((a, self.block(vector, i)) for i, a in enumerate(self.dictionary.attributes))

    def cells(self, codes: Values) -> Iterator[tuple[Attribute, Values]]:
        """Every attribute with its own codes (columns, n), of the codes of patients (all columns, n)."""
        parts = (codes[start:stop] for start, stop in pairwise(self._columns))
        return zip(self.dictionary.attributes, parts, strict=True)

    def by_kind(self) -> Iterator[tuple[type[Kind], list[int]]]:
        """The kinds that the dictionary names, each with the positions of its attributes."""
        attributes = self.dictionary.attributes
        for kind in dict.fromkeys(map(type, attributes)):
            yield kind, [i for i, attribute in enumerate(attributes) if type(attribute) is kind]


def _too_many_cells(size: int, classes: int, attributes: Sequence[Attribute]) -> str:
    largest = sorted(attributes, key=lambda attribute: attribute.rows, reverse=True)[:3]
    names = ", ".join(f"{a.name!r} ({a.rows * classes} cells)" for a in largest)
    return (
        f"{size} cells, at most {MOST_CELLS} are possible. The largest attributes are {names}. "
        "Leave out columns that name a patient; bin those that are numbers."
    )
