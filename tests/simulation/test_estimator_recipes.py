"""Recipes, weights and priors of the scikit-learn estimator, against scikit-learn's classifiers and the reference."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import confusion_matrix
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

import mixbayes
from mixbayes.local_methods.containers import read_columns
from mixbayes.protocol.arrays import Values, mask
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.recipe import read_recipe
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model
from mixbayes.simulation.estimator import MOST_REPEATED, FederatedNaiveBayes, _columns, _labelled
from mixbayes.tables.counting import counted
from mixbayes.tables.encoding import encode_query

IGNORE_LEAKS = pytest.mark.filterwarnings("ignore::mixbayes.PrivacyLeakWarning")
SEEDS = st.integers(0, 2**32 - 1)
VALUES, COLUMNS = 3, 4


def split_by_order(estimator: FederatedNaiveBayes) -> dict[str, str]:
    return {"check_sample_weight_equivalence_on_dense_data": "which rows the site holds depends on their order"}


@parametrize_with_checks([FederatedNaiveBayes(recipe="own")], expected_failed_checks=split_by_order)
def test_common_checks_with_probabilities(estimator: FederatedNaiveBayes, check: Callable[..., Any]) -> None:
    check(estimator)


def copy_of(estimator: FederatedNaiveBayes) -> FederatedNaiveBayes:
    found: Any = clone(estimator)
    assert isinstance(found, FederatedNaiveBayes)
    return found


def iris() -> tuple[NDArray[Any], NDArray[Any]]:
    found: Any = load_iris(return_X_y=True)
    return found


def words(rng: np.random.Generator, rows: int = 40) -> tuple[NDArray[Any], NDArray[Any]]:
    """A table of codes in which every value and class occurs, with attributes that say something of the class."""
    y = np.arange(rows) % 3
    X = np.where(rng.random((rows, COLUMNS)) < 0.5, y[:, None], rng.integers(0, VALUES, (rows, COLUMNS)))
    X[:VALUES] = np.arange(VALUES)[:, None]
    return X, y


def framed(X: NDArray[Any]) -> pd.DataFrame:
    return pd.DataFrame(X.astype(str).astype(object), columns=[f"a{at}" for at in range(X.shape[1])])


def codes_of(estimator: FederatedNaiveBayes, X: Any) -> Values:
    return encode_query(estimator._layout.dictionary, _columns(read_columns(X)[0])).codes


def opened(estimator: FederatedNaiveBayes) -> Model:
    a, b = estimator._models
    low, tables = mask(a.width), zip(a.tables, b.tables, strict=True)
    return Model(a.width, (a.prior + b.prior) & low, tuple((one + other) & low for one, other in tables), a.margin)


def same(one: Model, other: Model) -> bool:
    pairs = zip((one.prior, *one.tables), (other.prior, *other.tables), strict=True)
    return (one.width, one.margin) == (other.width, other.margin) and all((a == b).all() for a, b in pairs)


# Priors.


@given(number=SEEDS)
@settings(max_examples=8, deadline=None)
def test_priors_and_weights_are_those_of_categorical_naive_bayes(number: int) -> None:
    rng = np.random.default_rng(number)
    X, y = words(rng)
    prior, weights = rng.dirichlet(np.ones(3)), rng.integers(1, 5, len(y))
    theirs: Any = CategoricalNB(class_prior=prior).fit(X, y, sample_weight=weights)
    expected = theirs.predict_joint_log_proba(X)
    own = FederatedNaiveBayes(recipe="own", priors=prior)
    own.fit(framed(X), y, sample_weight=weights, hospital=np.zeros(len(y)))
    assert np.allclose(own.predict_joint_log_proba(framed(X)), expected)
    assert np.allclose(own.predict_log_proba(framed(X)), theirs.predict_log_proba(X))
    assert np.allclose(own.predict_proba(framed(X)), theirs.predict_proba(X))
    joint = FederatedNaiveBayes(priors=prior).fit(framed(X), y, sample_weight=weights)
    best, second = np.sort(expected, axis=1)[:, -1:-3:-1].T
    sure = best - second > 1e-6
    assert (joint.predict(framed(X)) == theirs.predict(X))[sure].all()
    assert (own.predict(framed(X)) == theirs.predict(X))[sure].all()


@given(number=SEEDS)
@settings(max_examples=8, deadline=None)
def test_priors_and_weights_are_those_of_gaussian_naive_bayes(number: int) -> None:
    """Up to what is added to variances, which is a share of another width, and to the grid of numbers."""
    X, y = iris()
    rng = np.random.default_rng(number)
    prior, weights = rng.dirichlet(np.ones(3)), rng.integers(0, 4, len(y))
    kept = weights > 0
    theirs: Any = GaussianNB(priors=prior).fit(X[kept], y[kept], sample_weight=weights[kept])
    own = FederatedNaiveBayes(recipe="own", priors=prior).fit(X, y, sample_weight=weights, hospital=np.zeros(len(y)))
    inside = ((X[kept].min(axis=0) <= X) & (X[kept].max(axis=0) >= X)).all(axis=1)
    winner = theirs.predict(X)[:, None]
    behind, found = (
        scores - np.take_along_axis(scores, winner, axis=1)
        for scores in (theirs.predict_joint_log_proba(X), own.predict_joint_log_proba(X))
    )
    assert (np.abs(found - behind) < 0.01 * (1 - behind))[inside].all()
    joint = FederatedNaiveBayes(priors=prior, random_state=0).fit(X, y, sample_weight=weights)
    sure = inside & (np.sort(behind, axis=1)[:, -2] < -0.05)
    assert (joint.predict(X)[:, None] == winner)[sure].all()


@pytest.mark.parametrize("recipe", ["own", "joint", "personal"])
def test_a_class_of_probability_zero_never_wins(recipe: str) -> None:
    X, y = iris()
    trained = FederatedNaiveBayes(recipe=recipe, priors=[0.5, 0, 0.5], random_state=0).fit(X, y)
    found = trained.predict(X)
    assert set(found) == {0, 2}
    assert (found[y != 1] == y[y != 1]).all()


@pytest.mark.parametrize(
    ("priors", "said"),
    [
        ([0.5, 0.5], "Number of priors must match number of classes"),
        ([[0.5, 0.2, 0.3]], "Number of priors must match number of classes"),
        ([0.5, 0.2, 0.2], "sum of the priors should be 1"),
        ([np.nan, 0.2, 0.2], "sum of the priors should be 1"),
        ([0.9, 0.2, -0.1], "must be non-negative"),
    ],
)
def test_priors_that_are_none_are_refused_as_gaussian_naive_bayes_does(priors: Any, said: str) -> None:
    X, y = iris()
    with pytest.raises(ValueError, match=said):
        FederatedNaiveBayes(priors=priors).fit(X, y)


def test_priors_stand_in_the_order_of_the_classes() -> None:
    """Twelve classes: the dictionary, whose classes are texts, may have another order."""
    X, y = np.zeros((24, 1)), np.arange(24) % 12
    priors = np.arange(1, 13) / 78
    assert (FederatedNaiveBayes(recipe="own", priors=priors).fit(X, y, hospital=y * 0).predict(X) == 11).all()
    assert (FederatedNaiveBayes(priors=priors[::-1]).fit(X, y).predict(X) == 0).all()


# Weights.


@given(number=SEEDS, recipe=st.sampled_from(["joint", "own", "personal:weight=2"]), bins=st.sampled_from([None, 4]))
@settings(max_examples=12, deadline=None)
def test_weights_are_repetitions(number: int, recipe: str, bins: int | None) -> None:
    rng = np.random.default_rng(number)
    frame = framed(words(rng)[0]).assign(
        number=rng.normal(size=40), text=rng.choice(np.array(["a", "b", None], object), 40)
    )
    y, holder, weights = np.arange(40) % 2, rng.choice(["north", "south"], 40), rng.integers(0, 4, 40)
    weights[:4] = 1
    repeated = np.repeat(np.arange(40), weights)
    estimator = FederatedNaiveBayes(recipe=recipe, site="south" if "south" in holder[repeated] else None, bins=bins)
    one = copy_of(estimator).fit(frame, y, weights.astype(np.float64), hospital=holder)
    other = copy_of(estimator).fit(frame.iloc[repeated], y[repeated], hospital=holder[repeated])
    assert one._layout.dictionary == other._layout.dictionary
    assert one.rows_by_hospital_ == other.rows_by_hospital_
    assert (one._own == other._own).all()
    assert same(opened(one), opened(other))


def test_rows_of_weight_zero_are_not_there() -> None:
    X, y = [["a"], ["b"], ["a"], ["b"], ["c"]], ["x", "y", "x", "y", "z"]
    trained = FederatedNaiveBayes().fit(pd.DataFrame(X), y, sample_weight=[1, 1, 2, 1, 0])
    assert trained.classes_.tolist() == ["x", "y"]
    assert trained._layout.dictionary.attributes[0].listed == 2
    assert sum(trained.rows_by_hospital_.values()) == 5


@IGNORE_LEAKS
@pytest.mark.parametrize(
    ("weights", "parameters", "said"),
    [
        ([1.0, 0.5] * 75, {}, r"fractions: 0\.5 at row 1\. Hospitals contribute counts"),
        ([1, -1] * 75, {}, "[Nn]egative"),
        ([np.nan] * 150, {}, "NaN"),
        ([0] * 150, {}, "zero"),
        ([1] * 149, {}, "shape"),
        ([MOST_REPEATED] * 150, {}, "patients"),
        ([1, 2] * 75, {"epsilon": 4.0, "delta": 1e-4}, "goes up to 2. With epsilon only 0 and 1"),
    ],
)
def test_weights_that_are_no_counts_are_refused(weights: Any, parameters: dict[str, Any], said: str) -> None:
    X, y = iris()
    with pytest.raises(ValueError, match=said):
        FederatedNaiveBayes(**parameters).fit(X, y, sample_weight=weights)


@IGNORE_LEAKS
def test_with_noise_rows_may_be_left_out() -> None:
    X, y = iris()
    kept = np.arange(150) % 3 > 0
    noisy = FederatedNaiveBayes(epsilon=4.0, delta=1e-4, bins=4, release="model", random_state=0)
    one, other = (copy_of(noisy).fit(X, y, kept.astype(int)), copy_of(noisy).fit(X[kept], y[kept]))
    assert (one.noisy_counts_ == other.noisy_counts_).all()


# Recipes.


def two_hospitals() -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The second one has other patients, and none of the last class."""
    X, y = iris()
    kept = np.arange(150) < 130
    return X[kept], y[kept], np.where((y == 2) | (np.arange(150) % 3 > 0), "north", "south")[kept]


def counts_of(layout: Layout, X: Any, y: NDArray[Any], rows: NDArray[Any]) -> Any:
    return counted(layout, _labelled(_columns(read_columns(X[rows])[0]), y[rows])).vector


@IGNORE_LEAKS
@pytest.mark.parametrize("noise", [{}, {"epsilon": 4.0, "delta": 1e-4, "release": "model"}])
@pytest.mark.parametrize("site", ["north", "south"])
@pytest.mark.parametrize(
    "recipe", ["joint", "personal", "personal:weight=0", "personal:weight=3:prior=joint", "personal:prior=mixed"]
)
def test_a_recipe_is_the_reference_on_the_counts(recipe: str, site: str, noise: dict[str, Any]) -> None:
    X, y, holder = two_hospitals()
    trained = FederatedNaiveBayes(recipe=recipe, site=site, bins=4, random_state=0, **noise).fit(X, y, hospital=holder)
    layout = trained._layout
    own, joint = counts_of(layout, X, y, holder == site), counts_of(layout, X, y, y >= 0)
    if noise:
        joint = trained.noisy_counts_.view(np.uint64)
    model = fixed_model(layout, joint, read_recipe(recipe), own)
    assert same(opened(trained), model)
    labels = fixed_labels(layout, model, codes_of(trained, X))
    assert (trained.predict(X) == labels).all()
    if noise:
        assert np.mean(trained.predict_proba(X).argmax(axis=1) == labels) > 0.98


def test_own_is_the_hospital_alone() -> None:
    X, y, holder = two_hospitals()
    south = FederatedNaiveBayes(recipe="own", site="south").fit(X, y, hospital=holder)
    alone = FederatedNaiveBayes(recipe="own").fit(
        X[holder == "south"], y[holder == "south"], hospital=y[holder == "south"] * 0
    )
    assert south.site_ == "south"
    for site in ("south", "north"):
        own = copy_of(south).set_params(site=site).fit(X, y, hospital=holder)
        model = fixed_model(own._layout, counts_of(own._layout, X, y, holder == site))
        assert (own.predict(X) == fixed_labels(own._layout, model, codes_of(own, X))).all()
    assert (south.predict(X) == alone.predict(X)).mean() > 0.95  # the bounds of numbers are those of all
    assert (south.predict_proba(X)[:, 2] == 0).all()
    assert (south.predict_proba(X).argmax(axis=1) == south.predict(X)).all()
    assert not hasattr(FederatedNaiveBayes().fit(X, y), "predict_proba")


def test_own_has_no_noise_and_promises_nothing() -> None:
    X, y, holder = two_hospitals()
    plain, agreed = (
        FederatedNaiveBayes(recipe="own", epsilon=epsilon).fit(X, y, [2] * len(y), hospital=holder)
        for epsilon in (None, 1.0)
    )
    assert (agreed._own == plain._own).all()
    assert agreed.privacy_ is None
    assert (agreed.predict_proba(X) == plain.predict_proba(X)).all()


@IGNORE_LEAKS
def test_probabilities_have_the_prior_of_the_recipe() -> None:
    """From the same noisy counts, with weight 0 or without, classifiers differ in nothing but the prior."""
    X, y, holder = two_hospitals()
    noisy = FederatedNaiveBayes(epsilon=4.0, delta=1e-4, release="model", bins=4, site="south", random_state=0)

    def scores(**given: Any) -> NDArray[np.float64]:
        trained = copy_of(noisy).set_params(**given).fit(X, y, hospital=holder)
        found: NDArray[np.float64] = trained.predict_joint_log_proba(X)
        return found

    even = scores(priors=[1 / 3] * 3)
    of_south = np.maximum(np.bincount(y[holder == "south"], minlength=3), 0.5)
    priors = np.array([0.2, 0.1, 0.7])
    for found, prior in ((scores(recipe="personal:weight=0"), of_south), (scores(priors=priors), priors)):
        shares = np.exp(found - even)
        assert np.allclose(shares / shares.sum(axis=1, keepdims=True), prior / prior.sum())


def test_the_first_row_s_hospital_asks_unless_another_is_named() -> None:
    X, y, holder = two_hospitals()
    assert FederatedNaiveBayes(recipe="personal").fit(X, y, hospital=holder).site_ == holder[0]
    with pytest.raises(ValueError, match="site='east' is no hospital that holds rows; these do: 'south', 'north'"):
        FederatedNaiveBayes(site="east").fit(X, y, hospital=holder)


# Costs and unsure answers.


def test_costs_name_classes_as_texts() -> None:
    X, y = iris()
    names = np.array(["zebra", "ant", "mouse"])[y]
    plain = FederatedNaiveBayes(random_state=0).fit(X, y).predict(X)
    by_number = FederatedNaiveBayes(recipe="joint:costs=2=1000", random_state=0).fit(X, y).predict(X)
    by_name = FederatedNaiveBayes(recipe="joint:costs=mouse=1000", random_state=0).fit(X, names).predict(X)
    assert ((by_number == 2) >= (plain == 2)).all()
    assert (by_number == 2).sum() > (plain == 2).sum()
    assert ((by_name == "mouse") == (by_number == 2)).all()
    with pytest.raises(ValueError, match="a cost for 'mouse'; the classes are 0, 1, 2"):
        FederatedNaiveBayes(recipe="joint:costs=mouse=2").fit(X, y)


@pytest.mark.parametrize("recipe", ["own:unsure=6", "joint:unsure=6", "personal:unsure=6"])
def test_unsure_is_a_label_of_the_kind_of_the_classes(recipe: str) -> None:
    X, y = iris()
    plain = FederatedNaiveBayes(recipe=recipe.partition(":")[0], random_state=0).fit(X, y).predict(X)
    found = FederatedNaiveBayes(recipe=recipe, unsure_label=-1, random_state=0).fit(X, y)
    labels, named = found.predict(X), np.array(["zebra", "ant", "mouse"])[y]
    assert labels.dtype == y.dtype
    assert found.classes_.tolist() == [0, 1, 2]
    assert 0 < (labels == -1).sum() < 75
    assert (labels == plain)[labels != -1].all()
    assert found.score(X, y) == np.mean(labels == y)
    texts = FederatedNaiveBayes(recipe=recipe, random_state=0).fit(X, named).predict(X)
    assert ((texts == "unsure") == (labels == -1)).all()
    table = confusion_matrix(named, texts, labels=["ant", "mouse", "zebra", "unsure"])
    assert table.sum() == 150
    assert table[:, 3].sum() == (labels == -1).sum()


@pytest.mark.parametrize(
    ("classes", "label", "said"),
    [
        ([0, 1], "unsure", "is not of the kind of the classes .int64.. .*unsure_label=-1"),
        ([0, 1], 0.5, "not of the kind"),
        (["a", "b"], -1, "not of the kind"),
        ([0, 1], 1, "unsure_label=1 is a class"),
        (["sure", "unsure"], "unsure", "unsure_label='unsure' is a class"),
        ([False, True], -1, "not of the kind"),
    ],
)
def test_labels_that_cannot_say_unsure_are_refused(classes: list[Any], label: Any, said: str) -> None:
    X, y = np.arange(10.0)[:, None], np.array(classes)[np.arange(10) % 2]
    with pytest.raises(ValueError, match=said):
        FederatedNaiveBayes(recipe="joint:unsure=1", unsure_label=label).fit(X, y)
    FederatedNaiveBayes(recipe="own", unsure_label=label).fit(X, y)


def test_floats_and_objects_can_be_unsure() -> None:
    X = np.array([[0.0]] * 6 + [[1.0]] * 6)
    for classes, label in (([1.0, 2.0], -1), (np.array(["a", "b"], object), "unsure")):
        y = np.array(classes)[np.arange(12) % 2]
        found = FederatedNaiveBayes(recipe="joint:unsure=1", unsure_label=label).fit(X, y).predict(X)
        assert found.tolist() == [label] * 12


def test_what_is_no_recipe_is_refused_as_a_parameter() -> None:
    X, y = iris()
    with pytest.raises(ValueError, match="'theirs' is no recipe"):
        FederatedNaiveBayes(recipe="theirs").fit(X, y)


def test_it_is_cloned_and_pickled_with_all_of_these() -> None:
    X, y, holder = two_hospitals()
    estimator = FederatedNaiveBayes(
        recipe="personal:weight=3:unsure=2", site="south", priors=[0.3, 0.3, 0.4], unsure_label=-1
    )
    copy = copy_of(estimator)
    assert copy.get_params() == estimator.get_params()
    trained = copy.fit(X, y, hospital=holder)
    again = pickle.loads(pickle.dumps(trained))
    assert (again.predict(X) == trained.predict(X)).all()
    assert mixbayes.FederatedNaiveBayes is type(again)
