"""The group size with the most privacy at nearly the best accuracy: Kim's rule-based search, and the exhaustive one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, log2, nan, sqrt
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import train_test_split
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from threadpoolctl import threadpool_limits

from mixbayes.local_methods.arithmetic.nearest_neighbour import NearestNeighbour
from mixbayes.local_methods.base import Progress, RandomState, columns_with_cells, generator, refuse_parameters, silent
from mixbayes.local_methods.classifiers import NAIVE_BAYES, SVM, TREE, train
from mixbayes.local_methods.condensation.class_wise import ClassWiseCondensation
from mixbayes.local_methods.condensation.condensing import CONDENSING_CONSTRAINTS, LEAST_ROWS
from mixbayes.local_methods.condensation.group_size import approximate_gcd
from mixbayes.local_methods.containers import ManyColumns, OneColumn, read_columns, read_labels
from mixbayes.local_methods.coordinates import Coordinates
from mixbayes.local_methods.errors import UnfitTable
from mixbayes.local_methods.measures.release import confidence_interval
from mixbayes.local_methods.tables import Codes, Nominal, Rows, Table

Points = NDArray[np.float32]

TRYING = "trying group sizes"


@dataclass(frozen=True)
class Tried:
    """What a group size gave, on average over the repeats."""

    group_size: int
    accuracy: float
    """The share of test rows that a classifier trained on the release gets right."""
    privacy: float
    """The 95 % confidence interval of a released number, in ranges of its column; not-a-number without any number."""


Try = Callable[[Sequence[int]], Iterator[Tried]]
"""Tries group sizes, in this order."""


class GroupSizeSearch(BaseEstimator):  # type: ignore[misc]  # scikit-learn publishes no types
    """Looks for the group size of class-wise condensation with the most privacy at nearly the best accuracy.

    The rule-based search (Kim, Figure 6) halves the range from `t` to the smallest class at its geometric mean: to the
    smaller sizes where the larger end loses more than `accuracy_gap` of the smaller end's accuracy, else to the larger
    ones. As printed it may run for ever; it ends here where no size is left between the ends. The figure compares the
    absolute difference, which would turn away from larger groups that are also more accurate; here only a loss
    counts. And it returns the size tried last; here, as in the exhaustive search, it is the size with the most privacy
    among all that were tried and lose at most `accuracy_gap` of the best accuracy seen.

    Parameters
    ----------
    t : int, default=20
        The smallest size.
    search : {"rule", "exhaustive"}, default="rule"
    accuracy_gap : float, default=0.05
        The loss of accuracy, in shares of it, that more privacy is worth.
    most_sizes : int or None, default=100
        The exhaustive search tries so many sizes at equal distances; None for every single one.
    classifier : {"naive-bayes", "tree", "svm"}, classifier of scikit-learn or None, default=None
        What is trained on the release: by name those of the measures; None is the nearest neighbour, as in the paper.
    test_share : float, default=0.1
        The share of rows that the accuracy is measured on; they are never condensed.
    repeats : int, default=3
        How often every size is tried.
    distribution, missing
        As of `ClassWiseCondensation`.
    n_jobs : int or None, default=None
        Workers of joblib; its backend, be it Dask or Ray, is the caller's choice with `joblib.parallel_config`.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    tried_ : list of Tried
        Every size that was tried, smallest first.
    best_ : Tried
        The size that was found.
    approximate_gcd_ : int
        The size that class-wise condensation chooses by itself.
    condensation_ : ClassWiseCondensation
        With the size that was found, for `fit_resample`.

    See Also
    --------
    ClassWiseCondensation : the method that is tuned.

    References
    ----------
    D. Kim, Z. Chen and A. Gangopadhyay, Optimizing privacy-accuracy tradeoff for privacy preserving distance-based
    classification, International Journal of Information Security and Privacy 6(2), 2012.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mixbayes.local_methods import GroupSizeSearch
    >>> search = GroupSizeSearch(t=10, repeats=1, random_state=0).fit(*load_iris(return_X_y=True))
    >>> [tried.group_size for tried in search.tried_]
    [10, 21, 31, 37, 41, 43, 44, 45]
    """

    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        **CONDENSING_CONSTRAINTS,
        "t": [Interval(Integral, LEAST_ROWS, None, closed="left")],
        "search": [StrOptions({"rule", "exhaustive"})],
        "accuracy_gap": [Interval(Real, 0, 1, closed="both")],
        "most_sizes": [Interval(Integral, 2, None, closed="left"), None],
        "classifier": [StrOptions({NAIVE_BAYES, TREE, SVM}), HasMethods(["fit", "predict"]), None],
        "test_share": [Interval(Real, 0, 1, closed="neither")],
        "repeats": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        *,
        t: int = 20,
        search: str = "rule",
        accuracy_gap: float = 0.05,
        most_sizes: int | None = 100,
        classifier: str | ClassifierMixin | None = None,
        test_share: float = 0.1,
        repeats: int = 3,
        distribution: str = "gaussian",
        missing: str = "keep",
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.t = t
        self.search = search
        self.accuracy_gap = accuracy_gap
        self.most_sizes = most_sizes
        self.classifier = classifier
        self.test_share = test_share
        self.repeats = repeats
        self.distribution = distribution
        self.missing = missing
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: ManyColumns, y: OneColumn, *, progress: Progress | None = None) -> GroupSizeSearch:
        """Try group sizes on the table and keep the best."""
        refuse_parameters(self)
        table, labels = read_columns(X)[0], read_labels(y)[0]
        columns_with_cells(table)
        trial = self._trial(table, labels)
        smallest = min(int(count) for count in trial.labels.counts() if count)
        if smallest < self.t:
            raise UnfitTable(f"The smallest class has {smallest} training rows, fewer than t = {self.t}. Lower t.")
        self.approximate_gcd_ = approximate_gcd([int(c) for c in trial.labels.counts() if c], self.t)
        tried = self._tried(trial, smallest, progress or silent)
        self.tried_ = sorted(tried, key=lambda one: one.group_size)
        self.best_ = best_of(self.tried_, self.accuracy_gap)
        self.condensation_ = trial.method(self.best_.group_size, self.random_state)
        return self

    def _tried(self, trial: _Trial, smallest: int, progress: Progress) -> list[Tried]:
        def tries(sizes: Sequence[int]) -> Iterator[Tried]:
            return _all_tried(trial, sizes, self.repeats, self.n_jobs)

        if self.search == "rule":
            return rule_based(tries, self.t, smallest, self.accuracy_gap, progress)
        return exhaustive(tries, self.t, smallest, self.most_sizes, progress)

    def _trial(self, table: Table, labels: Nominal) -> _Trial:
        random = generator(self.random_state)
        training, test = _split(labels, self.test_share, int(random.integers(2**31)))
        known = table.select(columns_with_cells(table.take(training)))
        return _Trial(
            known.take(training),
            labels.take(training),
            known.take(test),
            labels.codes[test],
            self.classifier,
            ClassWiseCondensation(t=self.t, distribution=self.distribution, missing=self.missing),
            int(random.integers(2**31)),
        )


def _split(labels: Nominal, test_share: float, seed: int) -> list[Rows]:
    """Rows to learn from and rows to ask about; both have every class, if no class has one row alone."""
    counts = labels.counts()
    stratify = labels.codes if counts[counts > 0].min() > 1 else None
    try:
        parts = train_test_split(np.arange(len(labels)), test_size=test_share, stratify=stratify, random_state=seed)
    except ValueError:
        raise UnfitTable(
            f"{len(labels)} rows are too few: some are learned from and some asked about, and either need every class."
        ) from None
    return [np.sort(part) for part in parts]


def rule_based(tries: Try, low: int, high: int, gap: float, progress: Progress = silent) -> list[Tried]:
    """Figure 6: halve the range at its geometric mean, towards accuracy or towards privacy, until nothing is left."""
    expected = 2 + int(log2(max(high - low, 1)))
    tried = list(tries(sorted({low, high})))
    ends = tried[0], tried[-1]
    while ends[1].group_size - ends[0].group_size > 1:
        progress(TRYING, len(tried), max(expected, len(tried) + 1))
        middle = next(tries([round(sqrt(ends[0].group_size * ends[1].group_size))]))
        tried.append(middle)
        loses = ends[0].accuracy - ends[1].accuracy > gap * ends[0].accuracy
        ends = (ends[0], middle) if loses else (middle, ends[1])
    progress(TRYING, len(tried), len(tried))
    return tried


def exhaustive(tries: Try, low: int, high: int, most: int | None, progress: Progress = silent) -> list[Tried]:
    """Every size of the range, or at most so many at equal distances."""
    count = high - low + 1 if most is None else min(most, high - low + 1)
    sizes = sorted({round(size) for size in np.linspace(low, high, count)})
    tried = []
    for one in tries(sizes):
        tried.append(one)
        progress(TRYING, len(tried), len(sizes))
    return tried


def best_of(tried: Sequence[Tried], gap: float) -> Tried:
    """The one with the most privacy, then the largest, among those that lose at most this share of the best accuracy.

    Without a number in the table nothing measures privacy but the size.
    """
    enough = (1 - gap) * max(one.accuracy for one in tried)
    good = [one for one in tried if one.accuracy >= enough]
    return max(good, key=lambda one: (-1.0 if isnan(one.privacy) else one.privacy, one.group_size))


@dataclass(frozen=True, eq=False)
class _Trial:
    """What one try of a group size needs."""

    table: Table
    labels: Nominal
    test: Table
    test_codes: Codes = field(repr=False)
    classifier: Any
    condensation: ClassWiseCondensation
    seed: int

    def method(self, size: int, random_state: RandomState) -> ClassWiseCondensation:
        """Class-wise condensation with groups of this size."""
        method: Any = clone(self.condensation)
        return method.set_params(k=size, random_state=random_state)

    def once(self, size: int, repeat: int) -> tuple[float, float]:
        """Accuracy and privacy of one release with groups of this size.

        On one thread: whoever has more cores gives each its own tries, with `n_jobs`.
        """
        with threadpool_limits(1):
            return self._once(size, repeat)

    def _once(self, size: int, repeat: int) -> tuple[float, float]:
        seed = int(np.random.SeedSequence([self.seed, size, repeat]).generate_state(1)[0])
        method = self.method(size, seed)
        released, labels = method.fit_resample(self.table, self.labels)
        original = self.table.take(method.kept_rows_)
        accuracy = float((self._given(released, labels) == self.test_codes).mean())
        return accuracy, confidence_interval(original.numbers(), released.numbers()) if original.numeric else nan

    def _given(self, released: Table, labels: Nominal) -> Codes:
        """What the classifier says of the rows asked about. One class needs no learning, and some refuse it."""
        codes = labels.codes
        if isinstance(self.classifier, str):
            return train(self.classifier, released, labels, self.seed)(self.test)
        if (codes == codes[0]).all():
            return np.full(self.test.rows, codes[0])
        place = Coordinates.of(self.table)
        if self.classifier is None:
            return NearestNeighbour().fit(place.points(released), codes).predict(place.points(self.test))
        classifier: Any = clone(self.classifier)
        return classifier.fit(_points(place, released), codes).predict(_points(place, self.test))


def _points(place: Coordinates, table: Table) -> Points:
    return place.points(table).astype(np.float32)  # half the work for most classifiers


def _all_tried(trial: _Trial, sizes: Sequence[int], repeats: int, n_jobs: int | None) -> Iterator[Tried]:
    tasks = (delayed(trial.once)(size, repeat) for size in sizes for repeat in range(repeats))
    results: Iterator[Any] = iter(Parallel(n_jobs=n_jobs, return_as="generator")(tasks) or ())
    for size in sizes:
        found: list[tuple[float, float]] = [next(results) for _ in range(repeats)]
        accuracy, privacy = np.mean(np.array(found), axis=0)
        yield Tried(size, float(accuracy), float(privacy))
