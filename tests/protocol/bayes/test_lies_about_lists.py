"""Lies about cells with several values: values more frequent than cells, more values than count, missing cells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.dictionary import MOST_ROWS, Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.several import MOST_VALUES, Several
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.bayes.validity import run_validation
from mixbayes.protocol.shares import split
from tests.protocol.bayes.contributions import (
    LISTS,
    at,
    changed,
    judged_as_by_integers,
    table,
    verdicts,
    whole_in,
    with_lists,
)
from tests.protocol.pairs import SEEDS, seed

ANSWERED, ABSENT = 4, 5
"""Rows of the block of the first attribute, which has four values of which two count."""


def with_counts(present: list[int], answered: int, missing: int, layout: Layout = LISTS) -> Words:
    """The first class has these counts in the first attribute; of all others nobody says anything."""
    vector = whole_in(layout, 2, answered + missing)
    layout.block(vector, 1)[:, 0] = [0, 0, answered + missing]
    layout.block(vector, 0)[:, 0] = [*present, answered, missing]
    return vector


@pytest.mark.parametrize(
    ("present", "answered", "missing", "true"),
    [
        ([10, 10, 0, 0], 10, 0, True),
        ([5, 5, 5, 5], 10, 7, True),
        ([10, 4, 3, 3], 10, 0, True),
        ([0, 0, 0, 0], 10, 0, True),
        ([0, 0, 0, 0], 0, 10, True),
        ([11, 0, 0, 0], 10, 1, False),
        ([1, 0, 0, 0], 0, 10, False),
        ([10, 10, 1, 0], 10, 0, False),
        ([5, 5, 5, 6], 10, 7, False),
        ([10, 10, 10, 10], 10, 990, False),
    ],
)
def test_what_some_cells_have_is_accepted_and_nothing_else(
    present: list[int], answered: int, missing: int, true: bool
) -> None:
    assert judged_as_by_integers(LISTS, [with_counts(present, answered, missing)]) == [true]


@given(st.lists(st.integers(0, 6), min_size=4, max_size=4), st.integers(0, 6))
@settings(max_examples=40)
def test_accepted_counts_are_those_of_cells_that_can_be_written_down(present: list[int], answered: int) -> None:
    accepted = verdicts(LISTS, [with_counts(present, answered, 3)]) == [True]
    dealt = [value for value, many in enumerate(present) for _ in range(many)]
    if not answered:
        assert accepted == (not dealt)
        return
    cells = [{*dealt[i::answered]} for i in range(answered)]
    fits = max(present) <= answered and all(len(cell) <= 2 for cell in cells)
    assert accepted == fits
    if fits:
        texts = [";".join(LISTS.dictionary.attributes[0].model_dump()["values"][v] for v in cell) for cell in cells]
        codes = LISTS.dictionary.attributes[0].read(np.array([text or "none" for text in texts] + [""] * 3)).codes
        block = np.zeros((6, 1), np.uint64)
        LISTS.dictionary.attributes[0].count(block, codes, np.zeros(answered + 3, np.int64))
        assert block[:, 0].tolist() == [*present, answered, 3]


@pytest.mark.parametrize("sign", [1, -1])
def test_every_power_of_two_on_every_cell(sign: int) -> None:
    vector = table(LISTS, 100, 6)
    lies = [changed(vector, {cell: sign << k}) for cell in range(LISTS.size) for k in range(64)]
    judged_as_by_integers(LISTS, lies)


@pytest.mark.parametrize("row", [ANSWERED, ABSENT])
def test_a_forged_number_of_cells_is_refused(row: int) -> None:
    vector, cell = table(LISTS, 100, 6), at(LISTS, 0, row)
    assert vector[cell] > 5
    lies = [changed(vector, {cell: by}) for by in (-1, 1, 5, -int(vector[cell]), 2**63)]
    assert judged_as_by_integers(LISTS, lies) == [False] * 5


@pytest.mark.parametrize("max_rows", [1, 2, 3, 1000, 2**20, MOST_ROWS - 1, MOST_ROWS])
def test_the_most_that_can_be_is_not_accused_and_one_more_is(max_rows: int) -> None:
    layout = with_lists(max_rows)
    full = with_counts([max_rows, max_rows, 0, 0], max_rows, 0, layout)
    lies = [changed(full, {at(layout, 0, 2): 1}), changed(full, {at(layout, 0, 0): 1})]
    assert judged_as_by_integers(layout, [full, *lies]) == [True, False, False]


@pytest.mark.parametrize("most", [1, 20, MOST_VALUES - 1, MOST_VALUES])
def test_a_thousand_codes_of_everybody_wrap_nowhere(most: int) -> None:
    """The sum of all values is the largest that any dictionary can have."""
    attribute = Several(name="x", values=tuple(map(str, range(MOST_VALUES))), most=most)
    layout = Layout(Dictionary(class_column="c", classes=("0", "1"), attributes=(attribute,), max_rows=MOST_ROWS))
    vector = np.zeros(layout.size, np.uint64)
    layout.class_counts(vector)[0] = MOST_ROWS
    block = layout.block(vector, 0)
    block[:most, 0] = block[-2, 0] = MOST_ROWS
    one_more = block[most - 1 :, 0].size > 3 and changed(vector, {at(layout, 0, most): 1})
    everything = vector.copy()
    layout.block(everything, 0)[:MOST_VALUES, 0] = MOST_ROWS
    vectors = [vector, everything, *([] if one_more is False else [one_more])]
    assert judged_as_by_integers(layout, vectors) == [True, most == MOST_VALUES] + [False] * (len(vectors) - 2)


@given(st.integers(0, 60), SEEDS)
@settings(max_examples=20)
def test_no_table_is_accused_and_its_liars_are_left_out(rows: int, number: int) -> None:
    layout = with_lists(60)
    vectors = [table(layout, rows, number + i) for i in range(3)]
    liar = changed(vectors[1], {at(layout, 2, 0): int(layout.block(vectors[1], 2)[-2, 0]) + 1})
    found, of_a, of_b = run_validation(
        layout, [split(v, seed(i)) for i, v in enumerate([vectors[0], liar, vectors[2]])], (seed(8), seed(9))
    )
    assert found == [True, False, True]
    np.testing.assert_array_equal(of_a + of_b, vectors[0] + vectors[2])


def test_the_first_values_of_a_long_cell_are_what_a_hospital_can_contribute() -> None:
    """A table with more values in a cell than count is read as one that keeps to it, and accepted."""
    first = LISTS.dictionary.attributes[0]
    codes = first.read(np.array(["a;b;c;d"] * 50)).codes
    layout = Layout(LISTS.dictionary.model_copy(update={"attributes": (first,)}))
    vector = count(layout, Codes(codes, np.zeros(50, np.int32)))
    assert layout.block(vector, 0)[:, 0].tolist() == [50, 50, 0, 0, 50, 0]
    assert judged_as_by_integers(layout, [vector]) == [True]
