"""Contributions that cannot lie: nothing honest is refused, every liar is, and nobody else.

Whether a vector is possible is decided here by plain integers, without widths, shares or carries.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.attributes.dictionary import MOST_CLASSES, MOST_ROWS
from mixbayes.protocol.attributes.gaussian_validity import Sizes
from mixbayes.protocol.attributes.layout import MOST_CELLS, Layout
from mixbayes.protocol.bayes.validity import honest, run_validation
from mixbayes.protocol.errors import PeerError
from mixbayes.protocol.shares import split
from mixbayes.transport.errors import LyingHospital
from tests.protocol.bayes.contributions import (
    LISTS,
    MIXED,
    NOMINAL,
    TOP,
    changed,
    judged_as_by_integers,
    mixed,
    table,
    verdicts,
    whole_in,
    with_moments,
)
from tests.protocol.pairs import SEEDS, both, integers, layout_of, random_counts, seed, words_below, words_of


@pytest.mark.parametrize("max_rows", [1, 2, 3, 7, 8, 1000, 2**20 - 1, 2**20, 2**31, 2**39, MOST_ROWS - 1, MOST_ROWS])
def test_no_honest_extreme_is_accused(max_rows: int) -> None:
    layout = layout_of(3, [1, 4], max_rows=max_rows)
    vectors = [whole_in(layout, row, rows, label) for row in (0, 1) for rows in (0, 1, max_rows) for label in (0, 2)]
    vectors += [random_counts(layout, np.random.default_rng(i), max_rows) for i in range(5)]
    assert verdicts(layout, vectors) == [True] * len(vectors)


def test_patients_without_any_value_are_not_accused() -> None:
    missing = np.zeros(NOMINAL.size, np.uint64)
    NOMINAL.class_counts(missing)[:] = [400, 0, 600]
    for i in range(2):
        NOMINAL.block(missing, i)[-1] = [400, 0, 600]
    assert verdicts(NOMINAL, [missing]) == [True]
    assert verdicts(MIXED, [whole_in(MIXED, 2, 1000)]) == [True]


@pytest.mark.parametrize("max_rows", [1, 2, 1000, 2**20, 2**31, 2**38 - 1, 2**38])
def test_no_extreme_of_moments_is_accused(max_rows: int) -> None:
    """Everybody at either bound, or at half of the range, or half at each; one row of every kind of value."""
    layout = mixed(max_rows)
    one_value = [(n, n * x, x) for n in (0, 1, max_rows) for x in (0, 1, TOP // 2, TOP - 1, TOP)]
    vectors = [with_moments(layout, n, s1, n * x * x, n * (x * x % TOP)) for n, s1, x in one_value]
    half = max_rows // 2
    vectors.append(with_moments(layout, max_rows, half * TOP, half * TOP * TOP, 0))
    root = 4095  # the largest value below 2^12: its square has only a low half, as large as low halves come
    vectors.append(with_moments(layout, max_rows, max_rows * root, max_rows * root**2, max_rows * root**2))
    assert verdicts(layout, vectors) == [True] * len(vectors)


@given(st.integers(0, 60), SEEDS, st.sampled_from([(0, TOP), (0, 0), (TOP, TOP), (0, 1), (TOP - 1, TOP)]))
@settings(max_examples=40)
def test_no_table_is_accused(rows: int, number: int, values: tuple[int, int]) -> None:
    layout = mixed(60)
    vectors = [table(layout, rows, number + i, values) for i in range(8)]
    assert judged_as_by_integers(layout, vectors) == [True] * 8


def test_nobody_contributed() -> None:
    assert both(honest, (NOMINAL, []), (NOMINAL, [])) == ([], [])


def test_the_largest_dictionaries_wrap_nowhere() -> None:
    """The sums that are compared modulo 2^64 are below it, and moments fit a word with a bit to spare."""
    assert MOST_CELLS * (2 ** MOST_ROWS.bit_length() - 1) < 2**64
    assert MOST_CLASSES * 2 ** MOST_ROWS.bit_length() + MOST_ROWS < 2**63
    assert Sizes(2**38).sum == 63
    for rows in (1, 2, 1000, 2**38):
        sizes, n = Sizes(rows), 2 ** rows.bit_length() - 1
        largest = 2**sizes.sum - 1
        assert (1 + TOP) * largest < 2 ** (sizes.square - 1)
        assert (TOP * n) ** 2 < 2 ** (sizes.product - 1)
        assert sizes.square <= sizes.product


@given(st.data(), st.sampled_from([NOMINAL, MIXED, LISTS]), st.integers(0, 1000), SEEDS)
@settings(max_examples=80)
def test_any_lie_is_judged_as_by_integers(data: st.DataObject, layout: Layout, rows: int, number: int) -> None:
    vector = table(layout, rows, number)
    by = st.one_of(st.integers(-3, 3), words_below(64), st.integers(0, 63).map(lambda k: 1 << k))
    changes = st.dictionaries(st.integers(0, layout.size - 1), by, max_size=4)
    lies = [changed(vector, lie) for lie in data.draw(st.lists(changes, min_size=1, max_size=20))]
    judged_as_by_integers(layout, lies, number)


@given(st.lists(st.lists(words_below(64), min_size=13, max_size=13), min_size=1, max_size=9), SEEDS)
@settings(max_examples=30)
def test_arbitrary_words_are_judged_as_by_integers(rows: list[list[int]], number: int) -> None:
    layout = layout_of(2, [1, 1], max_rows=5)
    judged_as_by_integers(layout, [words_of(row[: layout.size]) for row in rows], number)


@given(st.lists(st.booleans(), min_size=1, max_size=7), SEEDS)
@settings(max_examples=15)
def test_exactly_the_liars_are_refused_and_the_rest_adds_up_as_without_them(lies: list[bool], number: int) -> None:
    rng = np.random.default_rng(number)
    vectors = [table(MIXED, 50, number + i) for i in range(len(lies))]
    sent = [
        changed(vector, {int(rng.integers(2)): int(rng.integers(1, 2**63))}) if lie else vector
        for vector, lie in zip(vectors, lies, strict=True)
    ]
    shares = [split(vector, seed(number + i)) for i, vector in enumerate(sent)]
    found, of_a, of_b = run_validation(MIXED, shares, (seed(1), seed(2)))
    assert found == [not lie for lie in lies]
    accepted = [vector for vector, lie in zip(vectors, lies, strict=True) if not lie]
    assert integers(of_a + of_b) == integers(sum(accepted, np.zeros(MIXED.size, np.uint64)))
    without = [share for share, lie in zip(shares, lies, strict=True) if not lie]
    _, alone_a, alone_b = run_validation(MIXED, without, (seed(3), seed(4)))
    assert np.array_equal(of_a, alone_a)
    assert np.array_equal(of_b, alone_b)


def test_sums_of_honest_contributions_are_honest_up_to_the_agreed_rows() -> None:
    """A node may check its sum as it checks a contribution: only too many rows together can make it fail."""
    vectors = [table(MIXED, 300, i) for i in range(4)]
    assert verdicts(MIXED, [sum(vectors[:3], np.zeros_like(vectors[0])), sum(vectors, np.zeros_like(vectors[0]))]) == [
        True,
        False,
    ]


def test_refusal_names_the_hospital() -> None:
    error = LyingHospital("party vb", "check of contributions", "its counts are those of no table")
    assert isinstance(error, PeerError)
    assert (error.peer, error.code, error.exit_code) == ("party vb", "E220", 3)
    assert str(error).startswith("party vb, at check of contributions: its counts are those of no table. ")
