"""The joint classifier as a scikit-learn estimator: all roles of the protocol in memory, in this process."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, check_random_state, column_or_1d
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_feature_names, _check_n_features, _check_sample_weight, check_is_fitted

from mixbayes.agreement.agreement import MOST_EPSILON, Given
from mixbayes.agreement.noise import USUAL_DELTA, document, not_covered, promised
from mixbayes.local_methods.containers import read_columns
from mixbayes.local_methods.tables import Table
from mixbayes.model.classifier import TableClassifier
from mixbayes.model.frames import texts_of
from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes.classification import run_classification
from mixbayes.protocol.bayes.noise import blurred_in_clear
from mixbayes.protocol.bayes.public_prior import PublicPrior
from mixbayes.protocol.bayes.recipe import Recipe, read_recipe
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model, recipe_scores
from mixbayes.protocol.bayes.training import run_training
from mixbayes.protocol.errors import Unsupported
from mixbayes.protocol.randomness import SEED_BYTES, Randomness
from mixbayes.tables.cells import Cells, Rows
from mixbayes.tables.columns import Columns
from mixbayes.tables.counting import counted
from mixbayes.tables.encoding import encode_query
from mixbayes.tables.inference import infer

CLASS = "class"
MOST_REPEATED = 1 << 26
"""Patients that rows with weights may stand for."""
Names = NDArray[Any]


class PrivacyLeakWarning(RuntimeWarning):
    """The promise of privacy does not cover something that was taken from the data."""


class FederatedNaiveBayes(TableClassifier):
    """Naive Bayes of several hospitals and two mixers, trained and asked by the protocol itself.

    It is for experiments: everything runs in this process, so nothing is protected from it. Numbers are Gaussian or cut
    into `bins`, texts nominal; None and not-a-number are missing cells, and a text that training has not seen counts as
    missing. One hospital asks, by a recipe. There are probabilities with `release="model"`, and for `recipe="own"`;
    otherwise nobody ever learns a score.

    With `epsilon` the joint counts get noise that neither of the two computing parties knows, drawn once by `fit`. Then
    labels are (epsilon, delta)-differentially private for one row more or less in one hospital's table. That does not
    cover the classes, the values, the bounds and the cut points, which `fit` takes from the data: a
    `PrivacyLeakWarning` says so. Every `fit` is a release of its own, and two of the same data cost more than one.

    Parameters
    ----------
    hospitals : int, default=3
        Over so many the rows are spread at random, unless `fit` is told who holds which.
    bins : int or None, default=None
        Cut numeric columns at so many quantiles instead of taking them as Gaussian.
    smoothing : str, default="1"
        Added to every count: 1, 0.5, 1/3.
    private : bool, default=True
        Whether rows that are classified stay hidden from the mixers.
    epsilon : float or None, default=None
        What is promised of one row, up to 100; without it there is no noise.
    delta : float, default=1e-6
        What is left out of the promise.
    release : {"labels", "model"}, default="labels"
        What hospitals get: labels, or, if there is noise, the noisy counts too, and with them probabilities.
    recipe : str, default="joint"
        Which classifier answers: `joint`; `personal:weight=W:prior=P`, of the joint counts and W times those of `site`,
        with the prior of all patients, of the own ones, or of both (`joint`, `own`, `mixed`); or `own`, which asks
        nobody, so there is no noise. Each may have `:costs=CLASS=5`, with the class as `str` writes it, and
        `:unsure=1`, the bits by which the best class must lead. Probabilities are without costs.
    site : hospital or None, default=None
        Whose classifier it is, if that matters; without it that of the hospital that holds the first row.
    priors : array-like of shape (n_classes,) or None, default=None
        Probabilities of the classes, which everybody knows. They replace the recipe's prior. A class of probability 0
        never wins, nor does one of which the counts have no patient.
    unsure_label : str or number, default="unsure"
        What `predict` gives where the recipe's answer is unsure. Classes that are numbers need a number that is none of
        them, as -1: a mixture of numbers and texts could neither be an array of labels nor be scored.
    random_state : int, RandomState or None, default=None
        Who holds which rows, and the coins of the noise; never the protocol's other randomness. Without it the coins
        come from the system. With it two fits draw the same noise, for experiments that are to be repeated, and whoever
        knows it can take the noise away: then nothing is promised against them.

    Attributes
    ----------
    classes_ : ndarray
        The classes, in their order; ties go to the one that comes first.
    rows_by_hospital_ : dict
        How many rows each hospital held.
    site_ : hospital
        Whose classifier it is.
    privacy_ : dict or None
        What was promised (`epsilon`, `delta`, `unit`), the `noise` on a cell, and `spent`, the epsilon that it cost.
    noisy_counts_ : ndarray of int
        The joint counts with noise, in the order of the layout; only if they are released.
    """

    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        "hospitals": [Interval(Integral, 2, None, closed="left")],
        "bins": [Interval(Integral, 1, None, closed="left"), None],
        "smoothing": [str],
        "private": ["boolean"],
        "epsilon": [Interval(Real, 0, MOST_EPSILON, closed="right"), None],
        "delta": [Interval(Real, 0, 1, closed="neither")],
        "release": [StrOptions({"labels", "model"})],
        "recipe": [str],
        "site": "no_validation",
        "priors": ["array-like", None],
        "unsure_label": [str, Real],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        hospitals: int = 3,
        bins: int | None = None,
        smoothing: str = "1",
        private: bool = True,
        epsilon: float | None = None,
        delta: float = USUAL_DELTA,
        release: Given = "labels",
        recipe: str = "joint",
        site: Any = None,
        priors: Any = None,
        unsure_label: Any = "unsure",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.hospitals = hospitals
        self.bins = bins
        self.smoothing = smoothing
        self.private = private
        self.epsilon = epsilon
        self.delta = delta
        self.release: Given = release
        self.recipe = recipe
        self.site = site
        self.priors = priors
        self.unsure_label = unsure_label
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, hospital: Any = None) -> Self:
        """Train what the recipe needs. `hospital` names the holder of every row.

        `sample_weight` says how many patients a row stands for, in whole numbers. It is the same as repeating rows and
        leaving out those of weight 0, whose classes and values are then unknown. With noise no row counts twice,
        because the promise is for one row.
        """
        self._validate_params()
        if self.epsilon is None and self.release == "model":
            raise ValueError('release="model" needs noise: give epsilon.')
        recipe = _recipe(self.recipe)
        noisy = self.epsilon is not None and recipe.base != "own"
        table = _read(self, X, fitted=False)
        labels, rows = _labels(y, table.rows), _repeated(sample_weight, table.rows, noisy=noisy)
        columns = _labelled(_columns(table).take(rows), self._positions(labels[rows]))
        self._recipe, self._answers = _in_positions(recipe, self.classes_), self._labels_of(recipe)
        random = check_random_state(self.random_state)
        holders = self._holders(hospital, table.rows, rows, random)
        held = {name: columns.take(holders == name) for name in dict.fromkeys(holders.tolist())}
        self.site_ = self._asker(list(held))
        dictionary = self._inferred(table, list(held.values()))
        self._layout, self._public = self._promised(dictionary, noisy=noisy), self._public_prior(dictionary)
        if noisy:
            bounded = [str(table.names[at]) for at in table.numeric]
            warnings.warn(not_covered(bounded, "the training data"), PrivacyLeakWarning, stacklevel=2)
        vectors = {name: counted(self._layout, part).vector for name, part in held.items()}
        self._train(vectors, secrets.token_bytes if self.random_state is None else random.bytes)
        self.rows_by_hospital_ = {name: part.rows for name, part in held.items()}
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The answers to `site_`: by the protocol, or for `own` by its own counts."""
        found = self._asked(self._codes(X))
        return self._answers[np.array([*self._order, len(self.classes_)])[found]]

    @property
    def _scored(self) -> bool:
        own = isinstance(self.recipe, str) and self.recipe.partition(":")[0] == "own"
        return own or (self.epsilon is not None and self.release == "model")

    def _scores(self, X: Any) -> NDArray[np.float64]:
        codes = self._codes(X)
        joint = self._own if self._recipe.base == "own" else self.noisy_counts_.view(np.uint64)
        found = np.empty((codes.shape[1], len(self.classes_)))
        scores = recipe_scores(self._layout, joint, codes, self._recipe, self._own, self._public)
        found[:, self._order] = scores.T
        return found

    def _codes(self, X: Any) -> Values:
        check_is_fitted(self)
        return encode_query(self._layout.dictionary, _columns(_read(self, X, fitted=True))).codes

    def _asked(self, codes: Values) -> NDArray[np.int64]:
        """Positions in the dictionary; one past the classes is `unsure`."""
        if self._recipe.base == "own":
            return fixed_labels(self._layout, self._models[0], codes)
        return run_classification(self._layout, self._models, codes, _seeds(), private=self.private)

    @property
    def _order(self) -> list[int]:
        """Where the dictionary's classes stand in `classes_`."""
        return [int(text) for text in self._layout.dictionary.classes]

    def _positions(self, labels: Names) -> NDArray[np.intp]:
        """Where these labels stand in `classes_`, which they set."""
        self.classes_, positions = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {len(self.classes_)} class.")
        return positions

    def _inferred(self, table: Table, held: list[Columns]) -> Dictionary:
        """Numbers are taken as numbers, and texts as texts."""
        names = held[0].names
        numeric = [names[at] for at in table.numeric]
        nominal = [name for name in names if name not in (*numeric, CLASS)]
        return infer(held, CLASS, nominal, numeric, bins=self.bins, smoothing=self.smoothing)

    def _labels_of(self, recipe: Recipe) -> NDArray[Any]:
        """What `predict` chooses from: the classes, then what says `unsure`, if anything does."""
        return self.classes_ if recipe.unsure is None else _with_unsure(self.classes_, self.unsure_label)

    def _asker(self, names: list[Any]) -> Any:
        """The hospital that asks."""
        if self.site is not None and self.site not in names:
            listed = ", ".join(map(repr, names))
            raise ValueError(f"site={self.site!r} is no hospital that holds rows; these do: {listed}.")
        return names[0] if self.site is None else self.site

    def _public_prior(self, dictionary: Dictionary) -> PublicPrior | None:
        if self.priors is None:
            return None
        priors = np.asarray(self.priors, np.float64)
        if priors.shape != self.classes_.shape:
            raise ValueError("Number of priors must match number of classes.")
        if not np.isclose(priors.sum(), 1.0):
            raise ValueError("The sum of the priors should be 1.")
        if (priors < 0).any():
            raise ValueError("Priors must be non-negative.")
        return PublicPrior.of([float(priors[int(text)]) for text in dictionary.classes])

    def _promised(self, dictionary: Dictionary, *, noisy: bool) -> Layout:
        """With noise that keeps the promise, if there is one."""
        self.privacy_: dict[str, Any] | None = None
        if self.epsilon is None or not noisy:
            return Layout(dictionary)
        privacy = promised(dictionary, self.epsilon, self.delta, release=self.release)
        layout = Layout(dictionary, Terms(coins=privacy.noise))
        self.privacy_ = document(privacy, layout)
        return layout

    def _train(self, vectors: Mapping[Any, Words], drawn: Callable[[int], bytes]) -> None:
        layout, recipe, public = self._layout, self._recipe, self._public
        self._own = vectors[self.site_]
        if recipe.base == "own":
            model = fixed_model(layout, self._own, recipe, public=public)
            self._models = model, model
            return
        coins = (drawn(SEED_BYTES), drawn(SEED_BYTES)) if layout.terms.coins else None
        asker, tables = list(vectors).index(self.site_), list(vectors.values())
        self._models = run_training(layout, tables, _seeds(), coins, recipe, asker, public)
        if coins and self.release == "model":
            joint = np.stack(tables).sum(axis=0, dtype=np.uint64)
            of_a, of_b = map(Randomness, coins)
            self.noisy_counts_ = blurred_in_clear(layout, joint, of_a, of_b).view(np.int64)

    def _holders(self, hospital: Any, number: int, rows: Rows, random: np.random.RandomState) -> Names:
        """Of these rows, of a table with so many."""
        if hospital is not None:
            holders = np.asarray(hospital)
            if holders.shape != (number,):
                raise ValueError(f"hospital names the holder of every row: {number} names are due.")
            return holders[rows]
        return random.permutation(np.arange(rows.size) % min(self.hospitals, rows.size))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "rows_by_hospital_")


def _recipe(text: str) -> Recipe:
    """The recipe, or scikit-learn's kind of refusal."""
    try:
        return read_recipe(text)
    except Unsupported as error:
        raise ValueError(str(error)) from None


def _in_positions(recipe: Recipe, classes: Names) -> Recipe:
    """With costs of the dictionary's classes, which are positions in these."""
    names = [str(label) for label in classes.tolist()]
    try:
        replace(recipe, unsure=None).refuse_unknown_classes(names)  # `unsure_label` is what is answered here
    except Unsupported as error:
        raise ValueError(str(error)) from None
    return replace(recipe, costs=tuple(sorted((str(names.index(name)), cost) for name, cost in recipe.costs)))


def _with_unsure(classes: Names, label: Any) -> Names:
    """The classes and this label, which must be of their kind: a column of labels has one."""
    joined = np.append(classes, label)
    texts = isinstance(classes[0], str)
    if texts != isinstance(label, str) or (not texts and joined.dtype.kind != classes.dtype.kind):
        raise ValueError(
            f"The recipe may answer unsure, and unsure_label={label!r} is not of the kind of the classes "
            f"({classes.dtype}). For classes that are numbers give a number that is no class, as unsure_label=-1."
        )
    if label in classes.tolist():
        raise ValueError(f"unsure_label={label!r} is a class. Give another label for rows that are unsure.")
    return joined


def _repeated(sample_weight: Any, rows: int, *, noisy: bool) -> Rows:
    """The rows that count, each as often as its weight says."""
    if sample_weight is None:
        return np.arange(rows)
    times = _check_sample_weight(sample_weight, np.empty(rows), dtype=np.float64, ensure_non_negative=True)
    if (times % 1 != 0).any():
        at = int(np.argmax(times % 1 != 0))
        raise ValueError(
            f"sample_weight has fractions: {times[at]} at row {at}. Hospitals contribute counts of patients, which are "
            "whole numbers. Give whole numbers."
        )
    if noisy and times.max(initial=0) > 1:
        raise ValueError(
            f"sample_weight goes up to {times.max():.0f}. With epsilon only 0 and 1 are possible, because the noise "
            "hides one row that counts once."
        )
    if times.sum() > MOST_REPEATED:
        raise ValueError(f"sample_weight adds up to {times.sum():.0f} patients, {MOST_REPEATED} are possible.")
    return np.repeat(np.arange(rows), times.astype(np.int64))


def _seeds() -> tuple[bytes, bytes, bytes]:
    first, second, third = (secrets.token_bytes(SEED_BYTES) for _ in range(3))
    return first, second, third


def _read(estimator: FederatedNaiveBayes, X: Any, *, fitted: bool) -> Table:
    """The table, with scikit-learn's own checks of names and numbers of columns."""
    table, _ = read_columns(X)
    _check_feature_names(estimator, X, reset=not fitted)
    _check_n_features(estimator, np.empty(table.shape), reset=not fitted)
    return table


def _labels(y: Any, rows: int) -> Names:
    if y is None:
        raise ValueError("FederatedNaiveBayes requires y to be passed, but the target y is None.")
    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    if len(labels) != rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{rows}, {len(labels)}]")
    return labels


def _columns(table: Table) -> Columns:
    """The table as a hospital's file would hold it."""
    names = [f"attribute {at}" for at in range(len(table.names))]
    return Columns.of(names, [texts_of(column) for column in table.columns], table.rows)


def _labelled(columns: Columns, positions: NDArray[np.intp]) -> Columns:
    """With the position of every row's class."""
    classes = Cells.of(positions.astype(np.str_))
    return Columns((*columns.names, CLASS), (*columns.cells, classes), columns.rows)
