"""The accuracy of a partition: counted or learned once, against a fit of scikit-learn for each fold and projection."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from joblib import Parallel, parallel_config
from joblib.externals.loky import get_reusable_executor
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB
from sklearn.tree import DecisionTreeClassifier

from mixbayes.local_methods.coded import Coded
from mixbayes.local_methods.dmpd import fitness as module
from mixbayes.local_methods.dmpd.combination import combined, log_laplace
from mixbayes.local_methods.dmpd.discretisation import Discretiser
from mixbayes.local_methods.dmpd.fitness import CountedFitness, fitness
from mixbayes.local_methods.dmpd.folds import fold_of_rows
from mixbayes.local_methods.dmpd.inducers import AnyClassifier, Tree
from mixbayes.local_methods.dmpd.partition import UNUSED, groups_of, random_population
from mixbayes.local_methods.tables import Codes, Nominal, Numeric
from tests.local_methods.mixed import mixed_table


def problem(classes: int = 3, rows: int = 150) -> tuple[Coded, Codes]:
    table = mixed_table(rows, gaps=0.1)
    first = table.columns[0]
    assert isinstance(first, Numeric)
    noise = np.random.default_rng(1).normal(50, 4, rows)
    tied = np.where(np.isnan(first.numbers), noise, first.numbers)
    codes = np.digitize(tied, np.quantile(tied, np.arange(1, classes) / classes)).astype(np.int64)
    labels = Nominal(codes, np.array(list("ABCDEF")))
    coded = Coded.of(Discretiser.learn(table, labels)(table), labels)
    return coded, fold_of_rows(coded.labels, 4, np.random.default_rng(0))


def plain(coded: Coded, fold: Codes, partition: Codes) -> float:
    right = 0
    for at in np.unique(fold):
        learned, asked = fold != at, fold == at
        log_prior = log_laplace(np.bincount(coded.labels[learned], minlength=coded.classes))
        posteriors: list[Any] = []
        for group in groups_of(partition):
            columns = coded.codes[np.array(group)].T
            bayes = CategoricalNB(min_categories=coded.sizes[np.array(group)], class_prior=np.exp(log_prior))
            posteriors.append(bayes.fit(columns[learned], coded.labels[learned]).predict_log_proba(columns[asked]))
        scores = np.broadcast_to(combined(posteriors, log_prior), (asked.sum(), coded.classes))
        right += int((scores.argmax(axis=1) == coded.labels[asked]).sum())
    return right / coded.rows


@pytest.mark.parametrize("classes", [2, 3])
def test_counting_gives_what_combined_classifiers_give(classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    coded, fold = problem(classes)
    population = random_population(30, coded.features, np.random.default_rng(0))
    expected = [plain(coded, fold, partition) for partition in population]
    monkeypatch.setattr(module, "BLOCK", 64)
    found = CountedFitness(coded, fold).accuracies(population)
    assert found == pytest.approx(expected)
    assert len(set(expected)) > 5


@pytest.mark.parametrize("inducer", ["tree", LogisticRegression()])
def test_learned_ones_are_right_too(inducer: Any) -> None:
    coded, fold = problem()
    learned = fitness(coded, fold, inducer)
    alone, together, none = [0, UNUSED, UNUSED, UNUSED, UNUSED], [0, 0, 0, 0, 0], [UNUSED] * 5
    found = learned.accuracies(np.array([alone, together, none]))
    assert found[0] > 0.6
    assert found[1] > 0.6
    assert found[2] == pytest.approx(np.bincount(coded.labels).max() / coded.rows, abs=0.02)


@pytest.mark.parametrize("inducer", ["tree", LogisticRegression()])
def test_room_for_scores_and_workers_change_nothing(inducer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    coded, fold = problem()
    population = random_population(10, coded.features, np.random.default_rng(0))
    expected = fitness(coded, fold, inducer).accuracies(population)
    monkeypatch.setattr(module, "MOST_BYTES", 1)
    assert (fitness(coded, fold, inducer).accuracies(population) == expected).all()
    try:
        assert (fitness(coded, fold, inducer, n_jobs=2).accuracies(population) == expected).all()
    finally:
        get_reusable_executor().shutdown()  # else its processes stay for minutes


def test_the_callers_backend_of_joblib_does_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever chooses Dask or Ray with `parallel_config` need not say so again."""
    coded, fold = problem()
    population = random_population(10, coded.features, np.random.default_rng(0))
    expected = fitness(coded, fold, "tree").accuracies(population)
    asked: list[int | None] = []

    def watched(n_jobs: int | None) -> Parallel:
        asked.append(n_jobs)
        return Parallel(n_jobs=n_jobs)

    monkeypatch.setattr(module, "Parallel", watched)
    assert (fitness(coded, fold, "tree").accuracies(population) == expected).all()
    assert not asked
    with parallel_config(backend="threading", n_jobs=2):
        assert (fitness(coded, fold, "tree").accuracies(population) == expected).all()
    assert asked


def test_leaves_are_corrected() -> None:
    points = np.arange(4, dtype=np.float32)[:, None]
    counts = np.array([[30, 0], [1, 0], [0, 1], [0, 40]])
    model = Tree().learn(points, counts)
    np.testing.assert_allclose(np.exp(model(points)), [[32 / 33, 1 / 33]] * 2 + [[1 / 43, 42 / 43]] * 2)


def test_no_leaf_has_one_row_alone() -> None:
    points = np.arange(2, dtype=np.float32)[:, None]
    model = Tree().learn(points, np.array([[1, 0], [0, 9]]))
    np.testing.assert_allclose(np.exp(model(points)), [[2 / 12, 10 / 12]] * 2)


def test_probabilities_of_any_classifier_are_corrected_as_shares_of_all_rows() -> None:
    points = np.arange(2, dtype=np.float32)[:, None]
    model = AnyClassifier(DecisionTreeClassifier()).learn(points, np.array([[3, 0], [0, 5]]))
    np.testing.assert_allclose(np.exp(model(points)), [[9 / 10, 1 / 10], [1 / 10, 9 / 10]])


def test_the_rule_of_the_paper() -> None:
    """Π P(y | k) / P(y)^(w−1), normalised: .8·.6/.4 against .2·.4/.6."""
    found = combined([np.log([[0.8, 0.2]]), np.log([[0.6, 0.4]])], np.log([0.4, 0.6]))
    np.testing.assert_allclose(np.exp(found), [[1.2, 0.08 / 0.6]])


def test_folds_have_their_share_of_every_class() -> None:
    labels = np.repeat([0, 1, 2], [40, 20, 10])
    fold = fold_of_rows(labels, 5, np.random.default_rng(0))
    assert np.array([np.bincount(labels[fold == at]) for at in range(5)]).tolist() == [[8, 4, 2]] * 5
    assert fold_of_rows(labels[:3], 5, np.random.default_rng(0)).max() == 2
