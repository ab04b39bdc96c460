"""Figures from opened counts are those that scipy and scikit-learn compute of the patients themselves."""

from __future__ import annotations

from math import isnan, sqrt
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, roc_auc_score, roc_curve

from mixbayes.evaluation.confusion import accuracy, balanced_accuracy, commonest, recalls, unsure
from mixbayes.evaluation.intervals import area_interval, mcnemar, wilson
from mixbayes.evaluation.opened import THRESHOLDS, Opened, binned, opened
from mixbayes.evaluation.recommendation import Difference
from mixbayes.evaluation.roc import area, calibration, probability, roc
from mixbayes.protocol.errors import LocalError

SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.integers(0, 60)


def scored(seed: int, rows: int = 200, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """True classes, and scores that know something of them; some lie on thresholds."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, classes, rows)
    return truth, (random.normal(0, 5, rows) + 3 * truth).round(1)


@given(SEEDS, st.integers(2, 5), st.integers(1, 100))
def test_confusion_is_that_of_scikit_learn(seed: int, classes: int, rows: int) -> None:
    random = np.random.default_rng(seed)
    truth, labels, own = random.integers(0, classes, (3, rows))
    one = opened("joint", classes, truth, labels, own)
    present = np.unique(truth)
    assert one.confusion.tolist() == confusion_matrix(truth, labels, labels=range(classes)).tolist()
    assert accuracy(one.confusion) == pytest.approx((truth == labels).mean())
    expected = [(labels[truth == at] == at).mean() for at in present]
    found = [share for share in recalls(one.confusion) if share is not None]
    assert found == pytest.approx(expected)
    assert balanced_accuracy(one.confusion) == pytest.approx(np.mean(expected))
    assert [share is None for share in recalls(one.confusion)] == [at not in present for at in range(classes)]


def test_balanced_accuracy_where_all_classes_have_patients() -> None:
    truth, scores = scored(0)
    labels = (scores > 0).astype(int)
    one = opened("joint", 2, truth, labels, truth)
    assert balanced_accuracy(one.confusion) == pytest.approx(balanced_accuracy_score(truth, labels))


@given(SEEDS, st.integers(2, 4), st.booleans())
def test_differences_are_those_of_the_patients(seed: int, classes: int, unsure_too: bool) -> None:
    random = np.random.default_rng(seed)
    truth, own = random.integers(0, classes, (2, 80))
    labels = random.integers(0, classes + unsure_too, 80)
    found = Difference.of(opened("joint", classes, truth, labels, own, unsure_too))
    assert found.only_own_right == int(((own == truth) & (labels != truth)).sum())
    assert found.only_this_right == int(((own != truth) & (labels == truth)).sum())
    assert found.points == pytest.approx(100 * ((labels == truth).mean() - (own == truth).mean()))


def test_unsure_is_not_right() -> None:
    one = opened("joint:unsure=1", 2, [0, 0, 1, 1], [0, 2, 2, 1], [0, 0, 0, 0], unsure=True)
    assert accuracy(one.confusion) == 0.5
    assert recalls(one.confusion) == [0.5, 0.5]
    assert unsure(one.confusion) == 2
    assert one.confusion.tolist() == [[1, 0, 1], [0, 1, 1]]
    assert unsure(opened("joint", 2, [0], [1], [0]).confusion) is None


@pytest.mark.parametrize("classes", [2, 3])
def test_nobody(classes: int) -> None:
    none = np.zeros(0, int)
    one = opened("joint", classes, none, none, none)
    assert accuracy(one.confusion) is balanced_accuracy(one.confusion) is None
    assert recalls(one.confusion) == [None] * classes
    assert commonest(one.confusion) == (0, None)
    assert Difference.of(one).points == 0
    assert Difference.of(one).p == 1
    assert wilson(0, 0) == (0, 1)


def test_commonest_class() -> None:
    assert commonest(np.array([[1, 1], [0, 3]])) == (1, 0.6)
    assert commonest(np.array([[1, 1], [2, 0]])) == (0, 0.5)


@given(st.integers(0, 400), st.integers(0, 400))
def test_mcnemar_is_the_exact_test_of_a_coin(one: int, other: int) -> None:
    expected = binomtest(one, one + other).pvalue if one + other else 1.0
    assert mcnemar(one, other) == pytest.approx(expected, rel=1e-9, abs=1e-300)
    assert mcnemar(one, other) == mcnemar(other, one)


def test_mcnemar_of_a_large_table() -> None:
    assert mcnemar(49_000, 51_000) == pytest.approx(binomtest(49_000, 100_000).pvalue, rel=1e-6)


@given(st.integers(0, 300), st.integers(0, 300))
def test_wilson_is_the_one_of_scipy(right: int, wrong: int) -> None:
    rows = right + wrong
    if not rows:
        return
    expected = binomtest(right, rows).proportion_ci(method="wilson")
    assert wilson(right, rows) == pytest.approx((expected.low, expected.high), abs=1e-12)


@given(SEEDS)
def test_area_is_that_of_binned_scores(seed: int) -> None:
    truth, scores = scored(seed)
    histogram = binned(truth, scores)
    at = np.searchsorted(THRESHOLDS, scores, side="right")
    assert area(histogram) == pytest.approx(roc_auc_score(truth, at))
    first, second = np.array(roc(histogram)).T
    assert np.trapezoid(second, first) == pytest.approx(roc_auc_score(truth, at))


@given(SEEDS)
def test_roc_is_that_of_scikit_learn(seed: int) -> None:
    truth, scores = scored(seed)
    at = np.searchsorted(THRESHOLDS, scores, side="right")
    first, second, _ = roc_curve(truth, at, drop_intermediate=False)
    found = dict.fromkeys(roc(binned(truth, scores)))  # an empty bin repeats a point
    assert np.array(list(found)) == pytest.approx(np.stack([first, second], axis=1))


@pytest.mark.parametrize("truth", [[], [0, 0], [1]])
def test_no_area_without_both_classes(truth: list[int]) -> None:
    histogram = binned(np.array(truth, np.int64), np.ones(len(truth)))
    assert area(histogram) is None
    assert roc(histogram) == []


def test_perfect_scores() -> None:
    histogram = binned(np.array([0, 0, 1, 1]), np.array([-3.0, -1, 1, 3]))
    assert area(histogram) == 1
    low, high = area_interval(1.0, 2, 2)
    assert 0 < low < 1 == high


@given(st.floats(0, 1), st.integers(1, 200), st.integers(1, 200))
def test_area_interval_holds_the_area_and_is_fair_to_both_classes(found: float, negative: int, positive: int) -> None:
    low, high = area_interval(found, negative, positive)
    assert 0 <= low <= found <= high <= 1
    mirrored = area_interval(1 - found, positive, negative)
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((low, high), abs=1e-9)
    assert area_interval(found, 4 * negative, 4 * positive).low >= low - 1e-9


def test_area_interval_without_a_class() -> None:
    assert area_interval(0.5, 0, 3) == (0, 1)


@pytest.mark.parametrize(("negative", "positive", "apart"), [(8, 115, 1.0), (50, 50, 1.5), (100, 20, 2.5)])
def test_area_interval_covers_the_truth(negative: int, positive: int, apart: float) -> None:
    """Of normal scores, whose area is known; with 8 healthy people too."""
    random = np.random.default_rng(0)
    true = NormalDist().cdf(apart / sqrt(2))
    held = []
    for _ in range(1000):
        first, second = random.normal(0, 1, negative), random.normal(apart, 1, positive)
        found = float((second[:, None] > first).mean())
        low, high = area_interval(found, negative, positive)
        held.append(low <= true <= high)
    assert 0.93 <= np.mean(held) <= 0.985


@given(SEEDS, SIZES)
def test_calibration_counts_everybody(seed: int, rows: int) -> None:
    truth, scores = scored(seed, rows)
    found = calibration(binned(truth, scores), THRESHOLDS)
    assert sum(one.rows for one in found) == rows
    for one in found:
        chances = 1 / (1 + np.exp2(-scores))
        inside = (chances >= one.low - 1e-12) & (chances < one.high - 1e-12)
        assert one.share == pytest.approx(truth[inside].mean())


def test_probability_of_bits() -> None:
    assert probability(0) == 0.5
    assert probability(1) == pytest.approx(2 / 3)
    assert not isnan(probability(-16))


def test_a_score_on_a_threshold_is_above_it() -> None:
    histogram = binned(np.array([0]), np.array([THRESHOLDS[0]]))
    assert histogram[0, 1] == 1
    assert len(THRESHOLDS) == 23
    assert list(THRESHOLDS) == sorted(-t for t in THRESHOLDS)


def test_counts_of_two_hospitals_add_up() -> None:
    truth, scores = scored(1)
    whole = opened("joint", 2, truth, scores > 0, scores > 1, scores=scores)
    first, second = (
        opened("joint", 2, truth[part], scores[part] > 0, scores[part] > 1, scores=scores[part])
        for part in (slice(0, 70), slice(70, None))
    )
    both = first + second
    assert both.counts.tolist() == whole.counts.tolist()
    assert both.histogram is not None
    assert whole.histogram is not None
    assert both.histogram.tolist() == whole.histogram.tolist()


@pytest.mark.parametrize(("rows", "answers"), [(3, 2), (4, 1), (4, 4)])
def test_counts_of_another_shape_are_refused(rows: int, answers: int) -> None:
    with pytest.raises(LocalError, match="not those of a recipe"):
        Opened("joint", np.zeros((rows, answers), np.int64))
    with pytest.raises(LocalError, match="does not fit its thresholds"):
        Opened("joint", np.zeros((4, 2), np.int64), np.zeros((2, 23), np.int64))
