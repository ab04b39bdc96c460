"""What a hospital sums up of its own table: one vector in the dictionary's layout, exact in integers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.dictionary import Numeric
from mixbayes.protocol.attributes.layout import ABSENT, NUMERIC_BITS, PRESENT, SQUARES_HIGH, SQUARES_LOW, SUM, Layout
from mixbayes.protocol.errors import LocalError

BLOCK = 1 << 15  # rows: an attribute's block fits the cache, and its sums below 2^53 are exact in a float64

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Codes:
    """Rows in the dictionary's terms: positions, or integers up to 2^f, shaped (attributes, rows)."""

    codes: Values
    labels: NDArray[np.int32] | None = None

    @property
    def rows(self) -> int:
        return int(self.codes.shape[1])

    def __repr__(self) -> str:
        return f"Codes(rows={self.rows})"


def count(layout: Layout, codes: Codes) -> Words:
    """Class counts, value counts and moments of these rows."""
    if codes.labels is None:
        raise LocalError("Rows without labels cannot be counted.")
    vector = np.zeros(layout.size, np.uint64)
    for start in range(0, codes.rows, BLOCK):
        rows = slice(start, start + BLOCK)
        _count_rows(layout, codes.codes[:, rows], codes.labels[rows].astype(np.int64), vector)
    return vector


def _count_rows(layout: Layout, codes: Values, labels: Integers, vector: Words) -> None:
    layout.class_counts(vector)[:] += _tally(labels, layout.classes)
    for i, attribute in enumerate(layout.dictionary.attributes):
        block = layout.block(vector, i)
        column = codes[i].astype(np.int64)
        if isinstance(attribute, Numeric):
            _add_moments(block, column, labels)
        else:
            block += _tally(column * layout.classes + labels, block.size).reshape(block.shape)


def _add_moments(block: Words, values: Integers, labels: Integers) -> None:
    classes = block.shape[1]
    absent = values < 0
    cell = labels + classes * absent
    squares = values * values
    block[[PRESENT, ABSENT]] += _tally(cell, 2 * classes).reshape(2, classes)
    block[SUM] += _total(cell, values, classes)
    block[SQUARES_LOW] += _total(cell, squares & ((1 << NUMERIC_BITS) - 1), classes)
    block[SQUARES_HIGH] += _total(cell, squares >> NUMERIC_BITS, classes)


def _tally(cells: Integers, size: int) -> Words:
    return np.bincount(cells, minlength=size).astype(np.uint64)


def _total(cells: Integers, values: Integers, classes: int) -> Words:
    """The values' sum in each of the first cells; those of missing values come after and are dropped."""
    return np.bincount(cells, values, minlength=classes)[:classes].astype(np.uint64)
