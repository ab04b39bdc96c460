"""What is public of a column: bounds, values, and the unit in which its cells are recorded."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.local_methods.domain import Range, Unit, bounds_of, not_agreed, range_of, unit_of, values_of
from mixbayes.local_methods.errors import BadParameter
from mixbayes.local_methods.tables import Numeric, Table, nominal_from

DECIMAL = Unit(-1)


def column(*numbers: float) -> Numeric:
    return Numeric(np.array(numbers))


@pytest.mark.parametrize(
    ("numbers", "low", "high", "exponent"),
    [
        ([1, 2, 5, 9], 0, 10, 0),
        ([0, 1, 0, 1], 0, 1, 0),
        ([0.1, 0.2, 0.7, 6.2], 0, 7, -1),
        ([7.25, 8.05, 26.55, 71.2833], 0, 100, -2),
        ([120, 250, 90, 70], 0, 300, 1),
        ([np.pi, np.e, 0.5, 2.1], 0, 5, -6),
        ([5, 5, 5, 5], 5, 5, 0),
    ],
    ids=["whole", "flags", "tenths", "one cell is finer", "tens", "no decimals", "constant"],
)
def test_the_unit_is_the_finest_power_of_ten_that_cells_need(
    numbers: list[float], low: float, high: float, exponent: int
) -> None:
    unit = unit_of(column(*numbers, nan), low, high, least=2)
    assert unit == Unit(exponent)


def test_a_single_patient_does_not_decide_about_the_unit() -> None:
    ages = np.append(np.arange(20.0, 80.0), 43.37)
    assert unit_of(Numeric(ages), 0, 120, least=2) == Unit(0)
    assert unit_of(Numeric(ages), 0, 120, least=1) == Unit(-2)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_numbers_beyond_decimals_have_no_unit(scale: float) -> None:
    assert unit_of(column(1 * scale, 2 * scale, 3 * scale), 1 * scale, 3 * scale, least=1) is None


@given(
    exponent=st.integers(-6, 3),
    whole=st.lists(st.integers(-999, 999), min_size=2, max_size=20, unique=True),
    bounds=st.tuples(st.integers(-999, 999), st.integers(0, 999)),
)
def test_a_number_of_a_column_is_a_multiple_of_its_unit_between_its_bounds(
    exponent: int, whole: list[int], bounds: tuple[int, int]
) -> None:
    numbers = np.array([float(f"{number}e{exponent}") for number in whole])
    low, high = (float(f"{number}e{exponent}") for number in (bounds[0], bounds[0] + bounds[1]))
    public = range_of("x", Numeric(numbers), {"x": (low, high)}, least=1)
    inside = (low <= numbers) & (numbers <= high)
    assert np.array_equal(public.nearest(numbers[inside]), numbers[inside])
    drawn = public.number(np.linspace(0, 1, 50))
    assert low <= drawn.min() <= drawn.max() <= high
    assert np.array_equal(public.nearest(drawn), drawn)


def test_bounds_that_are_no_multiples_are_not_reached() -> None:
    assert Range(0.05, 0.97, DECIMAL).number(np.array([0, 0.5, 1])).tolist() == [0.1, 0.5, 0.9]
    assert Range(0.51, 0.59, DECIMAL).number(np.array([0, 1])).tolist() == [0.51, 0.59]  # no tenth lies between


def test_where_nothing_is_agreed_bounds_are_rounded_outwards_and_values_are_those_of_the_table() -> None:
    words = nominal_from(np.array(["b", "a", "b"]), np.zeros(3, bool))
    table = Table(("age", "ward"), (column(23, 61, nan), words), 3)
    assert bounds_of("age", column(23, 61, nan), None) == (20, 65)
    assert bounds_of("age", column(23, 61, nan), {"age": (0, 120)}) == (0, 120)
    assert values_of("ward", words, None) == ["a", "b"]
    assert values_of("ward", words, {"ward": ("a", "b", "c")}) == ["a", "b", "c"]
    said = not_agreed(table, None)
    assert "bounds of age" in said
    assert "values of ward" in said
    assert "values" not in not_agreed(table, {"ward": "ab"})
    assert not not_agreed(table, {"ward": "ab", "age": (0, 120)})


@pytest.mark.parametrize("wrong", [(1,), ("a", "b"), (2, 1), (0, float("inf")), (0, 1, 2)])
def test_bounds_that_are_none_are_refused(wrong: Any) -> None:
    with pytest.raises(BadParameter, match="'age'"):
        bounds_of("age", column(1, 2), {"age": wrong})


def test_single_precision_has_the_units_of_double() -> None:
    tenths = np.arange(100, dtype=np.float32) / np.float32(10)
    assert unit_of(Numeric(tenths.astype(np.float64)), 0, 10, least=1) == DECIMAL
