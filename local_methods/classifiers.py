"""The classifiers that judge a table, and that generated samples are labelled by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.multiclass import OneVsOneClassifier
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from mixbayes.local_methods.coordinates import APART, indicator_block, indicator_of_value, nominals
from mixbayes.local_methods.scaling import ranges
from mixbayes.local_methods.tables import Codes, Floats, Nominal, Table

Predict = Callable[[Table], Codes]
"""The codes of the classes of a table's rows. Its nominal columns have the lists of values of the training table."""

NEAREST_NEIGHBOUR = "nearest-neighbour"
NAIVE_BAYES = "naive-bayes"
TREE = "tree"
SVM = "svm"
FAR = 1e30
"""Further out no point stands: trees read single precision."""
INTERCEPT = 10
"""liblinear charges for the intercept as for any weight; a large constant feature makes it nearly free."""

CLASSIFIERS = (NEAREST_NEIGHBOUR, NAIVE_BAYES, TREE, SVM)


def train(classifier: str | ClassifierMixin, table: Table, labels: Nominal, seed: int) -> Predict:
    """What this classifier, one of CLASSIFIERS or scikit-learn's, learns. One class needs no learning."""
    if len(np.unique(labels.codes)) == 1:
        only = labels.codes[0]
        return lambda asked: np.full(asked.rows, only)
    if classifier == NAIVE_BAYES:
        return MixedNaiveBayes.learn(table, labels).predict
    points = Points.of(table)
    made: Any = MAKERS[classifier](table.rows, seed) if isinstance(classifier, str) else clone(classifier)
    learned = made.fit(points.place(table), labels.codes)
    return lambda asked: learned.predict(points.place(asked)) if asked.rows else np.empty(0, np.int64)


def _nearest_neighbour(rows: int, seed: int) -> Any:
    return KNeighborsClassifier(n_neighbors=1)


def _tree(rows: int, seed: int) -> Any:
    """In the place of C4.5: entropy, two rows to a leaf, and a leaf saves more than the log₂ n bits of naming it."""
    price = np.log2(rows) / rows
    return DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, ccp_alpha=price, random_state=seed)


def _svm(rows: int, seed: int) -> Any:
    """Linear, between any two classes, as Weka's default is. Its time grows with the rows, not with their square."""
    primal = LinearSVC(intercept_scaling=INTERCEPT, random_state=seed)
    primal.set_params(dual=False)  # the dual may not converge; set here, since type checkers know it as a text only
    return OneVsOneClassifier(primal)


MAKERS: Mapping[str, Callable[[int, int], Any]] = {
    NEAREST_NEIGHBOUR: _nearest_neighbour,
    TREE: _tree,
    SVM: _svm,
}


@dataclass(frozen=True, eq=False)
class Points:
    """Where rows stand in space: numbers on the range of the table, different nominal values at a distance of one.

    A missing number is the table's mean, a missing nominal cell a value of its own; so is, for each column, whatever
    lies beyond the most frequent values.
    """

    size: Floats
    """What numbers are divided by first, so that their sums and ranges are finite."""
    low: Floats
    span: Floats
    mean: Floats
    indicators: Mapping[int, Codes]

    @staticmethod
    def of(table: Table) -> Points:
        """The space that a table spans. A column without a number is all zeros."""
        numbers = table.numbers()
        gone = np.isnan(numbers)
        largest = np.where(gone, 0, abs(numbers)).max(axis=0, initial=0)
        size = np.where(largest > 0, largest, 1)
        numbers = numbers / size
        mean = np.where(gone, 0, numbers).sum(axis=0) / np.maximum(1, (~gone).sum(axis=0))
        filled = np.where(gone, mean, numbers)
        indicators = {at: indicator_of_value(column) for at, column in nominals(table)}
        return Points(size, filled.min(axis=0), ranges(filled), mean, indicators)

    def scaled(self, table: Table) -> Floats:
        """The numeric columns on the range of the table that spans the space."""
        with np.errstate(over="ignore"):
            numbers = table.numbers() / self.size
            scaled = (np.where(np.isnan(numbers), self.mean, numbers) - self.low) / self.span
        return np.clip(scaled, -FAR, FAR)

    def place(self, table: Table) -> Floats:
        """The points of a table's rows."""
        blocks = [APART * indicator_block(column, self.indicators[at]) for at, column in nominals(table)]
        return np.hstack([self.scaled(table), *blocks])


@dataclass(frozen=True, eq=False)
class MixedNaiveBayes:
    """Numbers under a bell curve for each class, nominal values counted, and all of them multiplied."""

    classes: Codes
    log_prior: Floats
    points: Points
    bell: Any
    counted: Any

    @staticmethod
    def learn(table: Table, labels: Nominal) -> MixedNaiveBayes:
        """From a table and its classes."""
        classes, counts = np.unique(labels.codes, return_counts=True)
        points = Points.of(table)
        scaled = points.scaled(table)
        bell = GaussianNB().fit(scaled, labels.codes) if np.ptp(scaled, axis=0).any() else None
        lists = [len(column.values) + 1 for _, column in nominals(table)]
        counted = CategoricalNB(min_categories=lists).fit(_from_one(table), labels.codes) if lists else None
        return MixedNaiveBayes(classes, np.log(counts / counts.sum()), points, bell, counted)

    def predict(self, table: Table) -> Codes:
        """The likeliest class of each row."""
        if not table.rows:
            return np.empty(0, np.int64)
        score = np.tile(self.log_prior, (table.rows, 1))
        for half, rows in ((self.bell, self.points.scaled), (self.counted, _from_one)):
            if half is not None:
                score += half.predict_joint_log_proba(rows(table)) - self.log_prior
        return self.classes[score.argmax(axis=1)]


def _from_one(table: Table) -> Codes:
    """The codes of the nominal columns, counted from one; a missing cell is 0."""
    return np.column_stack([column.codes + 1 for _, column in nominals(table)])
