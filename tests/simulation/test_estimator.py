"""The joint classifier as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

import mixbayes
from mixbayes.simulation.estimator import FederatedNaiveBayes


@parametrize_with_checks([FederatedNaiveBayes()])
def test_common_checks(estimator: FederatedNaiveBayes, check: Callable[..., Any]) -> None:
    check(estimator)


def test_labels_are_those_of_pooling_whoever_holds_which_rows() -> None:
    X, y = load_iris(return_X_y=True)
    pooled = GaussianNB().fit(X, y).predict(X)
    for holder in (None, np.arange(len(y)) % 7, y):
        joint = FederatedNaiveBayes(random_state=1).fit(X, y, hospital=holder)
        assert (joint.predict(X) == pooled).all()


def test_shown_rows_get_the_same_labels() -> None:
    X, y = load_iris(return_X_y=True)
    joint = FederatedNaiveBayes(private=False, random_state=1).fit(X, y)
    hidden = FederatedNaiveBayes(private=True, random_state=1).fit(X, y)
    assert (joint.predict(X) == hidden.predict(X)).all()


def test_frames_of_words_and_numbers_with_missing_cells() -> None:
    frame = pd.DataFrame({"smokes": ["yes", "no", None, "yes"] * 10, "age": [70.0, 30.0, np.nan, 64.0] * 10})
    sick = np.array(["ill", "well", "well", "ill"] * 10)
    joint = FederatedNaiveBayes(hospitals=2, random_state=0).fit(frame, sick)
    assert joint.predict(frame.iloc[:2]).tolist() == ["ill", "well"]
    unseen = pd.DataFrame({"smokes": ["sometimes"], "age": [70.0]})
    assert joint.predict(unseen).tolist() == ["ill"]
    assert joint.rows_by_hospital_ == {0: 20, 1: 20}


def test_hospitals_must_be_named_for_every_row() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="150 names are due"):
        FederatedNaiveBayes().fit(X, y, hospital=["north", "south"])


def test_it_goes_into_a_cross_validation() -> None:
    X, y = load_iris(return_X_y=True)
    assert cross_val_score(FederatedNaiveBayes(bins=4, random_state=0), X, y, cv=3).mean() > 0.85


def test_the_package_shows_it() -> None:
    assert mixbayes.FederatedNaiveBayes is FederatedNaiveBayes
    assert mixbayes.Federation.__name__ == "Federation"
    with pytest.raises(AttributeError, match="no attribute 'Hospital'"):
        _ = mixbayes.Hospital
