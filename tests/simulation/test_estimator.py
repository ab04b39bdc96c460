"""The joint classifier as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.estimator_checks import parametrize_with_checks

import mixbayes
from mixbayes.local_methods.containers import read_columns
from mixbayes.privacy.coins import Coins
from mixbayes.privacy.loss import Release, epsilon_of
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model
from mixbayes.simulation.estimator import FederatedNaiveBayes, _columns
from mixbayes.tables.encoding import encode_query


@pytest.mark.usefixtures("dealt_base_transfers")
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


def with_noise(**parameters: Any) -> FederatedNaiveBayes:
    """Little noise, so that few coins are enough and are found soon."""
    return FederatedNaiveBayes(**({"epsilon": 4.0, "delta": 1e-4, "bins": 4, "random_state": 0} | parameters))


@pytest.mark.filterwarnings("ignore::mixbayes.PrivacyLeakWarning")
@pytest.mark.parametrize("bins", [4, None])
def test_with_noise_labels_are_those_of_the_same_noisy_counts(bins: int | None) -> None:
    X, y = load_iris(return_X_y=True)
    joint = with_noise(release="model", bins=bins).fit(X, y)
    exact = FederatedNaiveBayes(bins=bins, random_state=0).fit(X, y)
    layout = joint._layout
    noise = joint.noisy_counts_[:3] - 50
    assert 0 < np.abs(noise).max() <= layout.noise
    codes = encode_query(layout.dictionary, _columns(read_columns(X)[0])).codes
    labels = fixed_labels(layout, fixed_model(layout, joint.noisy_counts_.view(np.uint64)), codes)
    assert (joint.predict(X) == labels).all()
    assert exact.privacy_ is None
    assert not hasattr(exact, "noisy_counts_")


@pytest.mark.filterwarnings("ignore::mixbayes.PrivacyLeakWarning")
def test_coins_are_the_same_only_where_the_state_is() -> None:
    X, y = load_iris(return_X_y=True)
    drawn = []
    for state in (0, 0, 1, None, None):
        np.random.seed(7)  # numpy's global state is not what coins come from
        drawn.append(with_noise(release="model", random_state=state).fit(X, y).noisy_counts_)
    assert (drawn[0] == drawn[1]).all()
    assert not any((one == other).all() for one, other in combinations(drawn[1:], 2))


@pytest.mark.filterwarnings("ignore::mixbayes.PrivacyLeakWarning")
def test_the_estimator_says_what_it_promised_and_spent() -> None:
    X, y = load_iris(return_X_y=True)
    joint = with_noise().fit(X, y)
    assert joint.privacy_
    noise = joint.privacy_["noise"]
    release = Release(Coins(tuple(noise["coins"]), noise["known"]), 1 + 4, 3 * (1 + 4 * 4))
    assert (joint.privacy_["epsilon"], joint.privacy_["delta"]) == (4.0, 1e-4)
    assert joint.privacy_["spent"] == pytest.approx(epsilon_of([release], 1e-4))
    assert joint.privacy_["spent"] <= 4.0
    assert np.mean(joint.predict(X) == y) > 0.8
    assert not hasattr(joint, "predict_proba")
    assert not hasattr(joint, "noisy_counts_")


@pytest.mark.filterwarnings("ignore::mixbayes.PrivacyLeakWarning")
def test_a_released_model_has_probabilities_in_the_order_of_the_classes() -> None:
    X, y = load_iris(return_X_y=True)
    names = np.array(["zebra", "ant", "mouse"])[y]
    joint = with_noise(release="model").fit(X, names)
    shares = joint.predict_proba(X)
    assert shares.shape == (150, 3)
    assert np.allclose(shares.sum(axis=1), 1)
    assert np.mean(joint.classes_[shares.argmax(axis=1)] == joint.predict(X)) > 0.98


def test_what_the_data_give_away_is_a_warning() -> None:
    X, y = load_iris(as_frame=True, return_X_y=True)
    with pytest.warns(mixbayes.PrivacyLeakWarning, match="bounds and cut points of 'sepal length"):
        with_noise().fit(X, y)


def test_noise_is_a_parameter_like_the_others() -> None:
    estimator: FederatedNaiveBayes = clone(with_noise(release="model"))  # pyright: ignore[reportAssignmentType]
    assert estimator.get_params()["epsilon"] == 4.0
    X, y = load_iris(return_X_y=True)
    for wrong in ({"epsilon": 0}, {"epsilon": 101.0}, {"delta": 0.0}, {"delta": 1}, {"release": "counts"}):
        with pytest.raises(InvalidParameterError, match=f"The '{next(iter(wrong))}' parameter"):
            with_noise(**wrong).fit(X, y)
    with pytest.raises(ValueError, match="needs noise: give epsilon"):
        with_noise(epsilon=None, release="model").fit(X, y)
