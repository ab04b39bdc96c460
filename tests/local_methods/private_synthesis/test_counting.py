"""Counts of two columns, in memory and in parts, and rows drawn by such counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.local_methods import UnfitTable
from mixbayes.local_methods.private_synthesis.counting import PairSums, PlacedRows
from mixbayes.local_methods.private_synthesis.drawing import ValueShares

SIZES = (3, 4, 2)


def some_rows(count: int, seed: int) -> PlacedRows:
    random = np.random.default_rng(seed)
    return PlacedRows([random.integers(0, size, count) for size in SIZES], SIZES)


def test_pairs_are_counted() -> None:
    rows = some_rows(200, 0)
    expected = np.zeros((4, 3), int)
    for one, other in zip(rows.places[1], rows.places[0], strict=True):
        expected[one, other] += 1
    assert np.array_equal(rows.of_pair(1, 0), expected)


@given(st.lists(st.integers(0, 40), max_size=4))
def test_parts_add_up_to_the_whole_also_where_places_are_merged(parts: list[int]) -> None:
    found = [some_rows(count, seed) for seed, count in enumerate(parts)]
    sums = PairSums.none(SIZES)
    for part in found:
        sums.add(part)
    whole = PlacedRows(
        [np.concatenate([np.zeros(0, int), *(part.places[at] for part in found)]) for at in range(3)], SIZES
    )
    groups = [np.array([1, 0, 1]), np.array([0, 1, 1, 2]), np.arange(2)]
    for one, other in ((0, 1), (1, 0), (2, 1)):
        assert np.array_equal(sums.of_pair(one, other), whole.of_pair(one, other))
        assert np.array_equal(sums.merged(groups).of_pair(one, other), whole.merged(groups).of_pair(one, other))


def test_parts_of_too_many_values_are_refused() -> None:
    with pytest.raises(UnfitTable, match="too many to be counted in parts"):
        PairSums.none((20_000, 20_000))


@given(st.integers(0, 10**6), st.integers(1, 300))
def test_drawn_rows_are_as_many_as_the_shares_say_but_for_rounding(seed: int, count: int) -> None:
    random = np.random.default_rng(seed)
    table = random.integers(0, 5, (3, 4)).astype(float)
    parents = random.integers(0, 3, count)
    drawn = ValueShares.of(table).draw(parents, random)
    for parent, row in enumerate(np.where(table.sum(axis=1, keepdims=True) > 0, table, 1)):
        mine = drawn[parents == parent]
        assert (np.abs(np.bincount(mine, minlength=4) - len(mine) * row / row.sum()) < 1 + 1e-6).all()


def test_which_of_the_rows_get_a_value_is_drawn() -> None:
    drawn = ValueShares.of(np.ones((1, 2))).draw(np.zeros(1000, int), np.random.default_rng(0))
    assert drawn.sum() == 500
    assert 200 < drawn[:500].sum() < 300
