"""Columns divided by their range or standard deviation."""

from __future__ import annotations

import numpy as np
import pytest

from mixbayes.local_methods.arithmetic.scaling import constant, standard_deviations, to_scale


def test_deviations_leave_gaps_out_and_a_constant_column_has_one() -> None:
    points = np.array([[1.0, 0.1, 4], [3, 0.1, np.nan], [np.nan, 0.1, np.nan]])
    assert standard_deviations(points).tolist() == [1, 1, 1]
    assert constant(points).tolist() == [False, True, True]


def test_deviations_of_huge_and_tiny_numbers() -> None:
    points = np.array([[2.0], [4.0], [9.0]]) * [2.0**1015, 1, 2.0**-1000]
    np.testing.assert_array_equal(standard_deviations(points), np.std([2, 4, 9]) * np.array([2.0**1015, 1, 2.0**-1000]))


@pytest.mark.parametrize(("scaling", "spread"), [("min-max", np.ptp), ("z-score", np.std)])
def test_columns_are_divided_by_their_spread(scaling: object, spread: object) -> None:
    points = np.random.default_rng(0).normal(size=(50, 3)) * [1, 1e200, 1e-200]
    scaled = to_scale(np.column_stack([points, np.full(50, 7.0)]), scaling)  # type: ignore[arg-type]
    np.testing.assert_allclose(spread(scaled, axis=0), [1, 1, 1, 0])  # type: ignore[operator]
