"""The document of an evaluation, and what it recommends."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mixbayes.evaluation.document import Table, document
from mixbayes.evaluation.opened import Opened, opened
from mixbayes.protocol.errors import LocalError

TWO = Table(("healthy", "sick"), "disease", ("age", "sex"), 5)
ROWS = 300


def patients(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    truth = random.integers(0, 2, ROWS)
    return truth, random.normal(0, 3, ROWS) + 3 * (2 * truth - 1)


def own_of(truth: np.ndarray, scores: np.ndarray) -> Opened:
    labels = (scores > 0).astype(int)
    return opened("own", 2, truth, labels, labels, scores=scores)


def changed(truth: np.ndarray, scores: np.ndarray, better: int, worse: int, recipe: str = "joint") -> Opened:
    """A recipe that is right about some more, and wrong about some more, than the own classifier."""
    own = (scores > 0).astype(int)
    labels = own.copy()
    labels[np.flatnonzero(own != truth)[:better]] ^= 1
    labels[np.flatnonzero(own == truth)[:worse]] ^= 1
    return opened(recipe, 2, truth, labels, own, scores=scores)


def test_document_has_every_figure() -> None:
    truth, scores = patients()
    found = document("north", TWO, own_of(truth, scores), [changed(truth, scores, 20, 2)]).as_json()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert (found["hospital"], found["rows"], found["folds"]) == ("north", ROWS, 5)
    assert found["commonest_class"]["share"] == max(np.bincount(truth)) / ROWS
    own, [joint] = found["own"], found["recipes"]
    assert joint.keys() - own.keys() == {"difference_from_own"}
    assert joint["difference_from_own"]["only_this_right"] == 20
    assert joint["difference_from_own"]["only_own_right"] == 2
    assert joint["accuracy"] == pytest.approx(own["accuracy"] + 18 / ROWS)
    assert own["recall"].keys() == {"healthy", "sick"}
    low, high = own["auc_interval"]
    assert low < own["auc"] < high
    assert len(own["histogram"]["counts"][0]) == len(own["histogram"]["thresholds"]) + 1


def test_three_classes_have_no_scores() -> None:
    table = Table(("a", "b", "c"), "class", ("x",), 5)
    own = opened("own", 3, [0, 1, 1], [0, 1, 3], [0, 1, 3], unsure=True)
    joint = opened("joint:unsure=1", 3, [0, 1, 1], [0, 3, 3], [0, 1, 3], unsure=True)
    found = document("north", table, own, [joint]).as_json()
    assert "auc" not in found["own"]
    assert found["recipes"][0]["unsure"] == 2
    assert found["own"]["recall"] == {"a": 1.0, "b": 0.5, "c": None}
    assert found["recipes"][0]["confusion"] == [[1, 0, 0, 0], [0, 0, 0, 2], [0, 0, 0, 0]]


def test_a_table_without_rows() -> None:
    none = np.zeros(0, np.int64)
    own = opened("own", 2, none, none, none, scores=none)
    found = document("north", TWO, own, [opened("joint", 2, none, none, none, scores=none)]).as_json()
    assert json.dumps(found, allow_nan=False)
    assert found["own"]["accuracy"] is found["own"]["auc"] is found["recommended"] is None
    assert found["own"]["interval"] == [0, 1]


def test_counts_of_other_patients_are_refused() -> None:
    truth, scores = patients()
    other, its = patients(1)
    with pytest.raises(LocalError, match="joint are not of the patients"):
        document("north", TWO, own_of(truth, scores), [changed(other, its, 1, 1)])


def test_counts_below_zero_are_refused_though_they_add_up() -> None:
    truth, scores = patients()
    joint = changed(truth, scores, 1, 1)
    below = joint.counts + np.outer([1, 0, 0, 0], [-1000, 1000])
    with pytest.raises(LocalError, match="joint are not of the patients"):
        document("north", TWO, own_of(truth, scores), [Opened("joint", below, joint.histogram)])


def test_a_histogram_of_other_patients_is_refused() -> None:
    truth, scores = patients()
    joint = changed(truth, scores, 1, 1)
    assert joint.histogram is not None
    moved = joint.histogram + np.eye(2, 24, dtype=np.int64)
    with pytest.raises(LocalError, match="joint are not of the patients"):
        document("north", TWO, own_of(truth, scores), [Opened("joint", joint.counts, moved)])
    below = joint.histogram.copy()
    below[0, :2] += [-1000, 1000]
    with pytest.raises(LocalError, match="joint are not of the patients"):
        document("north", TWO, own_of(truth, scores), [Opened("joint", joint.counts, below)])
