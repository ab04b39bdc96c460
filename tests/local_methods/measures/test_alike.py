"""k, l and t of groups, beside a count in plain Python."""

from __future__ import annotations

from collections import Counter
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from mixbayes.local_methods.measures.alike import Alike, combinations
from mixbayes.local_methods.measures.closeness import ordered_distances
from mixbayes.local_methods.measures.sensitive import Sensitive
from mixbayes.local_methods.tables import MISSING, Column, Nominal, Numeric

people = st.lists(st.tuples(st.integers(-1, 4), st.integers(MISSING, 4)), min_size=1, max_size=25)


def nominal(values: list[int]) -> Nominal:
    return Nominal(np.array(values, np.int64), np.array(list("abcde")))


def numeric(values: list[int]) -> Numeric:
    """Numbers with gaps of every width between them, so that order and distance differ."""
    steps = np.array([-7.0, 0.0, 0.5, 100.0, 1e6, np.nan])
    return Numeric(steps[values])


def found(rows: list[tuple[int, int]], column: Column) -> Alike:
    return Alike.of(np.array([group for group, _ in rows], np.intp), column)


def by_group(rows: list[tuple[int, int]]) -> list[list[int]]:
    """The sensitive values of each group, without those that are missing; groups without any are left out."""
    groups = sorted({group for group, _ in rows if group >= 0})
    values = [[value for mine, value in rows if mine == group and value != MISSING] for group in groups]
    return [each for each in values if each]


def entropy(values: list[int]) -> float:
    shares = [count / len(values) for count in Counter(values).values()]
    return -sum(share * log(share) for share in shares)


def variation(some: list[int], every: list[int]) -> float:
    one, other = Counter(some), Counter(every)
    return sum(abs(one[value] / len(some) - other[value] / len(every)) for value in set(every)) / 2


@given(people)
def test_l_and_t_of_names_are_those_of_a_count(rows: list[tuple[int, int]]) -> None:
    alike, groups = found(rows, nominal([value for _, value in rows])), by_group(rows)
    sizes = Counter(group for group, _ in rows if group >= 0)
    assert alike.k == (min(sizes.values()) if sizes else None)
    if not groups:
        assert (alike.distinct_l, alike.entropy_l, alike.t) == (None, None, None)
        return
    every = [value for _, value in rows if value != MISSING]
    assert alike.distinct_l == min(len(set(values)) for values in groups)
    assert alike.entropy_l == pytest.approx(exp(min(map(entropy, groups))))
    assert alike.t == pytest.approx(max(variation(values, every) for values in groups))


@given(people)
def test_t_of_numbers_is_the_earth_movers_distance_of_their_order(rows: list[tuple[int, int]]) -> None:
    alike, groups = found(rows, numeric([value for _, value in rows])), by_group(rows)
    if not groups:
        assert alike.t is None
        return
    every = [value for _, value in rows if value != MISSING]
    place = {value: at for at, value in enumerate(sorted(set(every)))}
    steps = max(len(place) - 1, 1)
    distances = [
        wasserstein_distance([place[value] for value in values], [place[value] for value in every]) / steps
        for values in groups
    ]
    assert alike.t == pytest.approx(max(distances), abs=1e-12)
    assert alike.distinct_l == min(len(set(values)) for values in groups)


def test_the_example_of_t_closeness() -> None:
    """Li, Li and Venkatasubramanian: of salaries from 3k to 11k, {3k, 4k, 5k} and {6k, 8k, 11k}."""
    groups = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    salaries = Numeric(np.array([3.0, 4, 5, 6, 8, 11, 7, 9, 10]))
    lowest, spread, _ = ordered_distances(Sensitive.of(groups, salaries))
    assert lowest == pytest.approx(0.375)
    assert spread == pytest.approx(0.167, abs=5e-4)


def test_rows_that_are_all_different_hide_nothing() -> None:
    rows = np.arange(1000)
    alike = Alike.of(rows, Nominal(rows % 4, np.array(list("abcd"))))
    assert alike == Alike(1, 1, 1.0, 0.75)


def test_a_group_like_the_table_tells_nothing() -> None:
    groups = np.repeat([0, 1, 2], 4)
    alike = Alike.of(groups, nominal([0, 1, 2, 2] * 3))
    assert alike.k == 4
    assert alike.distinct_l == 3
    assert alike.entropy_l == pytest.approx(2**1.5)
    assert alike.t == pytest.approx(0)


def test_one_number_alone_is_everybodys() -> None:
    assert Alike.of(np.array([0, 1]), Numeric(np.array([5.0, 5.0]))) == Alike(1, 1, 1.0, 0.0)


def test_without_a_sensitive_column_there_is_k_alone() -> None:
    assert Alike.of(np.array([0, 0, 1, 1, 1]), None) == Alike(2, None, None, None)


def test_the_worst_of_several_counts() -> None:
    parts = [Alike(5, 2, 1.5, 0.25), Alike(3, None, None, None), Alike(4, 3, 2.5, 0.5)]
    assert Alike.worst(parts) == Alike(3, 2, 1.5, 0.5)
    assert Alike.worst([]) == Alike(None, None, None, None)


def test_combinations_take_a_missing_cell_for_equal_to_a_missing_one() -> None:
    columns = [Numeric(np.array([1.0, np.nan, np.nan, 1.0])), nominal([0, MISSING, MISSING, 1])]
    first, second, third, fourth = combinations(columns, 4).tolist()
    assert second == third
    assert len({first, second, fourth}) == 3
    assert combinations([], 3).tolist() == [0, 0, 0]
    assert combinations(columns, 0).tolist() == []


def test_many_groups_of_many_numbers_need_no_matrix() -> None:
    random = np.random.default_rng(0)
    numbers, groups = random.normal(size=60_000), random.integers(0, 20_000, 60_000)
    place = numbers.argsort().argsort()
    _, groups = np.unique(groups, return_inverse=True)
    distances = ordered_distances(Sensitive.of(groups, Numeric(numbers)))
    for group in (0, 7, int(distances.argmax())):
        expected = wasserstein_distance(place[groups == group], place) / 59_999
        assert distances[group] == pytest.approx(expected)
