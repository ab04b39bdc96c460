"""How well a classifier that learned from a release knows the original's rows: Li and Xi, section 3.1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixbayes.local_methods.base import Progress, silent
from mixbayes.local_methods.classifiers import CLASSIFIERS, train
from mixbayes.local_methods.tables import Nominal, Table

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


def utility(
    original: Labelled,
    released: Labelled,
    test: Labelled | None = None,
    *,
    seed: int = 0,
    progress: Progress = silent,
) -> dict[str, Accuracy]:
    """The accuracies of each of CLASSIFIERS. All tables have the same columns, with the same lists of values.

    Without a test table the original is cut into folds, each stratified by class and labelled by what learned from the
    others. The release leaves out the same rows if it has as many as the original, else folds of its own: a release
    whose rows stand in another order still has the tested rows in it, in their new form, and looks too good.
    """
    found = {}
    for done, name in enumerate(CLASSIFIERS):
        progress(f"utility: {name}", done, len(CLASSIFIERS))
        found[name] = _accuracy(name, original, released, test, seed)
    return found


def _accuracy(name: str, original: Labelled, released: Labelled, test: Labelled | None, seed: int) -> Accuracy:
    trials = [Trial(original, released, test)] if test else list(_trials(original, released, seed))
    return Accuracy(
        _share([_right(name, trial.original, trial.asked, seed) for trial in trials]),
        _share([_right(name, trial.released, trial.asked, seed) for trial in trials]),
    )


@dataclass(frozen=True, eq=False)
class Trial:
    """What is learned from, on either side, and what is asked."""

    original: Labelled
    released: Labelled
    asked: Labelled


def _trials(original: Labelled, released: Labelled, seed: int) -> Iterator[Trial]:
    random = np.random.default_rng(seed)
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


def _right(name: str, learn: Labelled, asked: Labelled, seed: int) -> NDArray[np.bool_] | None:
    """Which rows are labelled rightly, of those with a class; nothing where there is nothing to learn from."""
    learn, asked = learn.known(), asked.known()
    if not learn.table.rows:
        return None
    return train(name, learn.table, learn.labels, seed)(asked.table) == asked.labels.codes


def _share(rights: list[NDArray[np.bool_] | None]) -> float | None:
    answers = [right for right in rights if right is not None]
    right = np.concatenate(answers) if len(answers) == len(rights) else np.empty(0, bool)
    return float(right.mean()) if len(right) else None
