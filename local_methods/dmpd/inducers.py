"""The learners for a projection: a tree in place of C4.5, or any classifier of scikit-learn with probabilities.

A projection has few different rows, each many times. So a learner gets the distinct rows and how often each class has
them, and returns the probability of each class for each of these rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.tree import DecisionTreeClassifier

from mixbayes.local_methods.arithmetic.logarithms import log2
from mixbayes.local_methods.coded import Coded
from mixbayes.local_methods.coordinates import MOST_INDICATORS
from mixbayes.local_methods.dmpd.combination import log_laplace
from mixbayes.local_methods.tables import Codes, Floats

NAIVE_BAYES = "naive-bayes"
TREE = "tree"
INDUCERS = (NAIVE_BAYES, TREE)

Points = NDArray[np.float32]


class Model(Protocol):
    """The logarithms of how likely each class is: points × classes."""

    def __call__(self, asked: Points) -> Floats: ...


class Inducer(ABC):
    """Learns the classes of points."""

    def learn(self, points: Points, counts: Codes) -> Model:
        """From points and how many rows of each class stand there, which may be none."""
        seen = counts.sum(axis=0)
        if np.count_nonzero(seen) < 2:
            return Constant(log_laplace(seen))
        return self._learned(points, counts)

    @abstractmethod
    def _learned(self, points: Points, counts: Codes) -> Model:
        """The same where there are classes to tell apart."""


@dataclass(frozen=True, eq=False)
class Constant:
    """What is learned where there is one class or none."""

    scores: Floats

    def __call__(self, asked: Points) -> Floats:
        return np.tile(self.scores, (len(asked), 1))


@dataclass(frozen=True)
class Tree(Inducer):
    """Entropy, two rows to a leaf, and a leaf saves more than the log₂ n bits of naming it; leaves are corrected.

    C4.5 would cut a nominal feature into all of its values at once and prune by an error estimate.
    """

    def _learned(self, points: Points, counts: Codes) -> Model:
        at, label = np.nonzero(counts)
        weight = counts[at, label].astype(np.float64)
        rows = weight.sum()
        tree: Any = DecisionTreeClassifier(
            criterion="entropy",
            min_weight_fraction_leaf=min(1.5 / rows, 0.5),  # two whole rows
            ccp_alpha=float(log2(rows)) / rows,
            random_state=0,
        )
        tree.fit(points[at], label, sample_weight=weight, check_input=False)
        in_leaf = np.zeros((tree.tree_.node_count, counts.shape[1]))
        np.add.at(in_leaf, tree.tree_.apply(points), counts)
        return Leaves(tree.tree_, log_laplace(in_leaf))


@dataclass(frozen=True, eq=False)
class Leaves:
    """A tree and the corrected class shares of its leaves."""

    tree: Any
    of_leaf: Floats

    def __call__(self, asked: Points) -> Floats:
        return self.of_leaf[self.tree.apply(asked)]


@dataclass(frozen=True)
class AnyClassifier(Inducer):
    """A classifier of scikit-learn; its probabilities are corrected as if they were shares of all training rows."""

    classifier: ClassifierMixin

    def _learned(self, points: Points, counts: Codes) -> Model:
        at, label = np.nonzero(counts)
        times = counts[at, label]
        made: Any = clone(self.classifier)
        made.fit(np.repeat(points[at], times, axis=0), np.repeat(label, times))
        return Shares(made, int(times.sum()), counts.shape[1])


@dataclass(frozen=True, eq=False)
class Shares:
    """A classifier that says how likely each class is."""

    classifier: Any
    rows: int
    classes: int

    def __call__(self, asked: Points) -> Floats:
        shares = np.zeros((len(asked), self.classes))
        shares[:, self.classifier.classes_] = self.classifier.predict_proba(asked)
        return log_laplace(shares * self.rows)


def inducer_of(inducer: str | ClassifierMixin) -> Inducer:
    """The tree, or a classifier of the caller's. Naive Bayes is counted, not learned."""
    return Tree() if isinstance(inducer, str) else AnyClassifier(inducer)


class Placed:
    """Where the values of each feature stand in space.

    Intervals keep their order, a nominal feature of two values is one coordinate, and of more a coordinate for each of
    the most frequent ones; so no column makes the space wide. A code beyond the last is a value never seen.
    """

    def __init__(self, coded: Coded) -> None:
        self._blocks = [_block(coded, at) for at in range(coded.features)]

    def points(self, features: Sequence[int], codes: Sequence[NDArray[Any]]) -> Points:
        """The points of rows, from their codes in these features."""
        blocks = [self._blocks[at][code] for at, code in zip(features, codes, strict=True)]
        return np.ascontiguousarray(np.hstack(blocks))


def _block(coded: Coded, at: int) -> Points:
    """A row for each value of a feature, and one for values never seen."""
    size = int(coded.sizes[at])
    if coded.ordered[at] or size <= 2:
        return np.append(np.arange(size) / max(size - 1, 1), 0.5).astype(np.float32)[:, None]
    frequent = np.argsort(-np.bincount(coded.codes[at], minlength=size), kind="stable")[:MOST_INDICATORS]
    block = np.zeros((size + 1, len(frequent)), np.float32)
    block[frequent, np.arange(len(frequent))] = 1
    return block
