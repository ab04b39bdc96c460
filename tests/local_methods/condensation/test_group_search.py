"""The search for a group size: by rule, exhaustively, and what is best of what was tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from mixbayes.local_methods import BadParameter, ClassWiseCondensation, GroupSizeSearch, UnfitTable
from mixbayes.local_methods.classifiers import NAIVE_BAYES, SVM, TREE, Predict, train
from mixbayes.local_methods.condensation.group_search import Tried, best_of, exhaustive, rule_based
from mixbayes.local_methods.tables import Nominal, Table
from tests.local_methods.mixed import classes, mixed_table


class Landscape:
    """Accuracies and privacies by size, and which sizes were looked at."""

    def __init__(self, accuracy: Any, privacy: Any = float) -> None:
        self.accuracy, self.privacy, self.asked = accuracy, privacy, list[int]()

    def __call__(self, sizes: Sequence[int]) -> Iterator[Tried]:
        for size in sizes:
            self.asked.append(size)
            yield Tried(size, self.accuracy(size), self.privacy(size))


def test_where_accuracy_does_not_suffer_the_rule_goes_to_the_larger_sizes() -> None:
    """20..200 is the range in which the printed loop never ends."""
    flat = Landscape(lambda size: 0.9)
    tried = rule_based(flat, 20, 200, 0.05)
    assert flat.asked == [20, 200, 63, 112, 150, 173, 186, 193, 196, 198, 199]
    assert best_of(tried, 0.05).group_size == 200


def test_where_accuracy_suffers_the_rule_goes_to_the_smaller_sizes() -> None:
    """It leaves a half for good before it has seen its middle: 99 would be best, and is not looked at."""
    falling = Landscape(lambda size: 0.9 if size < 100 else 0.5)
    tried = rule_based(falling, 20, 2000, 0.05)
    assert falling.asked[:5] == [20, 2000, 200, 63, 35]
    assert best_of(tried, 0.05).group_size == 63


def test_a_larger_group_that_is_more_accurate_too_is_no_loss() -> None:
    """The printed rule compares the absolute difference and would turn away from it."""
    rising = Landscape(lambda size: 0.5 + size / 1000)
    assert rule_based(rising, 20, 200, 0.05)[-1].group_size == 199


def test_the_gap_is_a_share_of_the_accuracy() -> None:
    """0.03 of 0.5 are six per cent, of 0.9 they are three."""
    low, high = (Landscape(lambda size, at=at: at if size < 200 else at - 0.03) for at in (0.5, 0.9))
    assert rule_based(low, 20, 200, 0.05)[2:4] != rule_based(high, 20, 200, 0.05)[2:4]
    assert (low.asked[3], high.asked[3]) == (35, 112)


@given(low=st.integers(3, 5000), width=st.integers(0, 5000), seed=st.integers(0, 99))
def test_the_rule_ends_and_tries_no_size_twice(low: int, width: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    landscape = Landscape(lambda size: float(random.random()))
    tried = rule_based(landscape, low, low + width, 0.05)
    assert len(set(landscape.asked)) == len(landscape.asked) == len(tried)
    assert len(tried) <= 4 + 2 * np.log2(width + 1)
    assert {low, low + width} <= set(landscape.asked) <= set(range(low, low + width + 1))


def test_the_exhaustive_search_tries_every_size_or_so_many_at_equal_distances() -> None:
    landscape = Landscape(lambda size: 0.9)
    exhaustive(landscape, 10, 45, None)
    assert landscape.asked == list(range(10, 46))
    landscape = Landscape(lambda size: 0.9)
    exhaustive(landscape, 1120, 6757, 100)
    assert (len(landscape.asked), landscape.asked[0], landscape.asked[-1]) == (100, 1120, 6757)
    assert set(np.diff(landscape.asked)) == {56, 57}


def test_the_best_has_the_most_privacy_at_nearly_the_best_accuracy() -> None:
    tried = [Tried(10, 0.80, 0.5), Tried(20, 0.78, 0.9), Tried(30, 0.77, 0.9), Tried(40, 0.70, 1.2)]
    assert best_of(tried, 0.05).group_size == 30
    assert best_of(tried, 0.0).group_size == 10
    assert best_of(tried, 0.2).group_size == 40


def test_without_numbers_the_largest_group_is_the_most_private() -> None:
    assert best_of([Tried(10, 0.8, nan), Tried(40, 0.79, nan), Tried(50, 0.5, nan)], 0.05).group_size == 40


def test_the_estimator_finds_a_size_and_the_method_for_it() -> None:
    X, y = load_iris(return_X_y=True)
    search = GroupSizeSearch(t=10, random_state=0).fit(X, y)
    assert search.approximate_gcd_ == 40
    assert [tried.group_size for tried in search.tried_] == [10, 21, 31, 37, 41, 43, 44, 45]
    assert all(0.8 < tried.accuracy <= 1 and 0 < tried.privacy < 1 for tried in search.tried_)
    search.condensation_.fit_resample(X, y)
    assert search.condensation_.group_size_ == search.best_.group_size
    assert search.condensation_.guarantee_.holds


def test_results_do_not_depend_on_order_search_or_workers() -> None:
    X, y = load_iris(return_X_y=True)
    rule = GroupSizeSearch(t=40, repeats=2, random_state=0).fit(X, y)
    every = GroupSizeSearch(t=40, repeats=2, search="exhaustive", random_state=0).fit(X, y)
    with parallel_config(backend="threading"):
        workers = GroupSizeSearch(t=40, repeats=2, search="exhaustive", n_jobs=2, random_state=0).fit(X, y)
    assert every.tried_ == workers.tried_
    assert set(rule.tried_) <= set(every.tried_)


def test_any_classifier_of_scikit_learn_and_mixed_tables_with_gaps() -> None:
    table, labels = mixed_table(200, gaps=0.1), classes(120, 80)
    search = GroupSizeSearch(t=20, repeats=1, classifier=GaussianNB(), random_state=0).fit(table, labels)
    assert search.best_ in search.tried_


@pytest.mark.parametrize("name", [NAIVE_BAYES, TREE, SVM])
def test_a_classifier_by_name_is_the_one_of_the_measures(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    trained = []

    def noted(classifier: str, table: Table, labels: Nominal, seed: int) -> Predict:
        trained.append(classifier)
        return train(classifier, table, labels, seed)

    monkeypatch.setattr("mixbayes.local_methods.condensation.group_search.train", noted)
    table, labels = mixed_table(200, gaps=0.1), classes(120, 80)
    search = GroupSizeSearch(t=30, repeats=1, classifier=name, random_state=0).fit(table, labels)
    assert trained == [name] * len(search.tried_)


def test_a_table_without_numbers_has_no_privacy_but_a_size() -> None:
    table = mixed_table(200)
    search = GroupSizeSearch(t=30, repeats=1, random_state=0).fit(table.select(table.nominal), classes(120, 80))
    assert np.isnan(search.best_.privacy)


def test_it_says_how_far_it_is_and_can_be_ended() -> None:
    X, y = load_iris(return_X_y=True)
    told: list[tuple[int, int]] = []
    GroupSizeSearch(t=30, repeats=1, random_state=0).fit(
        X, y, progress=lambda _, done, total: told.append((done, total))
    )
    assert told[-1][0] == told[-1][1]
    assert all(done <= total for done, total in told)

    def stop(what: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    search = GroupSizeSearch(t=30, search="exhaustive", repeats=1)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y, progress=stop)
    assert not hasattr(search, "best_")


def test_it_is_an_estimator() -> None:
    search = GroupSizeSearch(t=10, classifier=GaussianNB(), accuracy_gap=0.1)
    copy: Any = clone(search)
    assert isinstance(copy, GroupSizeSearch)
    assert copy.get_params()["accuracy_gap"] == 0.1


@pytest.mark.parametrize(
    "parameters", [{"t": 2}, {"search": "guess"}, {"accuracy_gap": 2.0}, {"repeats": 0}, {"classifier": 3}]
)
def test_parameters_out_of_range_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(BadParameter):
        GroupSizeSearch(**parameters).fit(*load_iris(return_X_y=True))


def test_a_threshold_above_the_smallest_class_is_refused() -> None:
    with pytest.raises(UnfitTable, match="smallest class has 45 training rows"):
        GroupSizeSearch(t=46).fit(*load_iris(return_X_y=True))


def test_classes_far_apart_are_told_apart_and_classes_on_top_of_each_other_are_not() -> None:
    random = np.random.default_rng(0)
    y = np.repeat([0, 1], 500)
    for distance, expected in ((100, 1.0), (0, 0.5)):
        rows = random.normal(size=(1000, 2)) + distance * y[:, None]
        search = GroupSizeSearch(t=400, random_state=0).fit(rows, y)
        assert search.best_.accuracy == pytest.approx(expected, abs=0.1)
        assert isinstance(search.condensation_, ClassWiseCondensation)
