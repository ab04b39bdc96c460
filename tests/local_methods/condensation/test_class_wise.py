"""Class-wise condensation: its group size, how it jumps, and groups of one class each."""

from __future__ import annotations

from math import gcd
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.local_methods import ClassWiseCondensation, UnfitTable
from mixbayes.local_methods.condensation.group_size import Sensitivity, approximate_gcd, sensitivity, steady_threshold
from mixbayes.local_methods.tables import Floats
from tests.local_methods.mixed import classes, mixed_table, real_table


def close(before: Floats, after: Floats) -> bool:
    """Whether means and deviations agree like those of rows that were drawn anew."""
    spread = before.std(axis=0)
    moved = np.abs(before.mean(axis=0) - after.mean(axis=0))
    return bool((moved < (5 / np.sqrt(len(before)) + 0.05) * spread).all() and (after.std(axis=0) < 1.3 * spread).all())


@pytest.mark.parametrize(("sizes", "t", "expected"), [((15, 10), 5, 5), ((1001, 501), 20, 500)])
def test_the_two_examples_of_the_paper(sizes: tuple[int, ...], t: int, expected: int) -> None:
    method = ClassWiseCondensation(t=t, random_state=0)
    method.fit_resample(mixed_table(sum(sizes)), classes(*sizes))
    assert method.group_size_ == expected
    assert method.guarantee_.holds
    assert method.guarantee_.measured == expected


@given(sizes=st.lists(st.integers(3, 500), min_size=1, max_size=5), t=st.integers(3, 60))
def test_theorem_1_every_class_is_cut_into_groups_of_at_least_the_size(sizes: list[int], t: int) -> None:
    t = min(t, *sizes) if len(sizes) > 1 else min(t, sizes[0])
    size = approximate_gcd(sizes, t)
    assert size >= t
    assert size % t == 0
    assert all((of_class // t) % (size // t) == 0 for of_class in sizes)
    assert size // t == gcd(*(of_class // t for of_class in sizes))


@pytest.mark.parametrize(
    ("sizes", "t", "expected"),
    [
        ((15, 10), 5, Sensitivity(5, 10)),  # 14 and 10 are two units each
        ((6720, 20160), 1120, Sensitivity(1120, 6720)),  # a record less leaves five units of six
        ((6757, 20389), 1120, Sensitivity(6720, 6720)),
        ((5, 10), 5, Sensitivity(5, 5)),  # with a class of four it would be 10, but four are refused
    ],
)
def test_one_record_more_or_less_can_change_the_group_size_by_a_factor(
    sizes: tuple[int, ...], t: int, expected: Sensitivity
) -> None:
    assert sensitivity(sizes, t) == expected


@given(sizes=st.lists(st.integers(20, 300), min_size=2, max_size=4), t=st.integers(3, 20))
def test_at_a_steady_threshold_no_record_matters(sizes: list[int], t: int) -> None:
    steady = steady_threshold(sizes, t)
    if steady is None:
        return
    for at in range(len(sizes)):
        for change in (-1, 1):
            changed = [size + change * (at == here) for here, size in enumerate(sizes)]
            if min(changed) >= steady:
                assert approximate_gcd(changed, steady) == approximate_gcd(sizes, steady)


@pytest.mark.parametrize(("sizes", "t", "steady"), [((6757, 20389), 1120, 1120), ((15, 10), 5, 6), ((5, 5), 5, None)])
def test_the_search_for_a_steady_threshold_begins_at_t_itself(
    sizes: tuple[int, ...], t: int, steady: int | None
) -> None:
    assert steady_threshold(sizes, t) == steady


def test_the_estimator_reports_both() -> None:
    method = ClassWiseCondensation(t=5, random_state=0)
    method.fit_resample(mixed_table(25), classes(15, 10))
    assert method.group_size_range_ == (5, 10)
    assert method.steady_t_ == 6
    assert method.steady_group_size_ == 6
    assert set(method.learned()) >= {"group_size", "group_size_range", "steady_t"}


def test_no_group_mixes_classes_and_every_row_keeps_its_class() -> None:
    table, labels = mixed_table(301), classes(151, 99, 51)
    shuffled = np.random.default_rng(0).permutation(301)
    labels = labels.take(shuffled)
    method = ClassWiseCondensation(t=10, random_state=0)
    released, new_labels = method.fit_resample(table, labels)
    assert np.array_equal(labels.codes[method.places_], new_labels.codes)
    assert all(len(set(labels.codes[method.groups_ == group])) == 1 for group in range(method.groups_formed_))
    assert close(table.numbers(), released.numbers())


def test_a_given_group_size_is_used() -> None:
    method = ClassWiseCondensation(t=3, k=17, random_state=0)
    method.fit_resample(mixed_table(200), classes(120, 80))
    assert method.group_size_ == 17
    assert np.bincount(method.groups_).min() >= 17
    assert method.groups_formed_ == 120 // 17 + 80 // 17
    assert method.steady_t_ is None


def test_one_class_is_one_group_of_whole_units() -> None:
    method = ClassWiseCondensation(t=20, random_state=0)
    method.fit_resample(mixed_table(50), classes(50))
    assert (method.group_size_, method.groups_formed_) == (40, 1)


@pytest.mark.parametrize(
    ("method", "said"), [(ClassWiseCondensation(t=20), "t = 20"), (ClassWiseCondensation(k=20), "k = 20")]
)
def test_a_class_too_small_for_a_group_is_named(method: ClassWiseCondensation, said: str) -> None:
    with pytest.raises(UnfitTable, match=f"Every class needs at least {said} rows; 'B' has 19"):
        method.fit_resample(mixed_table(60), classes(41, 19))


def test_of_many_small_classes_some_are_named() -> None:
    with pytest.raises(UnfitTable, match=r" and 10 more have fewer\. Lower t") as refused:
        ClassWiseCondensation(t=20).fit_resample(np.zeros((90, 1)), np.repeat(np.arange(30), 3).astype(str))
    assert str(refused.value).count(" has ") == 20


def test_values_of_the_class_that_no_row_has_are_no_class() -> None:
    labels = classes(30, 20, 40).take(np.arange(50))
    method = ClassWiseCondensation(t=10, random_state=0)
    method.fit_resample(mixed_table(50), labels)
    assert method.group_size_ == 10


def test_gaps_are_pooled_within_a_class() -> None:
    random = np.random.default_rng(0)
    values = np.where(np.arange(200) < 100, 0.0, 1000.0) + random.normal(size=200)
    rows = np.column_stack([random.normal(size=200), np.where(random.random(200) < 0.3, values, np.nan)])
    labels = np.repeat(["x", "y"], 100)
    released, new = ClassWiseCondensation(k=20, random_state=0).fit_resample(rows, labels)
    for name in ("x", "y"):
        before, after = rows[labels == name, 1], released[new == name, 1]
        assert np.isnan(before).mean() == pytest.approx(np.isnan(after).mean(), abs=0.2)
        assert np.nanmean(after) == pytest.approx(np.nanmean(before), abs=40)


@pytest.mark.real_tables
@pytest.mark.parametrize(
    ("name", "t", "missing", "size"),
    [
        ("adult.csv", 1120, "drop", 2240),
        ("adult.csv", 1120, "keep", 1120),
        ("pima.csv", 30, "keep", 240),
        ("heart4/va.csv", 20, "keep", 20),
    ],
)
def test_real_tables_keep_their_guarantee(name: str, t: int, missing: str, size: int) -> None:
    table, labels = real_table(name)
    method = ClassWiseCondensation(t=t, missing=missing, random_state=0)
    released, new_labels = method.fit_resample(table, labels)
    assert (method.group_size_, method.guarantee_.holds) == (size, True)
    labels = labels.take(method.kept_rows_)
    assert np.array_equal(labels.counts(), new_labels.counts())
    old: Any = table.take(method.kept_rows_).numbers()
    full = ~np.isnan(old).any(axis=0)
    for code in np.unique(labels.codes):
        one, other = old[labels.codes == code], released.numbers()[new_labels.codes == code]
        assert close(one[:, full], other[:, full])
