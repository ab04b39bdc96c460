"""A released model as a scikit-learn classifier."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from mixbayes.local_methods.containers import read_columns
from mixbayes.model.document import ReleasedModel, read_model
from mixbayes.model.frames import texts_of
from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.noise import clamped_in_clear
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model, real_scores
from mixbayes.protocol.errors import BadData
from mixbayes.tables.columns import Columns
from mixbayes.tables.encoding import encode_query


def load_model(path: str | Path) -> ReleasedNaiveBayes:
    """The classifier in a file that `mixbayes model` wrote."""
    try:
        text = Path(path).read_text("utf-8")
    except OSError as error:
        raise BadData(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise BadData(f"{path} is no model: it is not text in UTF-8.") from None
    read_model(text, str(path))
    return ReleasedNaiveBayes(text)


@lru_cache(maxsize=8)
def _read(document: str) -> ReleasedModel:
    return read_model(document)


@lru_cache(maxsize=8)
def _trained(document: str) -> Model:
    model = _read(document)
    return fixed_model(model.layout, model.counts)


def probabilities(layout: Layout, counts: Words, codes: Values) -> NDArray[np.float64]:
    """Of the classes (rows, classes), by noisy counts; they are not calibrated."""
    scores = real_scores(layout, clamped_in_clear(layout, counts), codes)
    best = scores.max(axis=0)
    # Where noise has left no class any patient, all are equally likely.
    shares = np.where(np.isfinite(best), np.exp2(scores - np.where(np.isfinite(best), best, 0)), 1.0)
    found: NDArray[np.float64] = (shares / shares.sum(axis=0)).T
    return found


class ReleasedNaiveBayes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn publishes no types
    """Naive Bayes of several hospitals, from counts with noise that the agreement gives to every one of them.

    It is trained: `fit` changes nothing. Columns are found by their names, so rows come in a data frame; further
    columns are ignored. The labels are those that asking jointly gives. The probabilities are not calibrated: naive
    Bayes takes attributes as independent, so they are mostly too close to 0 or 1.

    Parameters
    ----------
    document : str
        The text of the file that `mixbayes model` wrote.

    Attributes
    ----------
    classes_ : ndarray
        The classes in the order of the agreement; ties go to the one that comes first.
    feature_names_in_ : ndarray
        The columns that are looked at.
    epsilon_, delta_ : float
        What was promised to every patient for the round of this model.
    """

    def __init__(self, document: str) -> None:
        self.document = document

    @property
    def classes_(self) -> NDArray[Any]:
        return np.array(self._model.layout.dictionary.classes)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        return np.array(self._model.layout.dictionary.names, dtype=object)

    @property
    def n_features_in_(self) -> int:
        return len(self._model.layout.dictionary.names)

    @property
    def epsilon_(self) -> float:
        return self._model.epsilon

    @property
    def delta_(self) -> float:
        return self._model.delta

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Nothing: the hospitals have trained it."""
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The labels, as the nodes of the federation give them."""
        model = self._model
        return self.classes_[fixed_labels(model.layout, _trained(self.document), self._codes(X))]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities (rows, classes) of naive Bayes, which are not calibrated."""
        return probabilities(self._model.layout, self._model.counts, self._codes(X))

    def _codes(self, X: Any) -> Values:
        table, _ = read_columns(X)
        names = self._model.layout.dictionary.names
        if missing := [name for name in names if name not in table.names]:
            raise ValueError(f"The rows lack columns of the model: {', '.join(missing)}.")
        cells = [texts_of(table.columns[list(table.names).index(name)]) for name in names]
        return encode_query(self._model.layout.dictionary, Columns.of(names, cells, table.rows)).codes

    @property
    def _model(self) -> ReleasedModel:
        return _read(self.document)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
