"""How well a classifier that learned from a release labels the rows of the original: Li and Xi, section 3.1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixbayes.local_methods.base import Progress, silent
from mixbayes.local_methods.classifiers import CLASSIFIERS, train
from mixbayes.local_methods.measures.detection import confusion
from mixbayes.local_methods.tables import Codes, Nominal, Table

FOLDS = 5


@dataclass(frozen=True, eq=False)
class Labelled:
    """A table and the classes of its rows, of which some may be missing."""

    table: Table
    labels: Nominal

    def known(self) -> Labelled:
        """The rows that have a class."""
        return self.take(np.flatnonzero(~self.labels.missing))

    def take(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> Labelled:
        """These rows."""
        return Labelled(self.table.take(rows), self.labels.take(rows))


@dataclass(frozen=True)
class Accuracy:
    """The share of rows labelled rightly after training on the original, and after training on the release."""

    original: float | None
    released: float | None


@dataclass(frozen=True, eq=False)
class Answers:
    """The confusion matrices of a classifier, one for each time that it was asked: times × classes × classes.

    None for a table that had nothing to learn from.
    """

    original: Codes | None
    released: Codes | None

    @property
    def accuracy(self) -> Accuracy:
        """Of all answers together."""
        return Accuracy(_accuracy(self.original), _accuracy(self.released))


def utility(
    original: Labelled,
    released: Labelled,
    test: Labelled | None = None,
    *,
    seed: int = 0,
    repeats: int = 1,
    progress: Progress = silent,
) -> dict[str, Accuracy]:
    """The accuracies of each of CLASSIFIERS, as `answers` has them."""
    found = answers(original, released, test, seed=seed, repeats=repeats, progress=progress)
    return {name: each.accuracy for name, each in found.items()}


def answers(
    original: Labelled,
    released: Labelled,
    test: Labelled | None = None,
    *,
    seed: int = 0,
    repeats: int = 1,
    progress: Progress = silent,
) -> dict[str, Answers]:
    """The answers of each of CLASSIFIERS. All tables have the same columns, with the same lists of values.

    Without a test table the original is cut into folds, each stratified by class and labelled by what learned from the
    others; it is cut anew for each repeat. The release leaves out the same rows if it has as many as the original, else
    folds of its own: a release whose rows stand in another order still has the tested rows in it, in their new form,
    and looks too good.
    """
    found = {}
    for done, name in enumerate(CLASSIFIERS):
        progress(f"utility: {name}", done, len(CLASSIFIERS))
        trials = [Trial(original, released, test)] if test else _trials(original, released, seed, repeats)
        found[name] = _answers(name, trials, seed)
    return found


@dataclass(frozen=True, eq=False)
class Trial:
    """What is learned from, on either side, and what is asked."""

    original: Labelled
    released: Labelled
    asked: Labelled


def _trials(original: Labelled, released: Labelled, seed: int, repeats: int) -> Iterator[Trial]:
    random = np.random.default_rng(seed)
    for _ in range(repeats):
        fold = _folds(original.labels, random)
        theirs = fold if released.table.rows == original.table.rows else _folds(released.labels, random)
        for number in range(FOLDS):
            yield Trial(original.take(fold != number), released.take(theirs != number), original.take(fold == number))


def _folds(labels: Nominal, random: np.random.Generator) -> NDArray[np.intp]:
    """The fold of each row, dealt class by class in random order."""
    order = np.lexsort((random.random(len(labels)), labels.codes))
    fold = np.empty(len(labels), np.intp)
    fold[order] = np.arange(len(labels)) % FOLDS
    return fold


def _answers(name: str, trials: Iterable[Trial], seed: int) -> Answers:
    both = [
        (_confusion(name, trial.original, trial.asked, seed), _confusion(name, trial.released, trial.asked, seed))
        for trial in trials
    ]
    return Answers(_stacked([before for before, _ in both]), _stacked([after for _, after in both]))


def _confusion(name: str, learn: Labelled, asked: Labelled, seed: int) -> Codes | None:
    """The answers about the rows with a class; nothing where there is nothing to learn from."""
    learn, asked = learn.known(), asked.known()
    if not learn.table.rows:
        return None
    found = train(name, learn.table, learn.labels, seed)(asked.table)
    return confusion(asked.labels.codes, found, len(asked.labels.values))


def _stacked(matrices: Sequence[Codes | None]) -> Codes | None:
    known = [matrix for matrix in matrices if matrix is not None]
    return np.array(known, np.int64) if len(known) == len(matrices) else None


def _accuracy(matrices: Codes | None) -> float | None:
    if matrices is None or not matrices.any():
        return None
    return float(matrices.diagonal(axis1=1, axis2=2).sum() / matrices.sum())
