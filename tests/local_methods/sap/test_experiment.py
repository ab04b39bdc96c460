"""What the thesis measures SAP by: detection of classes, quartiles, ranks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import precision_score, recall_score

from mixbayes.local_methods.measures.detection import detection
from mixbayes.local_methods.measures.quartiles import Quartiles
from mixbayes.local_methods.measures.ranking import mann_whitney_ranks

pairs = st.integers(1, 30).flatmap(
    lambda rows: st.tuples(*[arrays(np.int64, rows, elements=st.integers(0, 2)) for _ in "ab"])
)


def test_the_four_measures_by_hand() -> None:
    """A true negatives 3, B false negatives 2, C false positives 1, D true positives 4 of class 1."""
    actual = np.array([0] * 4 + [1] * 6, np.int64)
    found = np.array([0, 0, 0, 1, 0, 0, 1, 1, 1, 1], np.int64)
    of = detection(actual, found, 2)
    assert of.pd == pytest.approx([3 / 4, 4 / 6])
    assert of.pf == pytest.approx([2 / 6, 1 / 4])
    assert of.precision == pytest.approx([3 / 5, 4 / 5])
    assert of.accuracy == pytest.approx([7 / 10, 7 / 10])


@given(pairs)
def test_measures_agree_with_scikit_learn(pair: tuple[np.ndarray, np.ndarray]) -> None:
    actual, found = pair
    of = detection(actual, found, 3)
    for label in range(3):
        is_class, said = actual == label, found == label
        assert of.accuracy[label] == pytest.approx((is_class == said).mean())
        if is_class.any():
            assert of.pd[label] == pytest.approx(recall_score(is_class, said))
        if not is_class.all():
            assert of.pf[label] == pytest.approx(recall_score(~is_class, said))
        if said.any():
            assert of.precision[label] == pytest.approx(precision_score(is_class, said))


def test_a_share_of_nothing_is_no_number() -> None:
    of = detection(np.array([0, 0], np.int64), np.array([0, 0], np.int64), 2)
    assert np.isnan([of.pd[1], of.precision[1], of.pf[0]]).all()
    assert of.pf[1] == 0


def test_quartiles_leave_out_what_is_no_number() -> None:
    assert Quartiles.of(np.array([0.5, np.nan, 0.0, 1.0])) == Quartiles(0.25, 0.5, 0.75)
    assert np.isnan(Quartiles.of(np.array([np.nan])).median)


def test_samples_that_do_not_differ_share_a_rank() -> None:
    low, high = np.linspace(0.1, 0.2, 25), np.linspace(0.8, 0.9, 25)
    assert mann_whitney_ranks([low, high, high + 0.001, low + 0.001]) == [2, 1, 1, 2]
    assert mann_whitney_ranks([low, high, high + 0.001, low + 0.001], high_is_good=False) == [1, 2, 2, 1]
    assert mann_whitney_ranks([low, low, low]) == [1, 1, 1]


def test_samples_differ_at_five_per_cent() -> None:
    """All of five above all of two has a probability of 0.095 by chance, of three 0.036."""
    low, high = np.arange(5.0), np.arange(10.0, 13.0)
    assert mann_whitney_ranks([low, high[:2]]) == [1, 1]
    assert mann_whitney_ranks([low, high]) == [2, 1]


def test_a_sample_of_nothing_comes_last() -> None:
    nothing, some = np.full(5, np.nan), np.linspace(0, 1, 20)
    for high_is_good in (True, False):
        assert mann_whitney_ranks([nothing, some, nothing], high_is_good=high_is_good) == [2, 1, 2]
