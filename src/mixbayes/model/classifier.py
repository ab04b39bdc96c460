"""A released model as a scikit-learn classifier, and what it shares with the one that is trained here."""

from __future__ import annotations

from abc import abstractmethod
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from mixbayes.local_methods.containers import read_columns
from mixbayes.model.document import ReleasedModel, read_model
from mixbayes.model.frames import texts_of
from mixbayes.protocol.arrays import Values
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model, recipe_scores
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


def _knows_scores(classifier: TableClassifier) -> bool:
    return classifier._scored


class TableClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn publishes no types
    """Naive Bayes of tables whose cells may be texts or missing, with probabilities where scores are known.

    Naive Bayes takes attributes as independent, so probabilities are mostly too close to 0 or 1: they are not
    calibrated.
    """

    @property
    def _scored(self) -> bool:
        """Whether whoever asks may know scores."""
        return True

    @abstractmethod
    def _scores(self, X: Any) -> NDArray[np.float64]:
        """log2 P(class, row) as (rows, classes), up to what all classes share."""

    @available_if(_knows_scores)  # type: ignore[untyped-decorator]
    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithms of P(class, row) as (rows, classes), up to what all classes of a row share."""
        return self._scores(X) * np.log(2)

    @available_if(_knows_scores)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithms of the probabilities (rows, classes), which are not calibrated."""
        return _normalised(self._scores(X)) * np.log(2)

    @available_if(_knows_scores)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities (rows, classes) of naive Bayes, which are not calibrated."""
        return np.exp2(_normalised(self._scores(X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _normalised(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """log2 of the probabilities. Where no class can win, all are equally likely."""
    possible = np.isfinite(scores.max(axis=1, keepdims=True))
    scores = np.where(possible, scores, 0.0)
    relative = scores - scores.max(axis=1, keepdims=True)
    return relative - np.log2(np.exp2(relative).sum(axis=1, keepdims=True))


class ReleasedNaiveBayes(TableClassifier):
    """Naive Bayes of several hospitals, from counts with noise that the agreement gives to every one of them.

    It is trained: `fit` changes nothing. Columns are found by their names, so rows come in a data frame; further
    columns are ignored. The labels are those that asking jointly gives.

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

    def _scores(self, X: Any) -> NDArray[np.float64]:
        return recipe_scores(self._model.layout, self._model.counts, self._codes(X)).T

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
