"""Condensation: its groups, what is drawn from them, and what becomes of nominal columns and gaps."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

from mixbayes.local_methods import ClassWiseCondensation, Condensation, UnfitTable
from mixbayes.local_methods.base import Released, Work, generator, silent
from mixbayes.local_methods.condensation import resynthesis
from mixbayes.local_methods.condensation.bounded import MOST_VARIANCE, parameters
from mixbayes.local_methods.condensation.condensing import Condensing
from mixbayes.local_methods.condensation.resynthesis import (
    PUBLIC_DEVIATION,
    Grouped,
    Members,
    resynthesised,
    share_apart,
)
from mixbayes.local_methods.condensation.synthesis import DISTRIBUTIONS, deviations_like, normal
from mixbayes.local_methods.coordinates import MOST_INDICATORS, Coordinates, indicator_of_value, weighted_points
from mixbayes.local_methods.grouping import (
    MOST_SEEDS,
    Groups,
    filled_clusters,
    groups_by_kmeans,
    groups_by_seeds,
    seeded_groups,
)
from mixbayes.local_methods.points import Points
from mixbayes.local_methods.tables import Codes, Column, Floats, Nominal, Numeric, Table, nominal_from
from tests.local_methods.mixed import classes, mixed_table, real_table

GROUPINGS = [groups_by_seeds, groups_by_kmeans]


def members_of(groups: Groups) -> list[Members]:
    """The rows of each group."""
    return [np.flatnonzero(groups == group) for group in range(int(groups.max()) + 1)]


def counts(table: Table, at: int) -> Codes:
    """How often each value of a nominal column occurs."""
    column = table.columns[at]
    assert isinstance(column, Nominal)
    return column.counts()


def nothing(rows: int) -> None:
    """Progress that nobody follows."""


# Groups


@pytest.mark.parametrize("grouping", GROUPINGS)
@given(rows=st.integers(3, 400), k=st.integers(3, 50), distinct=st.integers(1, 400), seed=st.integers(0, 99))
def test_every_row_has_a_group_and_every_group_k_rows(
    grouping: Any, rows: int, k: int, distinct: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    points = random.normal(size=(min(distinct, rows), 2))[random.integers(0, min(distinct, rows), rows)]
    groups = grouping(Points(points), k, random, nothing)
    sizes = np.bincount(groups)
    assert rows // k - 1 <= len(sizes) <= max(rows // k, 1)
    assert len(sizes) == max(rows // k, 1) or rows // k > MOST_SEEDS
    assert sizes.min() >= min(k, rows)


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_many_groups_are_made_in_cells_and_still_have_k_rows(grouping: Any) -> None:
    points = np.random.default_rng(0).normal(size=(6000, 3))
    told: list[int] = []
    groups = grouping(Points(points), 7, np.random.default_rng(1), told.append)
    assert np.bincount(groups).min() >= 7
    assert len(np.bincount(groups)) > 0.9 * (6000 // 7)
    assert sum(told) == 6000
    assert len(told) > 10


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_groups_are_of_near_rows(grouping: Any) -> None:
    points = np.random.default_rng(0).normal(size=(5000, 2))
    groups = grouping(Points(points), 20, np.random.default_rng(1), nothing)
    within = np.mean([points[rows].var(axis=0).sum() for rows in members_of(groups)])
    assert within < 0.15 * points.var(axis=0).sum()


def test_random_seeds_take_the_nearest_rows_that_are_left() -> None:
    """Whatever the seeds are: row by row, as the paper tells it."""
    points = np.random.default_rng(0).normal(size=(53, 2))
    groups = seeded_groups(Points(points), 6, 8, np.random.default_rng(5))
    seeds = np.random.default_rng(5).permutation(53)[:8]
    left = [row for row in range(53) if row not in seeds]
    for group, seed in enumerate(seeds):
        nearest = sorted(left, key=lambda row: ((points[row] - points[seed]) ** 2).sum())[:5]
        assert {seed, *nearest} <= set(np.flatnonzero(groups == group))
        left = [row for row in left if row not in nearest]
    for row in left:
        assert groups[row] == ((points[row] - points[seeds]) ** 2).sum(axis=1).argmin()


def test_undersized_clusters_are_filled_and_donors_keep_k() -> None:
    """Figure 3 lets a donor fall below k: here 12 rows lie far from 3, and 4 clusters of 3 leave nothing to spare."""
    points = np.concatenate([np.linspace(0, 1, 12), [100.0, 100.1, 100.2]])[:, None]
    for seed in range(20):
        groups = filled_clusters(Points(points), 3, 5, np.random.default_rng(seed))
        assert np.bincount(groups).tolist() == [3] * 5


def test_distance_counts_standard_deviations_values_and_the_class() -> None:
    table = Table(
        ("n", "t"),
        (Numeric(np.array([0.0, 20.0, 0.0, 20.0])), nominal_from(np.array(["a", "a", "b", "b"]), np.zeros(4, bool))),
        4,
    )
    points = weighted_points(table, classes(2, 2), 3.0).whole()
    apart = lambda one, other: float(((points[one] - points[other]) ** 2).sum())  # noqa: E731
    assert apart(0, 1) == pytest.approx(2.0**2)
    assert apart(0, 2) == pytest.approx(1 + 3.0**2)


def test_outcomes_count_as_much_as_the_class() -> None:
    table = Table(
        ("n", "t", "m"),
        (
            Numeric(np.array([0.0, 20.0, 0.0, 20.0])),
            nominal_from(np.array(["a", "a", "b", "b"]), np.zeros(4, bool)),
            Numeric(np.array([1.0, 1.0, 1.0, 3.0])),
        ),
        4,
    )
    plain = weighted_points(table, classes(2, 2), 3.0).whole()
    apart = lambda points, one, other: float(((points[one] - points[other]) ** 2).sum())  # noqa: E731
    for outcomes, by_number, by_value in (([], 2.0**2, 1), ([0], 6.0**2, 1), ([1], 2.0**2, 9), ([0, 1], 6.0**2, 9)):
        points = weighted_points(table, classes(2, 2), 3.0, outcomes).whole()
        assert apart(points, 0, 1) == pytest.approx(by_number)
        assert apart(points, 0, 2) == pytest.approx(by_value + 3.0**2)
        assert points.shape == plain.shape
    points = weighted_points(table, None, 3.0, [2]).whole()
    assert apart(points, 2, 3) == pytest.approx(2.0**2 + 9 * apart_in(table, "m", 2, 3))


def apart_in(table: Table, name: str, one: int, other: int) -> float:
    points = weighted_points(table.select(table.positions([name])), None, 1.0).whole()
    return float(((points[one] - points[other]) ** 2).sum())


@given(seed=st.integers(0, 99), weights=st.lists(st.floats(0, 20), min_size=2, max_size=4, unique=True))
def test_the_more_the_class_weighs_the_more_it_says_of_a_distance(seed: int, weights: list[float]) -> None:
    """Distances within a class stay, those between classes grow with the weight."""
    table, labels = mixed_table(40, seed=seed), classes(25, 15)
    same = labels.codes[:, None] == labels.codes
    last: Any = None
    for weight in sorted(weights):
        points = weighted_points(table, labels, weight).whole()
        distances = ((points[:, None] - points) ** 2).sum(axis=2)
        if last is not None:
            assert np.allclose(distances[same], last[same])
            assert (distances[~same] >= last[~same]).all()
        last = distances


@pytest.mark.parametrize("seeds", ["random", "kmeans"])
def test_a_larger_weight_leaves_no_fewer_groups_of_one_class(seeds: str) -> None:
    """Two classes that overlap, in groups of a size that divides both."""
    random = np.random.default_rng(0)
    labels = np.repeat(["a", "b"], 200)
    X = random.normal(size=(400, 3)) + 0.5 * (labels == "b")[:, None]
    pure = []
    for weight in (0, 1, 2, 3, 5, 20):
        groups = Condensation(k=20, seeds=seeds, label_weight=weight, random_state=0).fit(X, labels).groups_
        pure.append(sum(len(set(labels[rows])) == 1 for rows in members_of(groups)))
    assert pure == sorted(pure)
    assert pure[0] < 3
    assert pure[-1] >= 18


def test_the_original_weighs_all_alike_and_the_modified_one_outcomes_higher() -> None:
    table, labels = mixed_table(200), classes(120, 80)
    for seeds, weight in (("random", 1), ("kmeans", 3)):
        default, said, other = (
            Condensation(k=10, seeds=seeds, label_weight=given, random_state=0).fit(table, labels).groups_.tolist()
            for given in (None, weight, 8)
        )
        assert default == said != other


def test_other_outcomes_hold_groups_together_too() -> None:
    random = np.random.default_rng(0)
    table = Table(
        ("x", "y", "readmitted"),
        (
            *(Numeric(random.normal(size=300)) for _ in range(2)),
            nominal_from(np.array(["no", "yes"])[random.integers(0, 2, 300)], np.zeros(300, bool)),
        ),
        300,
    )
    outcome = table.columns[2].cells()
    mixed, apart = (
        sum(
            len(set(outcome[rows])) > 1
            for rows in members_of(
                Condensation(k=15, seeds="kmeans", label_weight=9, outcomes=named, random_state=0)
                .fit(table, classes(150, 150))
                .groups_
            )
        )
        for named in (None, ["readmitted"])
    )
    assert apart < mixed / 2
    with pytest.raises(UnfitTable, match="no column 'died'"):
        Condensation(outcomes=["died"]).fit(table)


def test_a_column_of_many_values_has_few_indicators() -> None:
    column = nominal_from(np.array([f"zip {row % 500}" for row in range(2000)]), np.zeros(2000, bool))
    assert indicator_of_value(column).max() == MOST_INDICATORS - 1
    assert Coordinates.of(Table(("zip",), (column,), 2000)).points(Table(("zip",), (column,), 2000)).shape[1] == (
        MOST_INDICATORS
    )


# What is drawn


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_mean_and_covariance_are_a_groups_in_expectation_and_not_exactly(distribution: str) -> None:
    rows = np.random.default_rng(0).normal(size=(10, 3)) @ np.random.default_rng(1).normal(size=(3, 3))
    centred = rows - rows.mean(axis=0)
    random, draw = np.random.default_rng(2), DISTRIBUTIONS[distribution]
    drawn = [deviations_like(centred, random, draw) for _ in range(2000)]
    covariances = np.array([new.T @ new / 10 for new in drawn])
    expected = centred.T @ centred / 10
    assert np.allclose(np.mean(drawn, axis=(0, 1)), 0, atol=0.03)
    assert np.allclose(covariances.mean(axis=0), expected, atol=0.05 * expected.diagonal().max())
    assert not np.isclose(np.mean(drawn, axis=1), 0, atol=1e-9).all(axis=1).any()
    assert not np.isclose(covariances, expected, rtol=1e-3).all(axis=(1, 2)).any()


def test_drawn_numbers_have_the_shape_that_was_asked_for() -> None:
    rows = np.random.default_rng(0).normal(size=(4000, 1))
    rows -= rows.mean()
    gaussian, uniform = (deviations_like(rows, generator(1), DISTRIBUTIONS[name]) for name in ("gaussian", "uniform"))
    assert np.ptp(uniform) == pytest.approx(np.sqrt(12) * rows.std(), rel=0.02)
    assert np.ptp(gaussian) > 6 * rows.std()


@given(mean=st.floats(0, 1), share=st.floats(0, 1))
def test_numbers_between_bounds_have_the_mean_and_the_variance_that_are_wanted(mean: float, share: float) -> None:
    variance = np.array([share * mean * (1 - mean)])
    centre, deviation = parameters(np.array([mean]), variance)
    quantiles = ndtri((np.arange(100_000) + 0.5) / 100_000)
    drawn = np.clip(centre + deviation * quantiles, 0, 1)
    assert drawn.mean() == pytest.approx(mean, abs=1e-4)
    assert drawn.std() == pytest.approx(np.sqrt(min(variance[0], MOST_VARIANCE * mean * (1 - mean))), abs=1e-3)


@pytest.mark.parametrize("seeds", ["random", "kmeans"])
@pytest.mark.parametrize("k", [20, 300])
def test_every_group_has_its_means_and_shares_in_expectation(seeds: str, k: int) -> None:
    """Mean over many releases of the same groups, which only the drawing tells apart."""
    table, labels = mixed_table(300), classes(200, 100)
    method = Condensation(k=k, seeds=seeds, random_state=0)
    method.fit_resample(table, labels)
    measured = table.numbers()
    numbers: list[Column] = [Numeric(one) for one in ((measured - measured.min(axis=0)) / np.ptp(measured, axis=0)).T]
    whole = Table((*table.names, "class"), (*numbers, *table.columns[3:], labels), 300)
    grouped = Grouped(method.groups_, k, np.zeros(300, np.int64))
    drawn = [resynthesised(whole, grouped, generator(seed), normal, silent)[0] for seed in range(100)]
    for rows in members_of(method.groups_):
        old = whole.take(rows)
        means = np.mean([new.take(rows).numbers().mean(axis=0) for new in drawn], axis=0)
        spread = old.numbers().std(axis=0) + PUBLIC_DEVIATION
        assert (abs(means - old.numbers().mean(axis=0)) < 5 * spread / np.sqrt(100 * len(rows))).all()
        for at in whole.nominal:
            shares = np.mean([counts(new.take(rows), at) for new in drawn], axis=0) / len(rows)
            assert np.allclose(shares, counts(old, at) / len(rows), atol=2.5 / np.sqrt(100 * len(rows)))


def test_no_sum_of_a_group_is_the_originals() -> None:
    table = Table(("a", "b"), tuple(Numeric(np.arange(60.0) * way) for way in (1, -1)), 60)
    method = Condensation(k=5, random_state=0)
    released = method.fit_resample(table)[0].numbers()
    before, after = (
        np.array([numbers[groups == at].sum(axis=0) for at in range(12)])
        for numbers, groups in ((table.numbers(), method.groups_), (released, method.groups_[method.places_]))
    )
    assert (before != after).mean() > 0.8


def test_rows_do_not_lie_in_the_flat_through_their_group() -> None:
    """Three rows in five dimensions span a plane, and rows that are drawn from it alone lie in it."""
    rows = np.random.default_rng(0).uniform(0, 1, (3, 5))
    method = Condensation(k=3, domain={f"x{at}": (0, 1) for at in range(5)}, random_state=0)
    released, _ = method.fit_resample(rows)
    plane = np.linalg.svd(rows[1:] - rows[0])[2][2:]  # at right angles to it
    assert (np.abs((released - rows[0]) @ plane.T).max(axis=1) > 1e-3).all()


def test_numbers_keep_their_unit_and_the_public_bounds() -> None:
    random = np.random.default_rng(0)
    rows = np.column_stack([random.integers(0, 2, 200), random.integers(18, 90, 200), random.integers(0, 70, 200) / 10])
    domain = {"x0": (0, 1), "x1": (0, 120), "x2": (0, 7)}
    released, _ = Condensation(k=5, domain=domain, random_state=0).fit_resample(rows)
    assert set(released[:, 0]) == {0, 1}
    assert np.array_equal(released[:, 1], np.rint(released[:, 1]))
    assert all(len(f"{number}") == 3 for number in released[:, 2])  # as many digits as a table writes
    low, high = np.array(list(domain.values())).T
    assert ((low <= released) & (released <= high)).all()


def unique_patients_given_back(method: Condensing, flags: Floats, names: bool) -> int:
    """Rows that one patient alone has, and that are released."""
    columns: list[Column] = [nominal_from(column.astype(str), np.zeros(len(flags), bool)) for column in flags.T]
    cells: Any = Table(tuple(f"x{at}" for at in range(len(columns))), tuple(columns), len(flags)) if names else flags
    released, _ = method.fit_resample(cells, np.repeat(["well", "ill"], len(flags) // 2))
    rows = np.column_stack([column.cells() for column in released.columns]).astype(float) if names else released
    own, counts = np.unique(flags, axis=0, return_counts=True)
    unique = {tuple(row) for row in own[counts == 1]}
    return len(unique & {tuple(row) for row in rows.tolist()})


@pytest.mark.parametrize("names", [False, True], ids=["numbers", "names"])
def test_columns_of_a_small_group_do_not_change_together(names: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a group of like rows all columns in which one patient differs would change together, and give the patient."""
    flags = (np.random.default_rng(0).random((400, 20)) < np.linspace(0.02, 0.3, 20)).astype(float)
    method = ClassWiseCondensation(k=5, random_state=0)
    assert share_apart(5, 20) == share_apart(20, 20) == 1
    apart = unique_patients_given_back(method, flags, names)
    monkeypatch.setattr(resynthesis, "share_apart", lambda k, columns: 0.0)
    assert 3 * apart < 2 * unique_patients_given_back(method, flags, names)


def test_correlations_of_large_groups_are_kept() -> None:
    first = np.random.default_rng(0).normal(size=3000)
    rows = np.column_stack([first, first + 0.1 * np.random.default_rng(1).normal(size=3000)])
    released, _ = Condensation(k=3000, random_state=0).fit_resample(rows)
    assert share_apart(3000, 2) < 0.01
    assert np.corrcoef(released.T)[0, 1] > 0.97


def test_a_name_that_hardly_anybody_has_is_not_released() -> None:
    codes = np.array(["a"] * 50 + ["b"] * 47 + ["c"] * 2 + ["d"])
    rows = np.column_stack([codes, np.random.default_rng(0).choice(["x", "y"], 100)]).astype(object)
    method = Condensation(k=5, random_state=0)
    released, _ = method.fit_resample(rows)
    assert set(released[:, 0]) <= {"a", "b", None}
    assert (method.suppressed_cells_, method.guarantee_.holds) == (3, True)


def test_rows_are_shuffled_and_only_the_owner_knows_how() -> None:
    table = Table(("x",), (Numeric(np.arange(1000.0)),), 1000)
    method = Condensation(k=5, random_state=0)
    released = method.fit_resample(table)[0].numbers()[:, 0]
    assert abs(np.corrcoef(released, np.arange(1000))[0, 1]) < 0.15
    assert np.corrcoef(released, method.stood_for_)[0, 1] > 0.99
    assert sorted(method.places_) == list(range(1000))


def test_nominal_values_still_go_with_the_numbers() -> None:
    table = mixed_table(2000)
    released, _ = Condensation(k=200, random_state=0).fit_resample(table)

    def gap(of: Table) -> float:
        high = np.asarray(of.column("tied").cells() == "high")
        first = of.numbers()[:, 0]
        return float(first[high].mean() - first[~high].mean())

    assert gap(released) == pytest.approx(gap(table), rel=0.25)


def test_many_values_share_an_indicator_and_are_all_drawn() -> None:
    column = nominal_from(np.repeat(np.arange(100), 20), np.zeros(2000, bool))
    released, _ = Condensation(k=2000, random_state=0).fit_resample(Table(("zip",), (column,), 2000))
    assert counts(released, 0).min() > 3
    assert counts(released, 0).max() < 60


def test_constant_columns_stay_what_they_are() -> None:
    rows = np.column_stack([np.full(50, 0.1), np.random.default_rng(0).normal(size=50)])
    released, _ = Condensation(k=10, random_state=0).fit_resample(rows)
    assert (released[:, 0] == 0.1).all()


# Missing cells


def test_gaps_are_drawn_as_often_as_a_group_has_them() -> None:
    table = mixed_table(4000, gaps=0.2)
    method = Condensation(k=2000, random_state=0)
    released, _ = method.fit_resample(table)
    before, after = table.missing().mean(axis=0), released.missing().mean(axis=0)
    assert np.allclose(before, after, atol=0.04)
    assert not np.array_equal(table.missing().sum(axis=0), released.missing().sum(axis=0))
    old, new = table.numbers(), released.numbers()
    spread = np.nanstd(old, axis=0)
    assert np.allclose(np.nanmean(old, axis=0), np.nanmean(new, axis=0), atol=0.08 * spread.max())
    assert np.allclose(spread, np.nanstd(new, axis=0), rtol=0.1)


@pytest.mark.parametrize("exponent", [-1000, 1000])
@pytest.mark.parametrize("seeds", ["random", "kmeans"])
def test_huge_and_tiny_numbers_are_drawn_as_usual_ones_are(seeds: str, exponent: int) -> None:
    usual = np.random.default_rng(0).normal(size=(50, 3))
    usual[::3, 0] = np.nan
    method = Condensation(k=5, seeds=seeds, random_state=0)
    expected = method.fit_resample(usual)[0]
    released, _ = method.fit_resample(np.ldexp(usual, [exponent, exponent, 0]))
    assert method.guarantee_.holds
    back = np.ldexp(released, [-exponent, -exponent, 0])
    np.testing.assert_array_equal(np.isnan(back), np.isnan(expected))
    assert np.allclose(np.nanstd(back, axis=0), np.nanstd(expected, axis=0), rtol=0.2)


def test_numbers_that_few_rows_of_a_group_have_are_drawn_for_all_such_groups_together() -> None:
    random = np.random.default_rng(0)
    rare = np.where(random.random(300) < 0.2, random.normal(70, 5, 300), np.nan)
    table = Table(("n", "rare"), (Numeric(random.normal(size=300)), Numeric(rare)), 300)
    released, _ = (method := Condensation(k=20, random_state=0)).fit_resample(table)
    new = released.numbers()[:, 1]
    assert method.guarantee_.holds
    assert method.suppressed_cells_ == 0
    assert np.nanmean(new) == pytest.approx(np.nanmean(rare), abs=3)
    assert np.nanstd(new) == pytest.approx(np.nanstd(rare), rel=0.35)


def test_a_number_that_fewer_than_k_rows_have_is_not_released() -> None:
    random = np.random.default_rng(0)
    rare = np.full(300, np.nan)
    rare[:19] = 123.0
    table = Table(("n", "rare"), (Numeric(random.normal(size=300)), Numeric(rare)), 300)
    released, _ = (method := Condensation(k=20, random_state=0)).fit_resample(table)
    assert np.isnan(released.numbers()[:, 1]).all()
    assert method.suppressed_cells_ == 19


@pytest.mark.parametrize("missing", ["fill", "drop"])
def test_missing_cells_can_be_filled_or_their_rows_dropped(missing: str) -> None:
    table = mixed_table(400, gaps=0.1)
    method = Condensation(k=20, missing=missing, random_state=0)
    released, _ = method.fit_resample(table)
    assert not released.missing().any()
    complete = int((~table.missing().any(axis=1)).sum())
    assert released.rows == len(method.kept_rows_) == (400 if missing == "fill" else complete)


# The guarantee


def test_a_row_that_equals_an_original_is_left_alone() -> None:
    """Changing exactly the rows that match tells which match."""
    flags = np.random.default_rng(0).choice(["y", "n"], (60, 2))
    released, _ = (method := Condensation(k=20, random_state=0)).fit_resample(flags)
    assert {tuple(row) for row in released} == {tuple(row) for row in flags}
    assert (method.suppressed_cells_, method.guarantee_.holds) == (0, True)


def test_the_guarantee_names_the_smallest_group_and_promises_people_nothing() -> None:
    method = Condensation(k=20, random_state=0)
    method.fit_resample(mixed_table(399))
    promise = method.guarantee_
    assert (promise.measured, promise.holds, promise.people) == (20, True, None)
    assert "a group of at least 20 rows" in promise.claim
    assert "the bounds of first, second, whole tell nothing" in promise.not_promised
    agreed = Condensation(k=20, domain=dict.fromkeys(("first", "second", "whole"), (-1e3, 1e3)), random_state=0)
    assert "bounds" not in agreed.fit(mixed_table(399)).guarantee_.not_promised


def beyond_a_bound(method: Condensing, work: Work, released: Released) -> Released:
    numbers = released.table.numbers()
    numbers[7, 0] = 1e4
    return Released(released.table.with_numbers(numbers), released.labels)


def between_units(method: Condensing, work: Work, released: Released) -> Released:
    numbers = released.table.numbers()
    numbers[7, 2] += 0.5
    return Released(released.table.with_numbers(numbers), released.labels)


def value_of_another_group(method: Condensing, work: Work, released: Released) -> Released:
    column: Any = work.table.columns[4]
    drawn: Any = released.table.columns[4]
    groups, codes = method.groups_[method.places_], drawn.codes.copy()
    row, code = next(
        (at, code) for at in range(100) for code in range(3) if code not in column.codes[method.groups_ == groups[at]]
    )
    codes[row] = code
    return Released(released.table.with_columns({4: column.with_codes(codes)}), released.labels)


def class_of_another_group(method: Condensing, work: Work, released: Released) -> Released:
    groups, codes = method.groups_[method.places_], released.classes.codes.copy()
    pure = next(at for at in range(100) if len(set(work.classes.codes[method.groups_ == groups[at]])) == 1)
    codes[pure] = 1 - work.classes.codes[method.groups_ == groups[pure]][0]
    return Released(released.table, released.classes.with_codes(codes))


def row_of_another_group(method: Condensing, work: Work, released: Released) -> Released:
    groups = method.groups_[method.places_]
    method.places_ = np.where(np.arange(100) == (groups == 0).argmax(), (method.groups_ == 1).argmax(), method.places_)
    return released


def larger_size(method: Condensing, work: Work, released: Released) -> Released:
    method.group_size_ += 1  # that much is claimed
    return released


@pytest.mark.parametrize("kind", [Condensation, ClassWiseCondensation])
@pytest.mark.parametrize(
    "spoil",
    [beyond_a_bound, between_units, value_of_another_group, class_of_another_group, row_of_another_group, larger_size],
)
def test_a_spoilt_release_is_noticed(kind: Any, spoil: Any) -> None:
    class Tampered(kind):  # type: ignore[misc]  # mypy knows no base that is a value
        def _release(self, work: Work) -> Released:
            return spoil(self, work, super()._release(work))

    for method, holds in ((kind(k=5, random_state=0), True), (Tampered(k=5, random_state=0), False)):
        method.fit_resample(mixed_table(100), classes(60, 40))
        assert method.guarantee_.holds is holds


def test_more_than_all_rows_make_no_group() -> None:
    with pytest.raises(UnfitTable, match="No group of k = 101 rows can be made of 100 rows"):
        Condensation(k=101).fit_resample(np.zeros((100, 1)))


def test_the_same_seed_gives_the_same_release_and_another_one_another() -> None:
    table, labels = mixed_table(200, gaps=0.1), classes(150, 50)
    one, same, other = (Condensation(k=20, random_state=s).fit_resample(table, labels)[0].numbers() for s in (1, 1, 2))
    assert np.array_equal(one, same, equal_nan=True)
    assert not np.array_equal(one, other, equal_nan=True)


def test_progress_ends_at_its_total() -> None:
    told: list[tuple[str, int, int]] = []
    Condensation(k=10, random_state=0).fit_resample(
        mixed_table(100), progress=lambda what, done, total: told.append((what, done, total))
    )
    assert ("grouping rows", 100, 100) in told
    assert told[-1] == ("drawing the groups", 10, 10)
    silent(*told[0])


# Size


def peak(rows: int) -> int:
    table = mixed_table(rows)
    tracemalloc.start()
    Condensation(k=20, random_state=0).fit_resample(table)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def test_memory_grows_with_the_rows_and_not_with_their_square() -> None:
    peaks = [peak(rows) for rows in (2_000, 8_000, 32_000)]
    assert all(larger < 6 * smaller for smaller, larger in pairwise(peaks))


@pytest.mark.real_tables
def test_an_all_nominal_table_has_about_its_counts() -> None:
    table, labels = real_table("vote.csv")
    method = Condensation(k=20, random_state=0)
    released, _ = method.fit_resample(table, labels)
    assert method.guarantee_.holds
    assert method.suppressed_cells_ == 0
    for at in table.nominal:
        assert np.allclose(counts(table, at), counts(released, at), atol=5 * np.sqrt(table.rows) / 2)
