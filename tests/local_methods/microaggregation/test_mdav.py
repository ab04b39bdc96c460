"""MDAV by blocks against MDAV by looking at every row, to the last tie."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from mixbayes.local_methods.arithmetic.exact_sums import ExactSums
from mixbayes.local_methods.microaggregation import blocks, outskirts
from mixbayes.local_methods.microaggregation import mdav as module
from mixbayes.local_methods.microaggregation.mdav import mdav

Points = NDArray[np.float64]


def ignore(rows: int) -> None:
    """Progress that nobody follows."""


def by_every_row(points: Points, k: int) -> list[int]:
    """sdcMicro's loop as it stands in its source, without a thought for time."""
    variances = np.where(np.ptp(points, axis=0) > 0, points.var(axis=0), 1.0).tolist()
    left, group, formed = list(range(len(points))), [-1] * len(points), 0

    def distance(row: int, to: list[float]) -> float:
        total = 0.0
        for value, other, variance in zip(points[row].tolist(), to, variances, strict=True):
            difference = value - other
            total += difference * difference * (1 / variance)  # ** 2 would leave the last digit to the C library's pow
        return total

    while len(left) >= 2 * k:
        centre = [math.fsum(column) / len(left) for column in points[left].T.tolist()]
        ends = [max(left, key=lambda row: (distance(row, centre), -row))]
        if len(left) >= 3 * k:
            ends.append(max(left, key=lambda row: (distance(row, points[ends[0]].tolist()), -row)))
        for end in ends:
            near = sorted(left, key=lambda row: (distance(row, points[end].tolist()), -row))[:k]
            for row in near:
                group[row] = formed
            left = [row for row in left if group[row] < 0]
            formed += 1
    for row in left:
        group[row] = formed
    return group


def assert_as_by_every_row(points: Points, k: int) -> None:
    assert mdav(points, k, ignore).tolist() == by_every_row(points, k)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many blocks and several times anew, also for few rows."""
    monkeypatch.setattr(module, "SMALLEST_BLOCK", 4)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("k", [2, 3, 7, 40])
@pytest.mark.parametrize("columns", [1, 2, 5, 11])
def test_same_groups_of_measurements(columns: int, k: int) -> None:
    random = np.random.default_rng(columns)
    points = random.normal(size=(150, columns)) * np.logspace(-3, 3, columns)
    assert_as_by_every_row(points, k)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("columns", [1, 2, 3, 9])
def test_same_groups_where_most_distances_are_equal(columns: int, k: int) -> None:
    """Few different integers: the rules for ties decide nearly everything."""
    random = np.random.default_rng(columns)
    for values in (2, 3, 6):
        assert_as_by_every_row(random.integers(0, values, (120, columns)).astype(float), k)


@given(
    arrays(np.float64, st.tuples(st.integers(4, 40), st.integers(1, 3)), elements=st.integers(-3, 3).map(float)),
    st.integers(2, 4),
)
def test_same_groups_of_any_small_integers(points: Points, k: int) -> None:
    assert_as_by_every_row(points, min(k, len(points)))


@given(arrays(np.float64, (12, 2), elements=st.floats(-1e6, 1e6).map(lambda x: round(x, 9))))
def test_same_groups_of_any_numbers(points: Points) -> None:
    assert_as_by_every_row(points, 3)


@given(
    arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 3)), elements=st.integers(-2, 2).map(float)),
    st.lists(st.integers(0, 5), min_size=6, max_size=60),
    st.integers(2, 5),
)
def test_same_groups_of_few_rows_many_times_over(distinct: Points, rows: list[int], k: int) -> None:
    with patch.object(module, "SMALLEST_BLOCK", 2):
        assert_as_by_every_row(distinct[np.array(rows) % len(distinct)], k)


def measurements(rows: int) -> Points:
    return np.random.default_rng(0).normal(size=(rows, 4))


def half_equal(rows: int) -> Points:
    return np.where(np.arange(rows)[:, None] % 2, measurements(rows), 0)


def mostly_zeros(rows: int) -> Points:
    return np.where(np.random.default_rng(1).random((rows, 4)) < 0.99, 0, measurements(rows))


def differences_squared(points: Points) -> int:
    squared, sizes = blocks.squared, [0]

    def counted(differences: Points, weights: Points) -> Points:
        sizes.append(differences.size)
        return squared(differences, weights)

    with patch.object(blocks, "squared", counted), patch.object(outskirts, "squared", counted):
        mdav(points, 5, ignore)
    return sum(sizes)


def memory(points: Points) -> int:
    tracemalloc.start()
    mdav(points, 5, ignore)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("table", [half_equal, mostly_zeros])
@pytest.mark.parametrize("taken_by", [differences_squared, memory])
def test_equal_rows_take_no_more_than_different_ones(
    taken_by: Callable[[Points], int], table: Callable[[int], Points]
) -> None:
    assert taken_by(table(2000)) < taken_by(measurements(2000))


def test_large_and_small_numbers_neither_overflow_nor_vanish() -> None:
    points = np.random.default_rng(0).normal(size=(60, 2))
    scale = np.array([2.0**900, 2.0**-900])
    assert mdav(points * scale, 3, ignore).tolist() == mdav(points, 3, ignore).tolist()


@pytest.mark.parametrize("rows", range(3, 14))
def test_groups_are_of_k_rows_and_the_last_of_less_than_two_k(rows: int) -> None:
    sizes = np.bincount(mdav(np.random.default_rng(rows).normal(size=(rows, 2)), 3, ignore))
    assert (sizes[:-1] == 3).all()
    assert 3 <= sizes[-1] < 6
    assert sizes.sum() == rows


def test_equal_rows_are_grouped_too() -> None:
    assert np.bincount(mdav(np.full((10, 2), 0.1), 3, ignore)).tolist() == [3, 3, 4]


def test_a_column_in_other_units_changes_nothing() -> None:
    points = np.random.default_rng(1).normal(size=(100, 3))
    assert mdav(points * [1, 1024, 1], 4, ignore).tolist() == mdav(points, 4, ignore).tolist()


def test_tells_how_far_it_is() -> None:
    steps: list[int] = []
    mdav(np.random.default_rng(0).normal(size=(101, 2)), 5, steps.append)
    assert sum(steps) == 101
    assert len(steps) > 5


@given(
    arrays(np.float64, st.tuples(st.integers(1, 20), st.just(2)), elements=st.floats(-1e300, 1e300)), st.integers(0, 20)
)
def test_sums_are_exact_whatever_was_taken_out(points: Points, cut: int) -> None:
    sums = ExactSums(points)
    sums.remove(np.arange(len(points))[:cut])
    assert sums.rounded().tolist() == [math.fsum(column) for column in points[cut:].T.tolist()]
