"""Where the words of a table and the rows of a question stand in polynomials, and which size is cheapest.

A table has m words for each of C classes, and a row is a set of words: its sums are, class by class, those of its
words. A polynomial of the table holds `run` words of every class: word v of class c is the coefficient of
X^(run·c + v). Row r is the sum of X^(run·C·r − v) over its words v. In the product of the two the coefficient of
X^(run·(C·r + c)) is the sum for row r and class c: for any other pair of exponents that adds up to this one, run would
divide the difference of two words below run. So a product has the sums of N / (run·C) rows.

Long runs make few polynomials of a table, and few rows in a product. `cheapest` weighs one against the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mixbayes.protocol.arrays import Values, Words, slices
from mixbayes.protocol.lattice.encryption import SIZES, OpenedBits, Parameters
from mixbayes.protocol.lattice.polynomials import LIMB_BYTES, Integers


@dataclass(frozen=True, slots=True)
class PolynomialLayout:
    """Of a table of words (words, classes), and of the rows that are asked about."""

    parameters: Parameters
    words: int
    classes: int
    run: int

    @property
    def polynomials(self) -> int:
        """Of the table, without the encryption of zero."""
        return -(-self.words // self.run)

    @property
    def rows_together(self) -> int:
        """Rows of one product."""
        return self.parameters.dimension // (self.run * self.classes)

    @property
    def table_bytes(self) -> int:
        return (self.polynomials + 1) * self.parameters.polynomial_bytes

    def sum_bytes(self, rows: int) -> int:
        """Of the masked sums of the rows of one product."""
        return self.parameters.polynomial_bytes + LIMB_BYTES * self.parameters.limbs * rows * self.classes

    def bytes(self, rows: int) -> int:
        """Of the table, and of the masked sums of so many rows."""
        return self.table_bytes + sum(self.sum_bytes(part.stop - part.start) for part in self.products(rows))

    def products(self, rows: int) -> Iterator[slice]:
        """So many rows, product by product."""
        return slices(rows, self.rows_together)

    def table(self, words: Words) -> Words:
        """The polynomials (polynomials, N) of a table (words, classes)."""
        whole = np.zeros((self.polynomials * self.run, self.classes), np.uint64)
        whole[: self.words] = words
        blocks = whole.reshape(self.polynomials, self.run, self.classes).transpose(0, 2, 1)
        laid = np.zeros((self.polynomials, self.parameters.dimension), np.uint64)
        laid[:, : self.run * self.classes] = blocks.reshape(self.polynomials, -1)
        return laid

    def row_polynomials(self, named: Values) -> Integers:
        """(polynomials, N) of the rows of one product: `named` (few, n) are the words of each, `words` being none."""
        few, rows = named.shape
        laid = np.zeros((self.polynomials, self.parameters.dimension), np.int64)
        row = np.broadcast_to(np.arange(rows) * (self.run * self.classes), (few, rows))[named < self.words]
        block, offset = np.divmod(named[named < self.words], self.run)
        # X^N is −1: the words of row 0 have negative exponents.
        laid[block, row - offset] = np.where(row < offset, -1, 1)
        return laid

    def places(self, rows: int) -> Integers:
        """Where the sums stand in a product of so many rows: class by class, (classes · rows,)."""
        starts = np.arange(rows) * (self.run * self.classes)
        return (np.arange(self.classes)[:, None] * self.run + starts).reshape(-1)


def most_rows(width: int, opened: OpenedBits) -> int:
    """Rows that one key can serve, at the largest dimension, for words of this width."""
    return max(size.rows(opened) for size in SIZES if size.holds(width))


def cheapest(words: int, classes: int, width: int, rows: int, opened: OpenedBits) -> PolynomialLayout:
    """The layout with the fewest bytes. Both ends choose alike, by public numbers."""
    sizes = [size for size in SIZES if size.holds(width) and size.rows(opened) >= rows]
    layouts = (
        PolynomialLayout(size, words, classes, 1 << power)
        for size in sizes
        for power in range((size.dimension // classes).bit_length())
    )
    return min(layouts, key=lambda layout: layout.bytes(rows))
