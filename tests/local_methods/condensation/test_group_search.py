"""The search for a group size of class-wise condensation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from mixbayes.local_methods import BadParameter, ClassWiseCondensation, GroupSizeSearch, UnfitTable
from mixbayes.local_methods.classifiers import NAIVE_BAYES, SVM, TREE, Predict, train
from mixbayes.local_methods.tables import Nominal, Table
from tests.local_methods.mixed import classes, mixed_table


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

    monkeypatch.setattr("mixbayes.local_methods.tuning.trial.train", noted)
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
