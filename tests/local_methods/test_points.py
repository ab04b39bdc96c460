"""Points in little room are the points that they stand for, to the last bit, and so are their clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from mixbayes.local_methods import ClassWiseCondensation, Condensation, points
from mixbayes.local_methods.arithmetic.k_means import Followed, Grid, k_means, nearest
from mixbayes.local_methods.coordinates import APART
from mixbayes.local_methods.points import Points
from mixbayes.local_methods.tables import Nominal, Numeric, Table
from tests.local_methods.mixed import classes, mixed_table


@pytest.fixture(autouse=True)
def never_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(points, "FEW_NUMBERS", 0)


def mixed(rows: int, numbers: int, sizes: list[int], seed: int) -> Points:
    random = np.random.default_rng(seed)
    lists = [APART * np.eye(size) for size in sizes]
    places = np.array([random.integers(0, max(1, size - 1), rows) for size in sizes], np.uint8).reshape(-1, rows)
    return Points(random.normal(size=(rows, numbers)), lists, places)


def as_one(found: Points) -> Points:
    return Points(found.whole())


@st.composite
def some_points(draw: Any) -> Points:
    numbers, sizes = draw(st.integers(0, 3)), draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    return mixed(draw(st.integers(1, 3000)), numbers, sizes, draw(st.integers(0, 99)))


@given(some=some_points())
def test_sums_and_distances_are_those_of_the_matrix(some: Points) -> None:
    whole = some.whole()
    assert whole.shape == (len(some), some.width)
    assert np.array_equal(some.sums(lambda block: block), whole.sum(axis=0))
    assert np.array_equal(some.sums(lambda block: block**2), (whole**2).sum(axis=0))
    assert np.array_equal(some.squared_distances(whole[0]), ((whole - whole[0]) ** 2).sum(axis=1))
    assert some.largest() == np.abs(whole).max()
    assert some.all_equal() == (whole == whole[0]).all()


@given(some=some_points(), seed=st.integers(0, 99))
def test_points_that_are_taken_are_those_of_the_matrix(some: Points, seed: int) -> None:
    rows = np.random.default_rng(seed).integers(0, len(some), 5)
    assert np.array_equal(some.take(rows).whole(), some.whole()[rows])
    blocks = [block for _, block in some.blocks()]
    assert np.array_equal(np.concatenate(blocks), some.whole())


@given(some=some_points())
def test_the_grid_is_that_of_the_matrix(some: Points) -> None:
    ours, theirs = Grid.of(some), Grid.of(as_one(some))
    assert ours.exponent == theirs.exponent
    assert np.array_equal(ours.centre, theirs.centre)
    assert np.array_equal(ours.points.whole(), theirs.points.whole())


@pytest.mark.parametrize(("numbers", "sizes"), [(3, [4, 2]), (0, [6, 3, 3]), (1, [32])])
def test_clusters_are_those_of_the_matrix(numbers: int, sizes: list[int]) -> None:
    some = mixed(2500, numbers, sizes, 1)
    for clusters in (2, 7, 40):
        ours, theirs = k_means(some, clusters, 5, rounds=20), k_means(as_one(some), clusters, 5, rounds=20)
        assert np.array_equal(ours.groups, theirs.groups)
        assert np.array_equal(ours.centres, theirs.centres)
        assert ours.inertia == theirs.inertia


@pytest.mark.parametrize(
    "method", [ClassWiseCondensation(k=5, random_state=3), Condensation(k=4, random_state=3)], ids=["classes", "whole"]
)
def test_releases_do_not_depend_on_how_many_points_are_made_at_once(
    method: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, labels = mixed_table(1200, seed=4), classes(700, 500)
    apart = cells_of(*method.fit_resample(table, labels))
    monkeypatch.setattr(points, "FEW_NUMBERS", 1 << 30)
    assert all(
        np.array_equal(*pair, equal_nan=True)
        for pair in zip(apart, cells_of(*method.fit_resample(table, labels)), strict=True)
    )


def cells_of(table: Table, labels: Nominal) -> list[NDArray[Any]]:
    columns = (*table.columns, labels)
    return [column.numbers if isinstance(column, Numeric) else column.codes for column in columns]


@given(
    some=some_points(),
    clusters=st.integers(1, 6),
    seed=st.integers(0, 99),
    steps=st.lists(st.integers(0, 9), max_size=6),
)
def test_moving_centres_have_the_points_that_are_nearest_to_them(
    some: Points, clusters: int, seed: int, steps: list[int]
) -> None:
    grid, random = Grid.of(some).points, np.random.default_rng(seed)
    centres = grid.take(random.integers(0, len(grid), clusters)).whole()
    followed = Followed(grid)
    for step in [0, *steps]:  # from not at all to half across the grid
        centres = centres + np.rint(random.normal(size=centres.shape) * (step > 0) * 4.0**step)
        assert np.array_equal(followed.of(centres), nearest(grid, centres))
