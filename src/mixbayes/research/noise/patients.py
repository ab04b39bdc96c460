"""A table as rows of what each patient adds to the sums that get noise.

These are the sums of `Kind.units`, each divided by its unit: a flag for every value of a discrete attribute, and of a
number u, which is −1 at the lower and 1 at the upper bound, the three numbers 1, u and 2u² − 1. A missing cell adds
nothing. No patient adds more than one to a sum, or less than minus one. Every model here is linear in this row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.attributes.cells import positions
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.discrete import Discrete
from mixbayes.protocol.attributes.gaussian_moments import ABSENT_CODE, NUMERIC_BITS
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.counts import Codes
from mixbayes.tables.columns import Columns
from mixbayes.tables.encoding import encode_query

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_MIDDLE = 1 << NUMERIC_BITS - 1


@dataclass(frozen=True)
class Sums:
    """Which sums there are: first the values of discrete attributes, then n, Σ u and Σ (2u² − 1) of the others."""

    sizes: tuple[int, ...]
    """Of the discrete attributes."""
    numbers: int
    """Attributes that are not discrete."""

    @property
    def discrete(self) -> int:
        return sum(self.sizes)

    @property
    def starts(self) -> Integers:
        """Where each discrete attribute begins."""
        return np.cumsum([0, *self.sizes[:-1]])

    @property
    def rows(self) -> int:
        return self.discrete + 3 * self.numbers

    @property
    def touched(self) -> int:
        """How many counts one patient changes, the class count among them."""
        return 1 + len(self.sizes) + 3 * self.numbers


@dataclass(frozen=True, eq=False)
class Patients:
    """All patients of a table."""

    dictionary: Dictionary
    sums: Sums
    added: Floats
    """(patients, sums)."""
    labels: Integers
    hospitals: Integers
    """The number of each patient's hospital."""
    codes: Codes

    @property
    def classes(self) -> int:
        return len(self.dictionary.classes)

    @classmethod
    def of(cls, dictionary: Dictionary, tables: Sequence[Columns]) -> Self:
        """Of one hospital or several."""
        codes = np.concatenate([encode_query(dictionary, table).codes for table in tables], axis=1)
        classes = [positions(table.texts(dictionary.class_column), dictionary.classes) for table in tables]
        hospitals = np.repeat(np.arange(len(tables)), [table.rows for table in tables])
        labels: Integers = np.concatenate(classes).astype(np.int64)
        sums, added = _added(dictionary, codes)
        return cls(dictionary, sums, added, labels, hospitals, Codes(codes, labels.astype(np.int32)))


def _added(dictionary: Dictionary, codes: NDArray[np.int32]) -> tuple[Sums, Floats]:
    flags, places = [], []
    for attribute, own in Layout(dictionary).cells(codes):
        if isinstance(attribute, Discrete):
            flags.append(own[0][:, None] == np.arange(attribute.size))
        else:
            places.append(own[0])
    present = np.array(places).reshape(len(places), codes.shape[1]) != ABSENT_CODE
    u = np.where(present, (np.array(places).reshape(present.shape) - _MIDDLE) / _MIDDLE, 0.0)
    moments = np.concatenate([present, u, np.where(present, 2 * u * u - 1, 0.0)]).T
    sums = Sums(tuple(flag.shape[1] for flag in flags), len(places))
    return sums, np.concatenate([*flags, moments], axis=1).astype(np.float64)
