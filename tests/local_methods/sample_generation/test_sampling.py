"""Generated samples: what is kept, what is promised, and when there is no end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

from mixbayes.local_methods.base import Released, Work
from mixbayes.local_methods.classifiers import CLASSIFIERS, NEAREST_NEIGHBOUR, SVM, TREE, train
from mixbayes.local_methods.containers import read_columns, read_labels
from mixbayes.local_methods.errors import BadParameter, UnfitTable
from mixbayes.local_methods.measures import release as measures
from mixbayes.local_methods.sample_generation.sampling import SampleGeneration, agreement

X, y = map(np.asarray, load_iris(return_X_y=True))
MIXED = np.array([[1.5, "f"], [2.5, "m"], [3.5, "m"], [9.0, "f"], [None, "m"], [4.5, None]], object)
MIXED_CLASSES = np.array(["well", "well", "well", "ill", "ill", "ill"])


def test_as_many_rows_come_as_there_were_with_the_classes_that_all_classifiers_give() -> None:
    released, labels = SampleGeneration(random_state=0, classifiers=[SVM, NEAREST_NEIGHBOUR]).fit_resample(X, y)
    assert released.shape == X.shape
    table, known = read_columns(X)[0], read_labels(y)[0]
    learned = [train(name, table, known, seed=0) for name in (SVM, NEAREST_NEIGHBOUR)]
    alike, label = agreement(read_columns(released)[0], learned)
    assert alike.all()
    assert np.array_equal(label, labels)


@pytest.mark.parametrize(
    ("domain", "box"),
    [
        (None, [(4, 8), (2, 4.5), (0, 7), (0, 2.5)]),
        ({"x0": (0, 10), "x3": (1, 2)}, [(0, 10), (2, 4.5), (0, 7), (1, 2)]),
    ],
    ids=["rounded outwards", "agreed"],
)
def test_samples_lie_between_public_bounds_and_reach_them(
    domain: dict[str, tuple[float, float]] | None, box: list[tuple[float, float]]
) -> None:
    method = SampleGeneration(random_state=0, classifiers=[TREE], domain=domain)
    released, _ = method.fit_resample(X, y)
    low, high = np.array(box).T
    assert (released >= low).all()
    assert (released <= high).all()
    inside = (released - low) / (high - low)
    assert (inside.min(axis=0)[[0, 1, 3]] < 0.05).all()  # where petals have no length, classifiers do not agree
    assert (inside.max(axis=0) > 0.95).all()


def test_samples_are_uniform_where_classifiers_never_disagree() -> None:
    rows = np.column_stack([np.linspace(0, 1, 2000) ** 4, np.linspace(5, 6, 2000)])
    released, labels = SampleGeneration(random_state=0, classifiers=[DummyClassifier()]).fit_resample(
        rows, np.arange(2000) < 1200
    )
    assert released.mean(axis=0) == pytest.approx([0.5, 5.5], abs=0.03)
    assert released.var(axis=0) == pytest.approx([1 / 12] * 2, rel=0.1)
    assert labels.all()


def test_the_guarantee_is_that_classifiers_agree_and_nothing_to_people() -> None:
    guarantee = _fitted(X, y).guarantee_
    assert guarantee.holds
    assert guarantee.people is None
    assert guarantee.measured == 0


@pytest.mark.parametrize(
    ("domain", "said"),
    [
        (None, "; that the bounds of x0 tell nothing: they are the table's own, rounded outwards; that the values of"),
        ({"x1": ["f", "m"]}, "; that the bounds of x0 tell nothing: they are the table's own, rounded outwards"),
        ({"x0": (0, 10)}, "; that the values of x1 tell nothing: they are those of the table"),
        ({"x0": (0, 10), "x1": ["f", "m"]}, "original rows are near"),
    ],
)
def test_what_is_taken_from_the_table_is_not_promised_to_tell_nothing(domain: Any, said: str) -> None:
    method = SampleGeneration(random_state=0, classifiers=[TREE], domain=domain).fit(MIXED, MIXED_CLASSES)
    assert said in method.guarantee_.not_promised
    assert method.guarantee_.not_promised.count(";") == sum(name not in (domain or {}) for name in ("x0", "x1"))


def another_class(work: Work, released: Released) -> Released:
    codes = released.classes.codes.copy()
    codes[0] = (codes[0] + 1) % 3
    return Released(released.table, released.classes.with_codes(codes))


def a_row_too_few(work: Work, released: Released) -> Released:
    most = np.arange(released.table.rows - 1)
    return Released(released.table.take(most), released.classes.take(most))


@pytest.mark.parametrize("spoil", [another_class, a_row_too_few])
def test_a_promise_that_was_broken_is_told(spoil: Callable[[Work, Released], Released]) -> None:
    class Careless(SampleGeneration):
        def _release(self, work: Work) -> Released:
            return spoil(work, super()._release(work))

    method = Careless(random_state=0)
    method.fit_resample(X, y)
    assert not method.guarantee_.holds


def test_the_same_seed_gives_the_same_release() -> None:
    first, again, other = (SampleGeneration(random_state=seed).fit_resample(X, y)[0] for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_the_classifiers_which_know_the_rows_are_not_kept() -> None:
    assert not hasattr(SampleGeneration(random_state=0).fit(X, y), "_trained")


def test_ranks_say_no_more_than_that_rows_are_unpaired() -> None:
    released, _ = SampleGeneration(random_state=0).fit_resample(X, y)
    n = len(X)
    assert measures.rp(X, released) == pytest.approx((n**2 - 1) / (3 * n), rel=0.1)
    assert measures.rk(X, released) < 3 / n


def test_each_classifier_can_be_asked_by_name_or_be_one_of_scikit_learn() -> None:
    for classifiers in ([name] for name in CLASSIFIERS):
        assert SampleGeneration(random_state=0, classifiers=classifiers).fit_resample(X, y)[0].shape == X.shape
    given = LogisticRegression(max_iter=1000)
    assert SampleGeneration(random_state=0, classifiers=[given, TREE]).fit_resample(X, y)[0].shape == X.shape
    assert not hasattr(given, "coef_")


@pytest.mark.parametrize("classifiers", [[], ["no-such"], "tree", [TREE, "oracle"]])
def test_unknown_classifiers_are_refused(classifiers: object) -> None:
    with pytest.raises(BadParameter):
        SampleGeneration(classifiers=classifiers).fit_resample(X, y)  # pyright: ignore[reportArgumentType]


def test_nominal_columns_take_public_values_and_no_cell_is_missing() -> None:
    method = SampleGeneration(random_state=0, classifiers=[TREE])
    released, labels = method.fit_resample(MIXED, MIXED_CLASSES)
    assert set(released[:, 1]) <= {"f", "m"}
    assert all(0 <= number <= 10 for number in released[:, 0])
    assert set(labels) <= {"well", "ill"}
    assert (method.missing_.cells, method.missing_.rows) == (2, 2)


def test_rows_with_missing_cells_can_be_left_out() -> None:
    method = SampleGeneration(random_state=0, classifiers=[TREE], missing="drop")
    assert len(method.fit_resample(MIXED, MIXED_CLASSES)[0]) == 4


def test_nominal_values_are_as_frequent_as_each_other() -> None:
    rows = np.array([["a", 0.1]] * 900 + [["b", 0.7]] * 99 + [["c", 0.4]], object)
    released, _ = SampleGeneration(random_state=0, classifiers=[DummyClassifier()]).fit_resample(
        rows, np.arange(1000) % 2
    )
    shares = [float(np.mean(released[:, 0] == value)) for value in "abc"]
    assert shares == pytest.approx([1 / 3] * 3, abs=0.05)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_agreed_values_are_drawn_though_nobody_has_them_and_others_are_not(classifier: str) -> None:
    domain = {"x0": (0, 10), "x1": ["m", "other than both"]}
    method = SampleGeneration(random_state=0, classifiers=[classifier], domain=domain)
    released, _ = method.fit_resample(np.tile(MIXED, (20, 1)), np.tile(MIXED_CLASSES, 20))
    assert set(released[:, 1]) == {"m", "other than both"}
    assert method.guarantee_.holds


def test_an_empty_list_of_values_is_refused() -> None:
    with pytest.raises(BadParameter, match="'x1' must list one value at least"):
        SampleGeneration(classifiers=[TREE], domain={"x1": []}).fit(MIXED, MIXED_CLASSES)


def test_a_constant_column_stays_what_it_is() -> None:
    released, _ = SampleGeneration(random_state=0).fit_resample(np.column_stack([X, np.full(len(X), 7.25)]), y)
    assert (released[:, 4] == 7.25).all()


def test_copies_of_original_rows_are_as_frequent_as_chance_makes_them() -> None:
    """Which of 16 combinations never come would tell the nine that somebody has."""
    values = np.array([[a, b] for a in "abcd" for b in "wxyz"], object)
    rows, classes = np.tile(values[:9], (200, 1)), np.arange(1800) % 2
    released, _ = SampleGeneration(random_state=0, classifiers=[DummyClassifier()]).fit_resample(rows, classes)
    copies = {tuple(row) for row in values[:9]}
    assert np.mean([tuple(row) in copies for row in released]) == pytest.approx(9 / 12, abs=0.04)


def test_work_is_bounded_where_classifiers_never_agree() -> None:
    never = [DummyClassifier(strategy="constant", constant=label) for label in (0, 1)]
    with pytest.raises(UnfitTable, match=r"agree on only 0\.00%"):
        SampleGeneration(random_state=0, classifiers=never, draws_per_row=3).fit_resample(X[:100], y[:100])


def test_no_more_samples_are_drawn_than_allowed() -> None:
    calls: list[tuple[str, int, int]] = []
    method = SampleGeneration(random_state=0, draws_per_row=3)
    method.fit_resample(X, y, progress=lambda *call: calls.append(call))
    assert method.drawn_ == 450
    assert calls[0] == ("samples", 0, 150)
    assert calls[-1] == ("samples", 150, 150)


def test_a_class_that_never_comes_up_is_reported_and_not_waited_for() -> None:
    random = np.random.default_rng(0)
    rows = random.uniform(size=(300, 6))
    classes = np.array(["common"] * 299 + ["rare"])
    method = SampleGeneration(random_state=0, classifiers=[TREE])
    _, labels = method.fit_resample(rows, classes)
    assert method.absent_classes_ == ["rare"]
    assert set(labels) == {"common"}
    assert _fitted(X, y).absent_classes_ == []


def test_one_class_is_given_to_all() -> None:
    method = SampleGeneration(random_state=0)
    _, labels = method.fit_resample(X, np.full(len(X), "ill"))
    assert set(labels) == {"ill"}
    assert method.agreement_ == 1


def test_a_table_without_classes_is_refused() -> None:
    with pytest.raises(UnfitTable, match="requires y"):
        SampleGeneration().fit_resample(X)


def test_an_interrupted_run_has_learned_nothing() -> None:
    def stop(what: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    method = SampleGeneration(random_state=0)
    with pytest.raises(KeyboardInterrupt):
        method.fit_resample(X, y, progress=stop)
    assert not method.__sklearn_is_fitted__()


def test_huge_numbers_do_not_overflow() -> None:
    rows = X / X.max() * 1.7e308
    rows[0] = -rows[1]
    released, labels = SampleGeneration(random_state=0).fit_resample(rows, y)
    assert np.isfinite(released).all()
    assert set(labels) == {0, 1, 2}


def _fitted(rows: np.ndarray, classes: np.ndarray) -> SampleGeneration:
    method = SampleGeneration(random_state=0)
    method.fit_resample(rows, classes)
    return method
