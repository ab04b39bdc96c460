"""A table as codes, and its rows by the combinations of their codes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mixbayes.local_methods.tables import Codes, Column, Mask, Nominal, Numeric, Table

Small = NDArray[np.int32]

SORTED_BEYOND = 1 << 16
"""How many codes there may be before numbering them by their place costs more than sorting them."""


@dataclass(frozen=True, eq=False)
class Coded:
    """The cells of a table as small numbers: features × rows. A missing cell is a value of its own."""

    codes: Small = field(repr=False)
    sizes: NDArray[np.int64]
    """How many values each feature has."""
    ordered: Mask
    """Whether the codes of a feature are in the order of numbers."""
    labels: Codes = field(repr=False)
    classes: int

    @staticmethod
    def of(table: Table, labels: Nominal) -> Coded:
        """A table without features is fine too."""
        found = [coded_cells(column) for column in table.columns]
        codes = np.empty((len(found), table.rows), np.int32)
        for at, (code, _) in enumerate(found):
            codes[at] = code
        sizes = np.array([size for _, size in found], np.int64)
        classes, of_rows = np.unique(labels.codes, return_inverse=True)
        ordered = np.array([isinstance(column, Numeric) for column in table.columns], bool)
        return Coded(codes, sizes, ordered, of_rows, len(classes))

    @property
    def rows(self) -> int:
        return len(self.labels)

    @property
    def features(self) -> int:
        return len(self.sizes)

    def only(self, features: Sequence[int]) -> Coded:
        """With these features alone."""
        at = np.array(features, np.intp)
        return Coded(self.codes[at], self.sizes[at], self.ordered[at], self.labels, self.classes)

    def combined(self, features: Sequence[int], with_class: bool = False) -> Small:
        """The combination of cells that each row has in these features, numbered from zero."""
        parts = [(self.codes[at], int(self.sizes[at])) for at in features]
        if with_class:
            parts.append((self.labels.astype(np.int32), self.classes))
        return combined(parts, self.rows)

    def class_counts(self, combination: Small) -> Codes:
        """How many rows of each class have each combination."""
        many = int(combination.max()) + 1
        cells = combination.astype(np.int64) * self.classes + self.labels
        return np.bincount(cells, minlength=many * self.classes).reshape(many, self.classes)


def combined(parts: Iterable[tuple[Small, int]], rows: int) -> Small:
    """Which combination of codes each row has, numbered from zero; of each column its codes, and how many there are."""
    number, many = np.zeros(rows, np.int32), 1
    for code, size in parts:
        number, many = _numbered(number.astype(np.int64) * size + code, many * size)
    return number


def _numbered(codes: Codes, below: int) -> tuple[Small, int]:
    """The codes that occur numbered without gaps, and how many there are."""
    if below > max(SORTED_BEYOND, 4 * len(codes)):
        values, number = np.unique(codes, return_inverse=True)
        return number.astype(np.int32), len(values)
    place = np.bincount(codes, minlength=below) > 0
    numbers = np.cumsum(place, dtype=np.int32) - 1
    return numbers[codes], int(numbers[-1]) + 1


def coded_cells(column: Column) -> tuple[Small, int]:
    """The cells of a column as small numbers, and how many there are. A missing cell is a value of its own."""
    values, code = np.unique(cells_of(column), return_inverse=True)
    return code.astype(np.int32), len(values)


def cells_of(column: Column) -> NDArray[np.float64] | Codes:
    """What distinguishes cells: the codes of names, or the numbers."""
    return column.codes if isinstance(column, Nominal) else column.numbers
