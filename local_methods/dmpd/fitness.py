"""How accurate a partition is: the paper's wrapper, by cross-validation over folds that are dealt out once.

With naive Bayes in every projection the combination of Procedure 3 is naive Bayes on all the features that are used:
Π_k [P(y) Π_i P(x_i | y)] / P(y)^(w−1), and what the normalisations leave out is the same for all classes. So nothing
is trained: the logarithms of P(x_i | y) of every feature and fold are tables, and the scores of a whole population
are one product of matrices. For other learners the scores of a projection are kept, because its features come up in
many partitions.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from threadpoolctl import threadpool_limits

from mixbayes.local_methods.coded import Coded
from mixbayes.local_methods.dmpd.combination import combined, log_laplace
from mixbayes.local_methods.dmpd.inducers import NAIVE_BAYES, Inducer, Placed, Points, inducer_of
from mixbayes.local_methods.dmpd.partition import UNUSED, Population, groups_of
from mixbayes.local_methods.tables import Codes, Floats, Mask

BLOCK = 4096
"""Rows scored at a time, so that the scores of a population fit the cache."""

FINEST = 2.0**-32
"""Logarithms are whole multiples of it, so that sums of those of many thousand features are exact in any order."""

MOST_BYTES = 1 << 28
"""What the kept scores of projections may take."""

Group = tuple[int, ...]


class Fitness(Protocol):
    """The accuracy of each partition of a population."""

    def accuracies(self, population: Population) -> Floats: ...


def fitness(coded: Coded, fold: Codes, inducer: str | ClassifierMixin, n_jobs: int | None = None) -> Fitness:
    """For naive Bayes by counting, for others by learning."""
    if inducer == NAIVE_BAYES:
        return CountedFitness(coded, fold)
    return LearnedFitness(coded, fold, inducer_of(inducer), n_jobs)


class CountedFitness:
    """Naive Bayes, from counts by feature, fold and class."""

    def __init__(self, coded: Coded, fold: Codes) -> None:
        self._coded = coded
        self._fold = fold
        trained = _training_counts(fold, np.zeros(coded.rows, np.int64), coded)[:, 0]
        self._log_prior = whole(log_laplace(trained))
        self._tables = [whole(log_likelihood(_training_counts(fold, code, coded))) for code in coded.codes]
        self._known: dict[bytes, float] = {}

    def accuracies(self, population: Population) -> Floats:
        used = population != UNUSED
        keys = [row.tobytes() for row in used]
        new = list(dict.fromkeys(at for at, key in enumerate(keys) if key not in self._known))
        if new:
            found = self._right(used[new]) / self._coded.rows
            self._known.update(zip([keys[at] for at in new], found.tolist(), strict=True))
        return np.array([self._known[key] for key in keys])

    def _right(self, used: Mask) -> Codes:
        """How many rows each set of features classifies rightly."""
        weights = used.astype(np.float64)
        right = np.zeros(len(used), np.int64)
        for rows in _blocks(self._coded.rows):
            right += (self._labels(weights, rows) == self._coded.labels[rows]).sum(axis=1)
        return right

    def _labels(self, weights: Floats, rows: slice) -> NDArray[np.int8]:
        """The likeliest class, sets × rows; the first of equals."""
        fold = self._fold[rows]
        terms = [table[fold, code[rows]] for table, code in zip(self._tables, self._coded.codes, strict=True)]
        by_class = np.stack(terms, axis=1).transpose(2, 1, 0) if terms else None
        best = np.zeros((len(weights), len(fold)), np.int8)
        top = np.full(best.shape, -np.inf)
        for label in range(self._coded.classes):
            score = self._log_prior[fold, label] + (0 if by_class is None else weights @ by_class[label])
            best[score > top] = label
            np.maximum(top, score, out=top)
        return best


class LearnedFitness:
    """Any other learner; the scores of every projection are learned once, as long as there is room for them."""

    def __init__(self, coded: Coded, fold: Codes, inducer: Inducer, n_jobs: int | None = None) -> None:
        self._coded = coded
        self._fold = fold
        self._inducer = inducer
        self._n_jobs: Any = n_jobs  # joblib takes None, though its types do not say so
        self._placed = Placed(coded)
        trained = _training_counts(fold, np.zeros(coded.rows, np.int64), coded)[:, 0]
        self._log_prior = log_laplace(trained)[fold]
        self._scores: OrderedDict[Group, NDArray[np.float32]] = OrderedDict()
        self._room = max(1, MOST_BYTES // (4 * coded.rows * coded.classes))
        self._known: dict[bytes, float] = {}

    def accuracies(self, population: Population) -> Floats:
        keys = [row.tobytes() for row in population]
        new = {key: groups_of(row) for key, row in zip(keys, population, strict=True) if key not in self._known}
        self._learn({group for groups in new.values() for group in groups})
        for key, groups in new.items():
            self._known[key] = self._accuracy(groups)
        return np.array([self._known[key] for key in keys])

    def _accuracy(self, groups: Sequence[Group]) -> float:
        scores = combined([self._of(group).astype(np.float64) for group in groups], self._log_prior)
        return float((scores.argmax(axis=1) == self._coded.labels).mean())

    def _of(self, group: Group) -> NDArray[np.float32]:
        if group not in self._scores:
            self._keep(group, self._posterior(group))
        self._scores.move_to_end(group)
        return self._scores[group]

    def _learn(self, groups: set[Group]) -> None:
        new = sorted(groups - self._scores.keys())
        if new and effective_n_jobs(self._n_jobs) > 1:
            tasks = (delayed(_learned_alone)(self._inducer, *self._problem(group)) for group in new)
            learned: Any = Parallel(n_jobs=self._n_jobs)(tasks)
            for group, found in zip(new, learned, strict=True):
                self._keep(group, self._rows_of(group, found))

    def _posterior(self, group: Group) -> Floats:
        return self._rows_of(group, _learned(self._inducer, *self._problem(group)))

    def _problem(self, group: Group) -> tuple[Points, NDArray[np.int64]]:
        combination = self._coded.combined(group)
        first = np.empty(int(combination.max()) + 1, np.intp)
        first[combination[::-1]] = np.arange(len(combination))[::-1]
        points = self._placed.points(group, [self._coded.codes[at, first] for at in group])
        return points, _training_counts(self._fold, combination, self._coded)

    def _rows_of(self, group: Group, found: Floats) -> Floats:
        return found[self._fold, self._coded.combined(group)]

    def _keep(self, group: Group, scores: Floats) -> None:
        self._scores[group] = scores.astype(np.float32)
        if len(self._scores) > self._room:
            self._scores.popitem(last=False)


def _learned_alone(inducer: Inducer, points: Points, counts: NDArray[np.int64]) -> Any:
    """In a process that no caller has limited to one thread: several add up in an order of their own."""
    with threadpool_limits(1):
        return _learned(inducer, points, counts)


def _learned(inducer: Inducer, points: Points, counts: NDArray[np.int64]) -> Any:
    """Folds × combinations × classes."""
    return np.stack([inducer.learn(points, of_fold)(points) for of_fold in counts])


def _training_counts(fold: Codes, code: NDArray[Any], coded: Coded) -> NDArray[np.int64]:
    """Folds × values × classes, each fold's of the rows that are not in it."""
    folds, values = int(fold.max()) + 1, int(code.max()) + 1
    cells = (fold * values + code) * coded.classes + coded.labels
    counts = np.bincount(cells, minlength=folds * values * coded.classes).reshape(folds, values, coded.classes)
    return counts.sum(axis=0) - counts


def log_likelihood(counts: NDArray[np.int64]) -> Floats:
    """log P(x | y), Laplace-corrected: … × values × classes."""
    return np.swapaxes(log_laplace(np.swapaxes(counts, -1, -2)), -1, -2)


def whole(logarithms: Floats) -> Floats:
    """In multiples of `FINEST`."""
    return np.rint(logarithms / FINEST)


def _blocks(rows: int) -> Iterator[slice]:
    return (slice(start, start + BLOCK) for start in range(0, rows, BLOCK))
