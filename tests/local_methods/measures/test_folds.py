"""Detection from confusion matrices beside scikit-learn's, and what the folds say one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import confusion_matrix

from mixbayes.local_methods.measures.detection import MEASURES, Detected, Detection, confusion, detection
from mixbayes.local_methods.measures.folds import Folds, Side
from mixbayes.local_methods.measures.kept_utility import KeptUtility, delta_r
from mixbayes.local_methods.measures.quartiles import Quartiles
from mixbayes.local_methods.measures.ranking import Verdict
from mixbayes.local_methods.measures.utility import Accuracy, Answers

answered = st.integers(1, 30).flatmap(
    lambda rows: st.tuples(*[arrays(np.int64, rows, elements=st.integers(0, 3)) for _ in "ab"])
)


@given(answered)
def test_the_four_measures_are_those_of_scikit_learns_matrix(pair: tuple[np.ndarray, np.ndarray]) -> None:
    matrix = confusion_matrix(*pair, labels=range(4))
    assert np.array_equal(confusion(*pair, 4), matrix)
    for label, found in enumerate(Detection.of(confusion(*pair, 4)).by_class()):
        true, said = int(matrix[label].sum()), int(matrix[:, label].sum())
        hits, rows = int(matrix[label, label]), int(matrix.sum())
        assert found.pd == (pytest.approx(hits / true) if true else None)
        assert found.precision == (pytest.approx(hits / said) if said else None)
        assert found.pf == (pytest.approx((said - hits) / (rows - true)) if rows > true else None)
        assert found.accuracy == pytest.approx((rows - true - said + 2 * hits) / rows)


def test_several_matrices_are_measured_at_once() -> None:
    matrices = np.random.default_rng(0).integers(0, 3, (7, 3, 3))
    together = Detection.of(matrices)
    for at, matrix in enumerate(matrices):
        alone = Detection.of(matrix)
        for name in MEASURES:
            assert np.array_equal(getattr(together, name)[at], getattr(alone, name), equal_nan=True)


def test_nobody_asked_is_a_share_of_nothing() -> None:
    nobody = np.empty(0, np.int64)
    assert detection(nobody, nobody, 2).accuracy.shape == (2,)
    assert Detection.of(np.zeros((2, 2), np.int64)).by_class() == [Detected(None, None, None, None)] * 2


def folds(original: np.ndarray, released: np.ndarray) -> Folds:
    return Folds.of({"tree": Answers(original, released)}, ["no", "yes"], repeats=2)


def test_a_sample_has_every_fold_and_class() -> None:
    random = np.random.default_rng(1)
    before, after = random.integers(1, 9, (2, 10, 2, 2))
    found = folds(before, after).of_classifier["tree"]
    for label, name in enumerate(("no", "yes")):
        expected = [matrix[label, label] / matrix[label].sum() for matrix in before]
        assert found["pd"].of_class[name].original.values == pytest.approx(expected)
    every = [matrix[label, label] / matrix[label].sum() for matrix in after for label in (0, 1)]
    assert found["pd"].of_all.released.values == pytest.approx(every)
    assert found["pd"].of_all.released.quartiles == Quartiles(*np.quantile(every, [0.25, 0.5, 0.75]))


def test_wins_ties_and_losses_are_counted_and_few_false_alarms_win() -> None:
    good, bad = np.tile([[18, 2], [1, 19]], (10, 1, 1)), np.tile([[11, 9], [9, 11]], (10, 1, 1))
    better, same, worse = folds(bad, good), folds(good, good), folds(good, bad)
    assert [each.count(Verdict.WIN) for each in (better, same, worse)] == [4, 0, 0]
    assert [each.count(Verdict.TIE) for each in (better, same, worse)] == [0, 4, 0]
    assert [each.count(Verdict.LOSS) for each in (better, same, worse)] == [0, 0, 4]


def test_a_fold_without_a_class_has_no_value_of_it() -> None:
    matrices = np.array([[[5, 0], [0, 0]], [[4, 1], [1, 4]]])
    found = folds(matrices, matrices).of_classifier["tree"]["pd"].of_class["yes"].original
    assert found == Side([None, 0.8], Quartiles(0.8, 0.8, 0.8))
    never = folds(matrices[:1], matrices[:1]).of_classifier["tree"]["pd"].of_class["yes"]
    assert never.original == Side([None], None)
    assert never.test is None


def test_a_loss_of_just_the_tolerance_keeps_utility() -> None:
    assert delta_r(0.9, 0.9) == pytest.approx(0.018)
    accuracies = {"tree": 0.85 * 0.98, "nearest-neighbour": 0.9, "svm": 0.86, "naive-bayes": 0.1}
    kept = KeptUtility.of({name: Accuracy(0.85, each) for name, each in accuracies.items()})
    assert kept.kept == {"tree": True, "nearest-neighbour": True, "svm": True, "naive-bayes": False}
    assert kept.by_all is True  # naive Bayes is none of the paper's three
    worse = KeptUtility.of({name: Accuracy(0.85, each) for name, each in accuracies.items()}, tolerance=0.019)
    assert worse.by_all is False
    unknown = KeptUtility.of({name: Accuracy(0.85, None) for name in accuracies})
    assert unknown.by_all is None
    assert set(unknown.delta_r.values()) == {None}
