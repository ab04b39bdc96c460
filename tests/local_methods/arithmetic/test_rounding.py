"""Bounds that are published enclose the table's own, and are not its patients' values to the digit."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mixbayes.local_methods.arithmetic.rounding import grid, outwards, rounded
from mixbayes.tables.columns import Columns
from mixbayes.tables.profile import profiled
from mixbayes.tables.quantiles import quantiles

numbers = st.floats(-1e12, 1e12, allow_subnormal=False)


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ((40, 69), (40, 70)),
        ((0.25, 29.25), (0, 30)),
        ((17, 90), (10, 90)),
        ((1234567, 9876543), (0, 10_000_000)),
        ((-0.013, 0.0271), (-0.02, 0.03)),
        ((120, 120), (120, 120)),
        ((1.6e308, 1.79e308), (1.6e308, sys.float_info.max)),
        ((-1.6e308, 1.6e308), (-sys.float_info.max, sys.float_info.max)),
    ],
)
def test_bounds_have_few_digits(bounds: tuple[float, float], expected: tuple[float, float]) -> None:
    assert outwards(*bounds) == expected


@given(numbers, numbers)
def test_bounds_are_never_narrowed(one: float, other: float) -> None:
    low, high = sorted((one, other))
    below, above = outwards(low, high)
    assert below <= low <= high <= above
    assert above - below <= 2 * (high - low)


@given(st.lists(numbers, min_size=1, unique=True), numbers, numbers)
def test_cut_points_stay_in_order_between_the_bounds(cuts: list[float], one: float, other: float) -> None:
    low, high = outwards(*sorted((one, other)))
    found = rounded(np.clip(np.sort(cuts), low, high), low, high)
    assert low <= found[0] <= found[-1] <= high
    assert low == high or (np.diff(found) > 0).all()


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), st.integers(1, 12))
def test_quantiles_are_numpys(values: list[float], bins: int) -> None:
    column = profiled(Columns.of(["x"], [np.array([repr(value) for value in values])], len(values))).columns["x"]
    at = np.arange(1, bins) / bins
    np.testing.assert_array_equal(quantiles(column.numbers(), column.counts, at), np.quantile(values, at))


@pytest.mark.parametrize(
    ("bounds", "cells", "first", "count"),
    [
        ((20, 80), 60, 21, 59),
        ((20, 80), 256, 20.5, 119),
        ((20, 80), 59, 22, 29),
        ((0, 7), 10, 1, 6),
        ((-0.02, 0.03), 10, -0.015, 9),
        ((-1, 1), 2, 0, 1),
        ((5, 5), 10, 0, 0),
    ],
)
def test_a_grid_is_cut_at_round_numbers(bounds: tuple[float, float], cells: int, first: float, count: int) -> None:
    found = grid(*bounds, cells)
    assert len(found) == count
    assert found[:1] == [first] * bool(count)


@given(numbers, numbers, st.integers(2, 1000))
@example(0.0, 2.2250738585072014e-308, 2)
@example(0.0, 2.2250738585072014e-308, 1000)
@example(1e12, 999999999999.998, 19)
@example(1e12, 999999999999.9999, 20)
def test_a_grid_has_as_many_cells_as_it_may_or_nearly(one: float, other: float, cells: int) -> None:
    low, high = outwards(*sorted((one, other)))
    found = grid(low, high, cells)
    assert len(found) < cells
    assert all(low < cut < high for cut in found)
    assert (np.diff(found) > 0).all()
    there_are = (high - low) / max(np.spacing(abs(low)), np.spacing(abs(high)))  # numbers between the bounds, at least
    assert low == high or cells < 20 or len(found) >= min(cells, there_are // 8) / 4
