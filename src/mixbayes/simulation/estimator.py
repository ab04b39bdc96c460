"""The joint classifier as a scikit-learn estimator: all roles of the protocol in memory, in this process."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite, check_random_state, column_or_1d
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_is_fitted

from mixbayes.agreement.agreement import MOST_EPSILON, Given
from mixbayes.agreement.noise import USUAL_DELTA, document, not_covered, promised
from mixbayes.local_methods.containers import read_columns
from mixbayes.local_methods.tables import Table
from mixbayes.model.classifier import probabilities
from mixbayes.model.frames import texts_of
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes.classification import run_classification
from mixbayes.protocol.bayes.noise import blurred_in_clear
from mixbayes.protocol.bayes.training import run_training
from mixbayes.protocol.privacy.coins import Coins
from mixbayes.protocol.randomness import SEED_BYTES, Randomness
from mixbayes.tables.columns import Columns
from mixbayes.tables.counting import counted
from mixbayes.tables.encoding import encode_query
from mixbayes.tables.inference import infer

CLASS = "class"
Names = NDArray[Any]


class PrivacyLeakWarning(RuntimeWarning):
    """The promise of privacy does not cover something that was taken from the data."""


def _gives_model(estimator: FederatedNaiveBayes) -> bool:
    return estimator.epsilon is not None and estimator.release == "model"


class FederatedNaiveBayes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn publishes no types
    """Naive Bayes of several hospitals and two mixers, trained and asked by the protocol itself.

    It is for experiments: everything runs in this process, so nothing is protected from it. Numbers are Gaussian or cut
    into `bins`, texts nominal; None and not-a-number are missing cells, and a text that training has not seen counts as
    missing. There are probabilities only with `release="model"`; otherwise nobody ever learns a score.

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
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.hospitals = hospitals
        self.bins = bins
        self.smoothing = smoothing
        self.private = private
        self.epsilon = epsilon
        self.delta = delta
        self.release: Given = release
        self.random_state = random_state

    def fit(self, X: Any, y: Any, hospital: Any = None) -> Self:
        """Train jointly. `hospital` names the holder of every row."""
        self._validate_params()
        if self.epsilon is None and self.release == "model":
            raise ValueError('release="model" needs noise: give epsilon.')
        table = _read(self, X, fitted=False)
        labels = _labels(y, table.rows)
        self.classes_, positions = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {len(self.classes_)} class.")
        random = check_random_state(self.random_state)
        holders = self._holders(hospital, table.rows, random)
        columns = _columns(table, positions)
        held = {name: columns.take(holders == name) for name in dict.fromkeys(holders.tolist())}
        numeric = [columns.names[at] for at in table.numeric]
        nominal = [name for name in columns.names if name not in (*numeric, CLASS)]
        dictionary = infer(list(held.values()), CLASS, nominal, numeric, bins=self.bins, smoothing=self.smoothing)
        self._layout = self._promised(dictionary)
        if self.epsilon is not None:
            bounded = [str(table.names[at]) for at in table.numeric]
            warnings.warn(not_covered(bounded, "the training data"), PrivacyLeakWarning, stacklevel=2)
        vectors = [counted(self._layout, part).vector for part in held.values()]
        self._train(vectors, secrets.token_bytes if self.random_state is None else random.bytes)
        self.rows_by_hospital_ = {name: part.rows for name, part in held.items()}
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The labels, by the protocol."""
        check_is_fitted(self)
        table = _read(self, X, fitted=True)
        codes = encode_query(self._layout.dictionary, _columns(table, None)).codes
        labels = run_classification(self._layout, self._models, codes, _seeds(), private=self.private)
        order = [int(text) for text in self._layout.dictionary.classes]
        return self.classes_[np.array(order)[labels]]

    @available_if(_gives_model)  # type: ignore[untyped-decorator]  # scikit-learn publishes no types
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities (rows, classes) by the noisy counts, as every hospital can compute them. Not calibrated."""
        check_is_fitted(self)
        table = _read(self, X, fitted=True)
        codes = encode_query(self._layout.dictionary, _columns(table, None)).codes
        order = [int(text) for text in self._layout.dictionary.classes]
        found = np.empty((table.rows, len(order)))
        found[:, order] = probabilities(self._layout, self.noisy_counts_.view(np.uint64), codes)
        return found

    def _promised(self, dictionary: Dictionary) -> Layout:
        """With noise that keeps the promise, if there is one."""
        self.privacy_: dict[str, Any] | None = None
        if self.epsilon is None:
            return Layout(dictionary)
        privacy = promised(dictionary, self.epsilon, self.delta, release=self.release)
        layout = Layout(dictionary, Terms(coins=Coins(privacy.coins)))
        self.privacy_ = document(privacy, layout)
        return layout

    def _train(self, vectors: list[Words], drawn: Callable[[int], bytes]) -> None:
        coins = None if self.epsilon is None else (drawn(SEED_BYTES), drawn(SEED_BYTES))
        self._models = run_training(self._layout, vectors, _seeds(), coins)
        if coins and self.release == "model":
            joint = np.stack(vectors).sum(axis=0, dtype=np.uint64)
            of_a, of_b = map(Randomness, coins)
            self.noisy_counts_ = blurred_in_clear(self._layout, joint, of_a, of_b).view(np.int64)

    def _holders(self, hospital: Any, rows: int, random: np.random.RandomState) -> Names:
        if hospital is not None:
            holders = np.asarray(hospital)
            if holders.shape != (rows,):
                raise ValueError(f"hospital names the holder of every row: {rows} names are due.")
            return holders
        return random.permutation(np.arange(rows) % min(self.hospitals, rows))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_models")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


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


def _columns(table: Table, positions: NDArray[np.intp] | None) -> Columns:
    """The table as a hospital's file would hold it: texts, and the class as its position."""
    names = tuple(f"attribute {at}" for at in range(len(table.names)))
    cells = tuple(texts_of(column) for column in table.columns)
    if positions is None:
        return Columns.of(names, cells, table.rows)
    return Columns.of((*names, CLASS), (*cells, positions.astype(np.str_)), table.rows)
