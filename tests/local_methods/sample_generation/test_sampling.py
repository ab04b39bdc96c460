"""Generated samples: what is kept, what is promised, and when there is no end."""

from __future__ import annotations

from collections.abc import Callable

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


def test_samples_lie_in_the_box_and_reach_its_walls() -> None:
    released, _ = SampleGeneration(random_state=0, classifiers=[TREE]).fit_resample(X, y)
    low, high = X.min(axis=0), X.max(axis=0)
    assert (released >= low).all()
    assert (released <= high).all()
    inside = (released - low) / (high - low)
    assert (inside.min(axis=0) < 0.05).all()
    assert (inside.max(axis=0) > 0.95).all()


def test_samples_are_uniform_where_classifiers_never_disagree() -> None:
    rows = np.column_stack([np.linspace(0, 1, 2000) ** 4, np.linspace(5, 6, 2000)])
    released, labels = SampleGeneration(random_state=0, classifiers=[DummyClassifier()]).fit_resample(
        rows, np.arange(2000) < 1200
    )
    assert released.mean(axis=0) == pytest.approx([0.5, 5.5], abs=0.03)
    assert released.var(axis=0) == pytest.approx([1 / 12] * 2, rel=0.1)
    assert labels.all()


def test_the_guarantee_is_that_no_original_row_is_released() -> None:
    guarantee = _fitted(X, y).guarantee_
    assert guarantee.holds
    assert not guarantee.privacy
    assert guarantee.measured == 0


def an_original_row(work: Work, released: Released) -> Released:
    numbers = released.table.numbers()
    numbers[0] = work.table.numbers()[0]
    codes = released.classes.codes.copy()
    codes[0] = work.classes.codes[0]
    return Released(released.table.with_numbers(numbers), released.classes.with_codes(codes))


def another_class(work: Work, released: Released) -> Released:
    codes = released.classes.codes.copy()
    codes[0] = (codes[0] + 1) % 3
    return Released(released.table, released.classes.with_codes(codes))


def a_row_too_few(work: Work, released: Released) -> Released:
    most = np.arange(released.table.rows - 1)
    return Released(released.table.take(most), released.classes.take(most))


@pytest.mark.parametrize("spoil", [an_original_row, another_class, a_row_too_few])
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


def test_nominal_columns_take_values_that_were_seen_and_no_cell_is_missing() -> None:
    method = SampleGeneration(random_state=0, classifiers=[TREE])
    released, labels = method.fit_resample(MIXED, MIXED_CLASSES)
    assert set(released[:, 1]) <= {"f", "m"}
    assert all(1.5 <= number <= 9 for number in released[:, 0])
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


def test_a_constant_column_stays_what_it_is() -> None:
    released, _ = SampleGeneration(random_state=0).fit_resample(np.column_stack([X, np.full(len(X), 7.25)]), y)
    assert (released[:, 4] == 7.25).all()


def test_a_copy_of_an_original_row_is_drawn_again() -> None:
    values = np.array([[a, b] for a in "abcd" for b in "wxyz"], object)
    rows, classes = values[:9], np.arange(9) % 2
    method = SampleGeneration(random_state=0, classifiers=[DummyClassifier()])
    released, _ = method.fit_resample(rows, classes)
    assert not {tuple(row) for row in released} & {tuple(row) for row in rows}
    assert method.guarantee_.holds


def test_work_is_bounded_where_only_copies_can_be_drawn() -> None:
    with pytest.raises(UnfitTable, match="only 0 can be released"):
        SampleGeneration(random_state=0).fit_resample(np.ones((5, 2)), [0, 1, 0, 1, 0])


def test_work_is_bounded_where_classifiers_never_agree() -> None:
    never = [DummyClassifier(strategy="constant", constant=label) for label in (0, 1)]
    with pytest.raises(UnfitTable, match=r"agree on 0\.00%"):
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


def test_one_row_has_no_box_to_draw_from() -> None:
    with pytest.raises(UnfitTable, match="only 0 can be released"):
        SampleGeneration(random_state=0).fit_resample(X[:1], y[:1])


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
