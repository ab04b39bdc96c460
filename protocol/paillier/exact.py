"""The pooled classifier in exact rational numbers. The Paillier protocol must give the same labels, ties included.

With the smoothing α = p/q, the cell of attribute a, value v and class c is q·n_avc + p. The denominator of an attribute
and class is the sum of its cells, q·n_ac + p·V_a; the factor q that both have cancels. The prior of a class is n_c, and
1/N is left out because it is the same for all classes. A class without rows has the prior 0 and so never wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mixbayes.protocol.arrays import Numbers, Values, Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.bayes.label import Labels
from mixbayes.protocol.errors import DictionaryTooLarge, Unsupported

MASK_BITS = 41
"""A mask is uniform on this many bits more than the number that it hides. One of them allows for a sign."""
ROOM = MASK_BITS + 2
"""Bits that a modulus needs beyond those of the compared numbers: for the mask, the sign, and the sum of both."""


@dataclass(frozen=True, slots=True, repr=False)
class Cells:
    """The priors (K,) and, for each attribute, the numerators (V, K); or one hospital's additive part of them."""

    prior: Numbers
    numerators: tuple[Numbers, ...]

    @property
    def denominators(self) -> tuple[Numbers, ...]:
        return tuple(cells.sum(axis=0) for cells in self.numerators)


def cells(layout: Layout, vector: Words, one: int) -> Cells:
    """The cells of these counts. `one` is this party's part of the number one: A adds the smoothing, and B does not."""
    smoothing = layout.dictionary.smoothing
    counts = vector.astype(object)
    blocks = (layout.block(counts, a)[:-1] for a in range(len(layout.rows)))
    numerators = tuple(block * smoothing.denominator + smoothing.numerator * one for block in blocks)
    return Cells(layout.class_counts(counts), numerators)


def scores(layout: Layout, vector: Words, codes: Values) -> list[list[Fraction]]:
    """For every row of codes (columns, n) the score of each class, which is proportional to its probability."""
    pooled = cells(layout, vector, 1)
    return [[_score(pooled, row, c) for c in range(layout.classes)] for row in codes.T.tolist()]


def labels(layout: Layout, vector: Words, codes: Values) -> Labels:
    """The positions of the winning classes. Ties go to the earlier class."""
    winners = [row.index(max(row)) for row in scores(layout, vector, codes)]
    return np.array(winners, np.int64)


def _score(pooled: Cells, row: list[int], c: int) -> Fraction:
    score = Fraction(pooled.prior[c])
    for numerators, denominators, value in zip(pooled.numerators, pooled.denominators, row, strict=True):
        if value < len(numerators):
            score *= Fraction(numerators[value, c], denominators[c])
    return score


def comparison_bits(layout: Layout) -> int:
    """ℓ: both sides of every comparison are below 2^ℓ."""
    dictionary, rows = layout.dictionary, layout.rows_together
    _refuse_inexact([a for a in dictionary.attributes if not a.exact])
    p, q = dictionary.smoothing.numerator, dictionary.smoothing.denominator
    largest = rows
    for attribute in dictionary.attributes:
        largest *= (q * rows + p) * attribute.reach(dictionary.smoothing, rows, 0).argument
    return largest.bit_length()


def _refuse_inexact(others: Sequence[Attribute]) -> None:
    if not others:
        return
    names = ", ".join(a.name for a in others[:5]) + ", …" * (len(others) > 5)
    places = ", or ".join(dict.fromkeys(a.in_its_place for a in others))
    raise Unsupported(
        f"The Paillier protocol takes nominal and binned attributes. Of other kinds are {len(others)}: {names}. "
        f"In the place of each put {places}; or use the shares protocol."
    )


def cell_bits(layout: Layout) -> int:
    """The number of bits of the largest possible cell or denominator."""
    smoothing, rows = layout.dictionary.smoothing, layout.rows_together
    reaches = [attribute.reach(smoothing, rows, 0) for attribute in layout.dictionary.attributes]
    return max(reach.argument for reach in reaches).bit_length()


def fitting_bits(layout: Layout, key_bits: int) -> int:
    """ℓ, or an error that says how many bits the key needs and has."""
    bits, attributes = comparison_bits(layout), layout.dictionary.attributes
    if bits + ROOM > key_bits:
        raise DictionaryTooLarge(
            f"Exact comparison of {len(attributes)} attributes over up to {layout.rows_together} rows needs "
            f"a key of {bits + ROOM} bits, and this one has {key_bits}. Lower max_rows, leave out "
            "attributes, or use the shares protocol."
        )
    return bits
