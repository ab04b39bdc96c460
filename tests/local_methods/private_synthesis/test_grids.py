"""Cells go to places of a public grid, and come back as cells of the same place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.local_methods import UnfitTable
from mixbayes.local_methods.domain import Unit
from mixbayes.local_methods.private_synthesis.grids import FINEST, Bins, ListedValues, PublicGrid, grid_of
from mixbayes.local_methods.tables import Nominal, Numeric, nominal_from

RANDOM = np.random.default_rng(0)
BOUNDS = st.tuples(st.integers(-(10**6), 10**6), st.integers(0, 10**5), st.integers(-4, 2))


def numbers(*cells: float) -> Numeric:
    return Numeric(np.array(cells, float))


@given(BOUNDS)
def test_numbers_come_back_to_their_bin_within_bounds_in_units(bounds: tuple[int, int, int]) -> None:
    low, width, exponent = bounds
    size = 10.0**exponent
    grid = Bins("x", low * size, (low + width) * size, Unit(exponent))
    assert grid.bins == min(FINEST, width + 1)
    places = np.arange(grid.size)
    column = grid.column(places, RANDOM)
    assert isinstance(column, Numeric)
    assert np.array_equal(grid.places(column)[0], places)
    assert grid.places(column)[1] == 0
    assert np.array_equal(np.isnan(column.numbers), places == grid.bins)
    units = column.numbers[:-1] / size
    assert units == pytest.approx(np.rint(units), rel=1e-9, abs=1e-6)


@pytest.mark.parametrize(("low", "high"), [(-1e308, 1e308), (1.0, 1.0), (0.0, 1e-300)])
def test_ranges_without_a_unit_have_places_too(low: float, high: float) -> None:
    grid = Bins("x", low, high, None)
    places = np.arange(grid.size)
    assert np.array_equal(grid.places(grid.column(places, RANDOM))[0], places)


def test_numbers_beyond_the_bounds_are_put_at_them_and_counted() -> None:
    grid = grid_of("x", numbers(-5, 3, 99, np.nan), {"x": (0, 10)})
    assert grid.places(numbers(-5, 3, 99, np.nan))[0].tolist() == [0, 3, 10, 11]
    assert grid.places(numbers(-5, 3, 99, np.nan))[1] == 2


def test_the_unit_is_that_of_the_agreed_bounds_whatever_the_cells_are() -> None:
    cells = numbers(0.12345, 0.5)
    assert _unit(grid_of("x", cells, {"x": (0, 120)})) == Unit(0)
    assert _unit(grid_of("x", cells, {"x": (0.0, 7.5)})) == Unit(-3)
    assert _unit(grid_of("x", cells, {"x": (0, 1)})) == Unit(-3)


def _unit(grid: PublicGrid) -> Unit | None:
    assert isinstance(grid, Bins)
    return grid.unit


def test_values_that_are_not_agreed_are_missing_and_counted() -> None:
    column = nominal_from(np.array(["a", "z", "b", "z"]), np.array([False, False, False, True]))
    grid = grid_of("x", column, {"x": ["b", "a", "c"]})
    places, outside = grid.places(column)
    assert (places.tolist(), outside) == ([1, 3, 0, 3], 1)
    back = grid.column(places, RANDOM)
    assert back.cells().tolist() == ["a", None, "b", None]


def test_a_column_without_a_number_stays_without() -> None:
    column = numbers(np.nan, np.nan)
    grid = grid_of("x", column, None)
    assert grid.size == 1
    assert np.isnan(grid.column(grid.places(column)[0], RANDOM).cells()).all()


def test_a_column_of_another_kind_is_refused() -> None:
    for grid, column in (
        (Bins("x", 0, 1, Unit(0)), Nominal(np.zeros(1, int), np.array(["a"]))),
        (ListedValues("x", np.array(["a"])), numbers(1)),
    ):
        with pytest.raises(UnfitTable, match="'x' has numbers in one place"):
            grid.places(column)
