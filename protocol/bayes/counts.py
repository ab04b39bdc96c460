"""What a hospital sums up of its own table: one vector in the dictionary's layout, exact in integers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.kind import Integers
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.errors import LocalError

BLOCK = 1 << 15  # rows: an attribute's block fits the cache, and its sums below 2^53 are exact in a float64


@dataclass(frozen=True, eq=False, repr=False)
class Codes:
    """Patients in the dictionary's terms: each attribute's codes in its columns, shaped (columns, patients)."""

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
    layout.class_counts(vector)[:] += np.bincount(labels, minlength=layout.classes).astype(np.uint64)
    for (attribute, block), (_, cells) in zip(layout.blocks(vector), layout.cells(codes), strict=True):
        attribute.count(block, cells, labels)
