"""The classifiers that judge a table, and that label generated samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.multiclass import OneVsOneClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from mixbayes.local_methods.arithmetic.logarithms import log, log2
from mixbayes.local_methods.arithmetic.nearest_neighbour import NearestNeighbour
from mixbayes.local_methods.arithmetic.scaling import ranges
from mixbayes.local_methods.coordinates import APART, indicator_block, indicator_of_value, nominals
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

SMOOTHING = 1e-9
"""Of the largest variance, added to every one."""

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
    return NearestNeighbour()


def _tree(rows: int, seed: int) -> Any:
    """In the place of C4.5: entropy, two rows to a leaf, and a leaf saves more than the log₂ n bits of naming it."""
    price = float(log2(rows)) / rows
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
    """Numbers under a bell curve for each class, nominal values counted, and all of them multiplied.

    As scikit-learn has them, but with sums in one order, and with logarithms that are the same on every processor.
    """

    classes: Codes
    log_prior: Floats
    points: Points
    bells: Sequence[Bells]
    counted: Sequence[Floats]
    """For each nominal column the logarithms of the shares: values × classes."""

    @staticmethod
    def learn(table: Table, labels: Nominal) -> MixedNaiveBayes:
        """From a table and its classes."""
        classes, of_rows = np.unique(labels.codes, return_inverse=True)
        points = Points.of(table)
        scaled = points.scaled(table)
        bells = [Bells.learn(scaled, of_rows, len(classes))] if np.ptp(scaled, axis=0).any() else []
        counted = [_log_shares(column, of_rows, len(classes)) for _, column in nominals(table)]
        return MixedNaiveBayes(classes, log(np.bincount(of_rows) / len(of_rows)), points, bells, counted)

    def predict(self, table: Table) -> Codes:
        """The likeliest class of each row."""
        score = np.tile(self.log_prior, (table.rows, 1))
        for bells in self.bells:
            score += bells(self.points.scaled(table))
        for shares, (_, column) in zip(self.counted, nominals(table), strict=True):
            score += shares[column.codes + 1]
        return self.classes[score.argmax(axis=1)]


@dataclass(frozen=True, eq=False)
class Bells:
    """The mean and the variance of each number in each class: classes × columns."""

    means: Floats
    variances: Floats

    @staticmethod
    def learn(numbers: Floats, classes: Codes, count: int) -> Bells:
        """No variance is zero: a little of the largest is added to all."""
        parts = [numbers[classes == at] for at in range(count)]
        added = SMOOTHING * numbers.var(axis=0).max()
        return Bells(
            np.array([part.mean(axis=0) for part in parts]), np.array([part.var(axis=0) for part in parts]) + added
        )

    def __call__(self, numbers: Floats) -> Floats:
        """The logarithms of the densities of rows: rows × classes."""
        heights = -0.5 * log(2 * np.pi * self.variances).sum(axis=1)
        of_class = zip(self.means, self.variances, heights, strict=True)
        return np.stack(
            [high - 0.5 * ((numbers - mean) ** 2 / var).sum(axis=1) for mean, var, high in of_class], axis=1
        )


def _log_shares(column: Nominal, classes: Codes, count: int) -> Floats:
    """The logarithms of the shares of each value in each class, one added to every count; first, a missing cell's."""
    values = len(column.values) + 1
    counts = np.bincount((column.codes + 1) * count + classes, minlength=values * count).reshape(values, count)
    return log(counts + 1) - log(counts.sum(axis=0) + values)
