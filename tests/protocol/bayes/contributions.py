"""Contributions, true and false, and whether some table has them: by both mixers, and by plain integers."""

from __future__ import annotations

import numpy as np

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.gaussian_moments import (
    ABSENT,
    ABSENT_CODE,
    NUMERIC_BITS,
    PRESENT,
    SQUARES_HIGH,
    SQUARES_LOW,
    SUM,
)
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.attributes.several import Several
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.bayes.validity import honest
from mixbayes.protocol.shares import split
from tests.protocol.pairs import both, layout_of, seed, words_of

TOP = 1 << NUMERIC_BITS
"""The largest value of a numeric attribute."""


def mixed(max_rows: int = 1000, classes: int = 2) -> Layout:
    """Numeric and nominal attributes in turn."""
    attributes: tuple[Attribute, ...] = (
        Gaussian(name="x", low=0.0, high=1.0),
        Nominal(name="y", values=("no", "yes")),
        Gaussian(name="z", low=0.0, high=1.0),
    )
    names = tuple(f"class {c}" for c in range(classes))
    return Layout(Dictionary(class_column="class", classes=names, attributes=attributes, max_rows=max_rows))


def with_lists(max_rows: int = 1000) -> Layout:
    """Cells with up to two of four values, with up to all of two, and with one; and a nominal attribute."""
    attributes: tuple[Attribute, ...] = (
        Several(name="x", values=("a", "b", "c", "d"), most=2),
        Nominal(name="y", values=("no", "yes")),
        Several(name="z", values=("a", "b")),
        Several(name="u", values=("a", "b"), most=1),
    )
    names = ("class 0", "class 1")
    return Layout(Dictionary(class_column="class", classes=names, attributes=attributes, max_rows=max_rows))


NOMINAL = layout_of(3, [2, 4], max_rows=1000)
MIXED = mixed()
LISTS = with_lists()


def table(layout: Layout, rows: int, number: int, values: tuple[int, int] = (0, TOP)) -> Words:
    """The counts of random rows, with missing cells; numeric values between the two given."""
    rng = np.random.default_rng(number)

    def column(attribute: Attribute) -> np.ndarray:
        if isinstance(attribute, Gaussian):
            return np.where(rng.random(rows) < 0.2, ABSENT_CODE, rng.integers(values[0], values[1] + 1, rows))
        return rng.integers(0, attribute.codes, (attribute.columns, rows))

    codes = np.vstack([column(attribute) for attribute in layout.dictionary.attributes]).astype(np.int32)
    return count(layout, Codes(codes, rng.integers(0, layout.classes, rows).astype(np.int32)))


def possible(layout: Layout, vector: Words) -> bool:
    """Whether some table has these counts, in Python's integers."""
    of_class = layout.class_counts(vector).tolist()
    return sum(of_class) <= layout.dictionary.max_rows and all(
        possible_column(attribute, column, n)
        for attribute, block in layout.blocks(vector)
        for column, n in zip(block.T.tolist(), of_class, strict=True)
    )


def possible_column(attribute: Attribute, column: list[int], of_class: int) -> bool:
    """Whether an attribute can have these counts in a class of so many patients."""
    if isinstance(attribute, Gaussian):
        return possible_numbers(column, of_class)
    if isinstance(attribute, Several):
        *present, answered, missing = column
        room = sum(present) <= attribute.most * answered
        return answered + missing == of_class and max(present) <= answered and room
    return sum(column) == of_class


def possible_numbers(column: list[int], of_class: int) -> bool:
    n, s1, low, high, absent = column
    s2 = low + TOP * high
    return n + absent == of_class and s1 <= TOP * n and low <= (TOP - 1) * n and s2 <= TOP * s1 and s1 * s1 <= n * s2


def verdicts(layout: Layout, vectors: list[Words], number: int = 1) -> list[bool]:
    """What both mixers find."""
    shares = [split(vector, seed(1000 * number + i)) for i, vector in enumerate(vectors)]
    of_a, of_b = both(honest, (layout, [s.for_a() for s in shares]), (layout, [s.for_b() for s in shares]))
    assert of_a == of_b
    return of_a


def changed(vector: Words, changes: dict[int, int]) -> Words:
    """With so much added to cells, modulo 2^64."""
    lie = vector.copy()
    for cell, by in changes.items():
        lie[cell] = (int(lie[cell]) + by) % 2**64
    return lie


def judged_as_by_integers(layout: Layout, vectors: list[Words], number: int = 1) -> list[bool]:
    expected = [possible(layout, vector) for vector in vectors]
    assert verdicts(layout, vectors, number) == expected
    return expected


def at(layout: Layout, attribute: int, row: int, label: int = 0) -> int:
    """Where a cell stands."""
    places = np.arange(layout.size)
    return int(layout.block(places, attribute)[row, label])


def whole_in(layout: Layout, row: int, rows: int, label: int = 0) -> Words:
    """All rows in one class and, in every attribute, in one row of its block; numeric ones present only if row is 0."""
    vector = np.zeros(layout.size, np.uint64)
    layout.class_counts(vector)[label] = rows
    for i, attribute in enumerate(layout.dictionary.attributes):
        rest = (PRESENT if row == 0 else ABSENT) if isinstance(attribute, Gaussian) else row
        layout.block(vector, i)[rest, label] = rows
        if isinstance(attribute, Several) and row < len(attribute.values):
            layout.block(vector, i)[-2, label] = rows
    return vector


def with_moments(layout: Layout, n: int, s1: int, s2: int, low: int | None = None) -> Words:
    """n rows of the first class, in both numeric attributes with these moments; low and high as one value has them."""
    vector = whole_in(layout, 0, n)
    first = s2 % TOP if low is None else low
    for i in (0, 2):
        layout.block(vector, i)[[SUM, SQUARES_LOW, SQUARES_HIGH], 0] = words_of([s1, first, (s2 - first) // TOP])
    return vector


SMALL = table(NOMINAL, 100, 3)
NUMBERS = table(MIXED, 100, 4)
