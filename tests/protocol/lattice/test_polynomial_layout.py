"""Where words and rows stand: every sum of a product is that of the words of its row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.lattice.encryption import SIZES, OpenedBits, Parameters
from mixbayes.protocol.lattice.layout import PolynomialLayout, cheapest, most_rows
from mixbayes.protocol.lattice.polynomials import spectrum, sum_of_products
from tests.protocol.pairs import SEEDS, random_for

TINY = Parameters(64, 1)
"""Of no security, so that there are many products."""


def sums_of(layout: PolynomialLayout, words: Words, named: Values) -> Words:
    """(classes, rows) from products of polynomials, without encryption."""
    table = spectrum(layout.table(words).astype(np.int64))
    found = np.empty((layout.classes, named.shape[1]), np.int64)
    for part in layout.products(named.shape[1]):
        rows = part.stop - part.start
        products = sum_of_products(table, spectrum(layout.row_polynomials(named[:, part])))
        found[:, part] = products[layout.places(rows)].reshape(layout.classes, rows)
    return found.astype(np.uint64)


def in_clear(words: Words, named: Values) -> Words:
    whole = np.append(words, np.zeros_like(words[:1]), axis=0)
    return whole[named].sum(axis=0, dtype=np.uint64).T


def rows_of(words: int, rows: int, few: int, number: int) -> Values:
    """Each row names several words once, or fewer."""
    rng = np.random.default_rng(number)
    named = rng.permuted(np.tile(np.arange(words + few), (rows, 1)), axis=1)[:, :few].T
    return np.minimum(named, words).astype(np.int32)


def words_of_table(words: int, classes: int, number: int) -> Words:
    return random_for(number).words(words, classes) >> np.uint64(44)


@st.composite
def tiny_layouts(draw: st.DrawFn) -> PolynomialLayout:
    classes = draw(st.integers(1, 64))
    power = draw(st.integers(0, (64 // classes).bit_length() - 1))
    return PolynomialLayout(TINY, draw(st.integers(1, 80)), classes, 1 << power)


@given(tiny_layouts(), st.integers(1, 70), st.integers(1, 5), SEEDS)
def test_every_sum_is_that_of_the_words_of_its_row(layout: PolynomialLayout, rows: int, few: int, number: int) -> None:
    words, named = words_of_table(layout.words, layout.classes, number), rows_of(layout.words, rows, few, number)
    assert np.array_equal(sums_of(layout, words, named), in_clear(words, named))


@settings(max_examples=20)
@given(st.integers(1, 3000), st.integers(1, 63), st.integers(1, 60), st.integers(2, 65), SEEDS)
def test_so_it_is_in_the_layouts_that_are_chosen(words: int, classes: int, rows: int, bits: int, number: int) -> None:
    layout = cheapest(words, classes, 40, rows, OpenedBits(bits))
    table, named = words_of_table(words, classes, number), rows_of(words, rows, min(words, 9), number)
    assert np.array_equal(sums_of(layout, table, named), in_clear(table, named))


@pytest.mark.parametrize(("classes", "run"), [(1, 64), (1, 8), (1, 1), (3, 4), (64, 1), (5, 8)])
def test_every_word_of_every_class_is_found_at_every_row(classes: int, run: int) -> None:
    """One word set at a time: nothing of any other stands where the sums do."""
    words = 9
    layout = PolynomialLayout(TINY, words, classes, run)
    rows = layout.rows_together
    assert rows == 64 // (run * classes)
    table = np.arange(1, words * classes + 1, dtype=np.uint64).reshape(words, classes)
    for word in range(words):
        for row in range(rows):
            named = np.full((1, rows), words, np.int32)
            named[0, row] = word
            found = sums_of(layout, table, named)
            assert found[:, row].tolist() == table[word].tolist()
            assert found.sum() == table[word].sum()


def test_the_first_row_has_negative_exponents() -> None:
    layout = PolynomialLayout(TINY, 8, 2, 8)
    found = layout.row_polynomials(np.array([[0, 0], [3, 5]], np.int32))
    assert np.flatnonzero(found[0]).tolist() == [0, 11, 16, 61]
    assert found[0, [0, 11, 16, 61]].tolist() == [1, 1, 1, -1]


def test_a_row_of_nothing_is_zero() -> None:
    layout = PolynomialLayout(TINY, 8, 2, 8)
    assert not layout.row_polynomials(np.full((3, 4), 8, np.int32)).any()


shapes = given(
    words=st.integers(1, 5000),
    classes=st.integers(1, 63),
    width=st.integers(1, 64),
    share=st.floats(0, 1),
    opened=st.builds(OpenedBits, st.integers(1, 65)),
)


@shapes
@settings(max_examples=60)
def test_the_cheapest_is_the_least_of_all(
    words: int, classes: int, width: int, share: float, opened: OpenedBits
) -> None:
    rows = 1 + int(share * (most_rows(width, opened) - 1))
    chosen = cheapest(words, classes, width, rows, opened)
    assert chosen == cheapest(words, classes, width, rows, opened)
    assert chosen.parameters.holds(width)
    assert chosen.parameters.rows(opened) >= rows
    assert chosen.rows_together >= 1
    for size in SIZES:
        for run in (1 << power for power in range(14)):
            if size.holds(width) and size.rows(opened) >= rows and run * classes <= size.dimension:
                assert chosen.bytes(rows) <= cost(size, words, classes, run, rows)


def cost(size: Parameters, words: int, classes: int, run: int, rows: int) -> int:
    """Polynomials of the table and of zero, one for every product, and a coefficient for each sum."""
    together = size.dimension // (run * classes)
    polynomials = -(-words // run) + 1 + -(-rows // together)
    return 3 * size.limbs * (size.dimension * polynomials + rows * classes)


@given(tiny_layouts(), st.integers(0, 70))
def test_bytes_are_those_of_table_and_sums(layout: PolynomialLayout, rows: int) -> None:
    assert layout.bytes(rows) == cost(TINY, layout.words, layout.classes, layout.run, rows)
    assert layout.table(np.zeros((layout.words, layout.classes), np.uint64)).shape == (layout.polynomials, 64)


@given(st.integers(1, 64), st.builds(OpenedBits, st.integers(1, 65)))
def test_most_rows_can_be_asked_and_no_more(width: int, opened: OpenedBits) -> None:
    most = most_rows(width, opened)
    assert cheapest(9, 3, width, most, opened).parameters.rows(opened) >= most
    assert not any(size.holds(width) and size.rows(opened) > most for size in SIZES)
