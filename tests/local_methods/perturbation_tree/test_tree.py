"""The perturbation tree: the paper's example, its promises, and what the paper leaves open."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from mixbayes.local_methods.arithmetic.scaling import Scaling, to_scale
from mixbayes.local_methods.errors import BadParameter, UnfitTable
from mixbayes.local_methods.grouping import Advance
from mixbayes.local_methods.measures.clustering import adjusted_rand
from mixbayes.local_methods.microaggregation.aggregation import Microaggregation
from mixbayes.local_methods.microaggregation.mdav import weighted_mdav
from mixbayes.local_methods.perturbation_tree import kd_partition
from mixbayes.local_methods.perturbation_tree.kd_partition import Split, partition
from mixbayes.local_methods.perturbation_tree.subdivision import lloyd, subdivide
from mixbayes.local_methods.perturbation_tree.tree import PerturbationTree

Points = NDArray[np.float64]

NINE = pd.DataFrame(
    {
        "Age": [25, 31, 32, 36, 43, 48, 50, 53, 56],
        "YearEdu": [16, 14, 18, 12, 16, 20, 13, 18, 14],
        "Income": [54, 55, 60, 49, 65, 70, 57, 73, 62],
    },
    dtype=float,
)
"""Roy, Table 4.1."""

SPLITS = pytest.mark.parametrize("split", ["midrange", "median"])
WITHIN = pytest.mark.parametrize("within", ["mean", "mdav", "univariate"])
SCALINGS: tuple[Scaling, ...] = ("min-max", "z-score")
TABLES = arrays(np.float64, st.tuples(st.integers(2, 60), st.integers(1, 3)), elements=st.integers(-4, 4).map(float))


def chance(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def ignore(rows: int) -> None:
    """Progress that nobody follows."""


def recursively(points: Points, largest: int, least: int, split: Split) -> set[frozenset[int]]:
    """The leaves by the definition, for values of which none lies on a cut."""
    weights = np.ptp(points, axis=0) ** -2.0

    def leaves(rows: NDArray[np.intp]) -> list[frozenset[int]]:
        node = points[rows]
        if len(rows) <= largest:
            return [frozenset(rows.tolist())]
        values = node[:, (node.var(axis=0) * weights).argmax()]
        middle = np.median(values) if split == "median" else (values.min() + values.max()) / 2
        size = min(max(int((values < middle).sum()), least), len(rows) - least)
        order = rows[values.argsort()]
        return leaves(np.sort(order[:size])) + leaves(np.sort(order[size:]))

    return set(leaves(np.arange(len(points))))


def as_sets(leaf: NDArray[np.intp]) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(leaf == number).tolist()) for number in range(leaf.max() + 1)}


def test_table_4_1() -> None:
    tree = PerturbationTree(leaf_size=3, confidential=["Income"], random_state=0)
    released, _ = tree.fit_resample(NINE)
    assert as_sets(tree.groups_) == {frozenset(leaf) for leaf in [(0, 2), (1, 3), (4, 6, 8), (5, 7)]}
    assert released["Income"].round(1).tolist() == [57.0, 52.0, 57.0, 52.0, 61.3, 71.5, 61.3, 71.5, 61.3]
    assert released[["Age", "YearEdu"]].equals(NINE[["Age", "YearEdu"]])


def test_table_4_1_rebuilt_from_the_release_has_the_same_leaves() -> None:
    tree = PerturbationTree(leaf_size=3, confidential=["Income"], random_state=0)
    released, _ = tree.fit_resample(NINE)
    leaves = tree.groups_
    again, _ = tree.fit_resample(released)
    assert adjusted_rand(leaves, tree.groups_) == 1
    assert again.equals(released)


def test_rebuilt_from_the_release_is_nearly_the_same_tree() -> None:
    tree = PerturbationTree(leaf_size=8, confidential=["x3"], random_state=0)
    released, _ = tree.fit_resample(chance().random((2000, 4)))
    leaves = tree.groups_
    tree.fit_resample(released)
    assert adjusted_rand(leaves, tree.groups_) > 0.9


@SPLITS
@pytest.mark.parametrize(("largest", "least"), [(1, 1), (3, 1), (5, 2), (20, 7)])
def test_leaves_are_those_of_the_definition(split: Split, largest: int, least: int) -> None:
    points = chance(largest).lognormal(sigma=2, size=(512, 3))
    assert as_sets(partition(points, largest, least, split, chance())) == recursively(points, largest, least, split)


def test_levels_taken_apart_for_the_cache_give_the_same_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    points = chance().normal(size=(2000, 3))
    whole = as_sets(partition(points, 5, 2, "midrange", chance()))
    monkeypatch.setattr(kd_partition, "CACHED_ROWS", 50)
    assert as_sets(partition(points, 5, 2, "midrange", chance())) == whole


@pytest.mark.parametrize("split", ["midrange", "median"])
def test_values_on_the_cut_go_to_one_side_together_by_lot(split: Split) -> None:
    points = np.array([[0.0], [0.1], [0.5], [0.5], [0.5], [0.9], [1.0]])
    seen = {frozenset(as_sets(partition(points, 5, 2, split, chance(seed)))) for seed in range(20)}
    left, right = frozenset({0, 1}), frozenset({5, 6})
    middle = frozenset({2, 3, 4})
    assert seen == {frozenset({left | middle, right}), frozenset({left, middle | right})}


@given(st.integers(-1000, 1000), st.integers(1, 1000))
def test_scaling_moves_no_value_off_the_cut(low: int, half: int) -> None:
    points = low + half * np.array([[0.0], [0.0], [1.0], [1.0], [2.0], [2.0]])
    assert {partition(points, 4, 2, "midrange", chance(seed)).tolist()[2] for seed in range(20)} == {0, 1}


def test_a_cut_that_would_leave_one_record_moves_to_the_nearest_place() -> None:
    points = np.array([[1.0], [2.0], [3.0], [4.0], [100.0]])
    whole, part = frozenset({0, 1, 2}), frozenset({3, 4})
    assert as_sets(partition(points, 3, 2, "midrange", chance())) == {whole, part}
    assert as_sets(partition(-points, 3, 2, "midrange", chance())) == {whole, part}
    assert as_sets(partition(points, 4, 1, "midrange", chance())) == {whole | {3}, frozenset({4})}


def test_a_column_without_a_place_to_cut_gives_way_to_the_next() -> None:
    points = np.column_stack([[1, 0, 0, 0, 0], [0.0, 1, 2.4, 3, 4]])
    assert (points.var(axis=0) / np.ptp(points, axis=0) ** 2).argmax() == 0
    assert partition(points, 4, 2, "midrange", chance()).tolist() == [0, 0, 1, 1, 1]


@given(TABLES, st.integers(2, 9), st.integers(2, 4), st.integers(0, 40), st.booleans())
def test_leaves_are_neither_too_large_nor_too_small(
    points: Points, largest: int, least: int, block: int, median: bool
) -> None:
    largest, least = max(largest, least), min(least, len(points))
    leaf = partition(points, max(largest, block), least, "median" if median else "midrange", chance())
    groups = subdivide(points, leaf, largest, least, chance(), ignore)
    sizes = np.bincount(groups)
    assert sizes.min() >= least
    for group in np.flatnonzero(sizes > max(largest, 2 * least - 1)):
        assert len(np.unique(points[groups == group], axis=0)) == 1


@WITHIN
@settings(max_examples=60)
@given(TABLES, st.integers(0, 3), st.sampled_from(["midrange", "median"]), st.sampled_from(SCALINGS))
def test_means_stay_and_variances_do_not_grow(
    within: str, table: Points, seed: int, split: str, scaling: Scaling
) -> None:
    tree = PerturbationTree(leaf_size=6, split=split, block_size=10, within=within, scaling=scaling, random_state=seed)
    released, _ = tree.fit_resample(table)
    np.testing.assert_allclose(released.mean(axis=0), table.mean(axis=0), rtol=1e-9, atol=1e-9)
    assert (released.var(axis=0) <= table.var(axis=0) + 1e-9).all()
    together = [released] if within != "univariate" else released.T[:, :, None]
    for values in together:
        assert np.unique(values, axis=0, return_counts=True)[1].min() >= 2
    assert tree.guarantee_.holds


@WITHIN
def test_groups_within_leaves_are_of_the_smallest_size(within: str) -> None:
    table = chance().normal(size=(400, 3))
    tree = PerturbationTree(leaf_size=40, min_group=4, within=within, random_state=0)
    tree.fit_resample(table)
    leaves = partition(table, 40, 4, "midrange", chance())
    groups = tree.groups_ if within == "univariate" else np.repeat(tree.groups_[:, None], 3, axis=1)
    for column in groups.T:
        sizes = np.bincount(column)[np.unique(column)]
        assert sizes.min() >= 4
        assert sizes.max() <= (40 if within == "mean" else 7)
        assert all(len(np.unique(leaves[column == group])) == 1 for group in np.unique(column))
    assert tree.groups_formed_ == len(np.unique(groups))


@pytest.mark.parametrize("columns", [["x0"], ["x0", "x2"]])
@pytest.mark.parametrize("variant", ["mdav", "univariate"])
def test_one_leaf_is_microaggregated_like_a_table(variant: str, columns: list[str]) -> None:
    """On z-scores, as in sdcMicro."""
    table = chance(3).normal(size=(100, 3)) * [1, 50, 0.1]
    tree = PerturbationTree(leaf_size=100, min_group=3, confidential=columns, within=variant, scaling="z-score")
    whole = Microaggregation(k=3, confidential=columns, variant=variant)
    np.testing.assert_array_equal(tree.fit_resample(table)[0], whole.fit_resample(table)[0])
    assert tree.groups_formed_ == whole.groups_formed_


def test_distances_inside_the_leaves_are_of_scaled_columns() -> None:
    table = with_an_outlier(60, 10)
    groups = {}
    for scaling in SCALINGS:
        tree = PerturbationTree(leaf_size=60, min_group=3, within="mdav", scaling=scaling)
        tree.fit_resample(table)
        expected = weighted_mdav(to_scale(table, scaling), np.ones(3), 3, ignore)
        np.testing.assert_array_equal(tree.groups_, expected)
        groups[scaling] = tree.groups_
    assert adjusted_rand(groups["min-max"], groups["z-score"]) < 1


def test_k_means_in_blocks_is_on_scaled_columns() -> None:
    table = with_an_outlier(60, 4)
    block = np.zeros(60, np.intp)
    by_range, by_deviation = (_widest(table, subdivide(table, block, 6, 2, chance(), ignore, one)) for one in SCALINGS)
    assert by_deviation < 0.8 * by_range


def _widest(table: Points, groups: NDArray[np.intp]) -> float:
    """The mean range of the last column in groups without the outlier."""
    return float(np.mean([np.ptp(table[groups == at, 2]) for at in range(groups.max() + 1) if groups[0] != at]))


@pytest.mark.parametrize("scaling", SCALINGS)
def test_blocks_and_the_leaves_in_them_are_of_the_same_scaling(scaling: Scaling) -> None:
    table, random = with_an_outlier(120, 4), chance()
    block = partition(table, 60, 2, "midrange", random, scaling)
    expected = subdivide(table, block, 6, 2, random, ignore, scaling)
    tree = PerturbationTree(leaf_size=6, block_size=60, scaling=scaling, random_state=0)
    tree.fit_resample(table)
    np.testing.assert_array_equal(tree.groups_, expected)


def test_columns_that_are_grouped_apart_promise_nothing_about_people() -> None:
    table = chance().normal(size=(60, 2))
    several = PerturbationTree(leaf_size=20, within="univariate", random_state=0)
    single = PerturbationTree(leaf_size=20, confidential=["x1"], within="univariate", random_state=0)
    for tree in (several, single):
        tree.fit_resample(table)
        assert tree.guarantee_.holds
        assert tree.guarantee_.measured == 2
    assert several.guarantee_.people is None
    assert single.guarantee_.people == "2-anonymity of x1"
    assert several.groups_.shape == (60, 2)


def test_the_variance_of_what_is_left_may_grow_where_a_cell_is_suppressed() -> None:
    table = np.array([[0, 1], [0, 1], [10, 2], [10, 2], [5, np.nan]])
    released, _ = PerturbationTree(leaf_size=2, random_state=0).fit_resample(table)
    np.testing.assert_array_equal(released[:, 0], [0, 0, 10, 10, np.nan])
    assert np.var(table[:, 0]) == 20
    assert np.nanvar(released[:, 0]) == 25


@WITHIN
def test_gaps_within_leaves(within: str) -> None:
    table = chance().normal(size=(60, 3))
    table[[3, 8, 9, 30], 0] = np.nan
    table[[5], 1] = np.nan
    tree = PerturbationTree(leaf_size=20, confidential=["x0", "x1"], within=within, random_state=0)
    released, _ = tree.fit_resample(table)
    lost = np.isnan(released[:, :2]) & ~np.isnan(table[:, :2])
    assert np.argwhere(lost).tolist() == [[5, 0]]  # nobody else lacks the same cells
    assert tree.suppressed_cells_ == 1
    np.testing.assert_array_equal(tree.groups_.reshape(60, -1)[5], -1)
    assert np.isnan(released[[3, 8, 9, 30], 0]).all()
    assert np.nanmean(released[:, 1]) == pytest.approx(np.nanmean(table[:, 1]))
    assert tree.guarantee_.holds


@WITHIN
def test_nothing_left_within_leaves(within: str) -> None:
    table = np.array([[1.0, 1], [np.nan, 2], [np.nan, 3]])
    tree = PerturbationTree(leaf_size=4, confidential=["x0"], within=within)
    released, _ = tree.fit_resample(table)
    assert np.isnan(released[:, 0]).all()
    assert tree.groups_formed_ == 0
    assert tree.guarantee_.holds


def with_an_outlier(rows: int, far: float) -> Points:
    table = chance().random((rows, 3))
    table[0, 2] = far
    return table


def test_min_max_hardly_cuts_a_column_with_an_outlier_and_z_scores_do() -> None:
    """Only where few rows are left beside the outlier is its column the widest by range."""
    table = with_an_outlier(300, 10)
    expected: dict[Scaling, tuple[float, float]] = {"min-max": (0.95, 1.0), "z-score": (0.0, 0.6)}
    for scaling, (low, high) in expected.items():
        leaves, without = (partition(one, 8, 2, "midrange", chance(), scaling) for one in (table, table * [1, 1, 0]))
        assert low <= adjusted_rand(leaves, without) <= high


def test_of_equal_variances_in_the_root_the_first_column_is_cut() -> None:
    """Roundings would decide, so that another unit would give another tree."""
    points = chance(5).normal(size=(101, 4))
    for at in range(4):
        turned = np.roll(points, at, axis=1) * [3, 7, 0.1, 1e9]
        leaf = partition(turned, 80, 2, "midrange", chance(), "z-score")
        above = turned[:, 0] > (turned[:, 0].min() + turned[:, 0].max()) / 2
        assert as_sets(leaf) == as_sets(above.astype(np.intp))


@pytest.mark.parametrize("scaling", SCALINGS)
def test_leaves_are_those_of_other_units(scaling: Scaling) -> None:
    points = chance(6).normal(size=(300, 3))
    one, other = (partition(table, 7, 2, "midrange", chance(), scaling) for table in (points, points * [3, 7, 1e9]))
    np.testing.assert_array_equal(one, other)


def test_k_means_finds_the_clusters_of_a_block() -> None:
    centres = np.array([[0, 0], [9, 0], [0, 9]])
    points = np.repeat(centres, [3, 5, 4], axis=0) + chance().normal(scale=0.01, size=(12, 2))
    groups = subdivide(points, np.zeros(12, np.intp), 5, 2, chance(), ignore)
    assert as_sets(groups) == {frozenset(range(3)), frozenset(range(3, 8)), frozenset(range(8, 12))}


def test_k_means_comes_to_rest() -> None:
    points = chance().random((300, 2))
    groups, centres = lloyd(points, 7, chance())
    for at, centre in enumerate(centres):
        np.testing.assert_allclose(points[groups == at].mean(axis=0), centre)
    np.testing.assert_array_equal(groups, ((points[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1))


def test_k_means_leaves_nobody_alone() -> None:
    """In the paper's Table 5.2 single records come out as they were."""
    points = np.append(np.zeros((9, 1)), [[50.0]], axis=0) + np.linspace(0, 1, 10)[:, None]
    groups = subdivide(points, np.zeros(10, np.intp), 5, 2, chance(), ignore)
    assert 2 <= np.bincount(groups).min() <= np.bincount(groups).max() <= 5


def test_blocks_are_divided_within_themselves() -> None:
    table = chance().random((300, 3))
    tree = PerturbationTree(leaf_size=5, block_size=60, random_state=0)
    tree.fit_resample(table)
    blocks = partition(table, 60, 2, "midrange", chance())
    for group in range(tree.groups_formed_):
        assert len(np.unique(blocks[tree.groups_ == group])) == 1
    assert np.bincount(tree.groups_).max() <= 5


def test_the_same_seed_gives_the_same_release() -> None:
    table = chance().integers(0, 5, (200, 3)).astype(float)
    releases = [PerturbationTree(leaf_size=6, random_state=seed).fit_resample(table)[0] for seed in (1, 1, 2)]
    np.testing.assert_array_equal(releases[0], releases[1])
    assert (releases[0] != releases[2]).any()


def test_missing_cells_stay_missing() -> None:
    table = pd.DataFrame(chance().normal(size=(60, 3)), columns=["a", "b", "c"])
    table.loc[[3, 8, 9, 30], "a"] = np.nan
    table.loc[[1, 2, 3], "c"] = np.nan
    tree = PerturbationTree(leaf_size=5, confidential=["a"], random_state=0)
    released, _ = tree.fit_resample(table)
    assert released["a"].isna().equals(table["a"].isna())
    assert released["a"].mean() == pytest.approx(table["a"].mean())
    assert released[["b", "c"]].equals(table[["b", "c"]])
    assert tree.guarantee_.measured == 2


def test_confidential_cells_that_too_few_rows_have_are_suppressed() -> None:
    table = pd.DataFrame(chance().normal(size=(60, 2)), columns=["a", "b"])
    table.loc[[3], "a"] = np.nan
    tree = PerturbationTree(leaf_size=5, random_state=0)
    released, _ = tree.fit_resample(table)
    assert released.loc[3].isna().all()
    assert tree.suppressed_cells_ == 1
    assert tree.groups_[3] == -1
    assert tree.guarantee_.holds


def test_a_missing_cell_of_another_column_counts_as_the_mean() -> None:
    gaps, table = (pd.DataFrame(chance().normal(size=(60, 2)), columns=["a", "b"]) for _ in range(2))
    gaps.loc[[1, 2, 3, 40], "b"] = np.nan
    table["b"] = gaps["b"].fillna(gaps["b"].mean())
    tree = PerturbationTree(leaf_size=4, confidential=["a"], random_state=0)
    tree.fit_resample(gaps)
    leaves = tree.groups_
    tree.fit_resample(table)
    np.testing.assert_array_equal(leaves, tree.groups_)


def test_confidential_columns_are_found_behind_nominal_ones() -> None:
    table = pd.concat([NINE, pd.DataFrame({"Age": [40.0], "YearEdu": [15.0]})], ignore_index=True)
    tree = PerturbationTree(leaf_size=3, confidential=["Income"], random_state=0)
    released, _ = tree.fit_resample(table.assign(word="a")[["word", "Income", "Age", "YearEdu"]])
    assert released["Income"].round(1).tolist()[:9] == [57.0, 52.0, 57.0, 52.0, 61.3, 71.5, 61.3, 71.5, 61.3]


def test_nominal_columns_and_classes_are_released_as_they_are() -> None:
    words = np.resize(["a", "b", "c"], 9)
    released, labels = PerturbationTree(leaf_size=3, random_state=0).fit_resample(NINE.assign(word=words), words)
    assert released["word"].tolist() == labels.tolist() == words.tolist()


def test_constant_and_empty_columns() -> None:
    table = NINE.assign(constant=0.1, empty=np.nan)
    tree = PerturbationTree(leaf_size=3, confidential=["Income", "constant"], random_state=0)
    released, _ = tree.fit_resample(table)
    assert released["Income"].round(1).tolist() == [57.0, 52.0, 57.0, 52.0, 61.3, 71.5, 61.3, 71.5, 61.3]
    assert (released["constant"] == 0.1).all()
    assert released["empty"].isna().all()


def test_equal_rows_stay_together() -> None:
    tree = PerturbationTree(leaf_size=3, random_state=0)
    released, _ = tree.fit_resample(np.full((50, 2), 0.1))
    assert (released == 0.1).all()
    assert tree.groups_formed_ == 1


def test_a_promise_that_was_broken_is_told() -> None:
    class Careless(PerturbationTree):
        def _leaves(self, points: Points, random: np.random.Generator, done: Advance) -> NDArray[np.intp]:
            return np.arange(len(points)) // 2

    tree = Careless(leaf_size=6, min_group=3)
    tree.fit_resample(np.arange(6.0)[:, None])
    assert not tree.guarantee_.holds
    assert tree.guarantee_.measured == 2


def test_one_row_is_refused() -> None:
    with pytest.raises(UnfitTable, match="2 rows at least, but n_samples = 1"):
        PerturbationTree(leaf_size=3).fit_resample(NINE[:1])


def test_rows_for_one_group_are_one_group() -> None:
    tree = PerturbationTree(leaf_size=3)
    released, _ = tree.fit_resample(NINE[:2])
    assert released["Income"].tolist() == [54.5, 54.5]


@pytest.mark.parametrize(
    "settings",
    [
        {"leaf_size": 1},
        {"leaf_size": 3, "min_group": 4},
        {"leaf_size": 3, "block_size": 2},
        {"leaf_size": 3, "within": "uma"},
        {"leaf_size": 3, "scaling": "none"},
    ],
)
def test_sizes_that_contradict_each_other_and_unknown_words_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(BadParameter):
        PerturbationTree(**settings).fit_resample(NINE)


@WITHIN
def test_tells_how_far_it_is(within: str) -> None:
    seen: list[tuple[int, int]] = []
    tree = PerturbationTree(leaf_size=3, block_size=50, within=within, random_state=0)
    tree.fit_resample(chance().random((200, 2)), progress=lambda _, done, total: seen.append((done, total)))
    assert seen[-1] == ((400, 400) if within == "mdav" else (200, 200))
    assert len(seen) > 3


@pytest.mark.real_tables
def test_wages_keep_their_mean() -> None:
    table = pd.read_csv(Path(os.environ["MIXBAYES_DATA"], "wages_cps85.csv"))
    tree = PerturbationTree(leaf_size=8, confidential=["wage"], random_state=0)
    released, _ = tree.fit_resample(table)
    assert released["wage"].value_counts().min() >= 2
    assert released["wage"].mean() == pytest.approx(table["wage"].mean())
    assert released["wage"].var() <= table["wage"].var()
