"""The value of a parameter with the most privacy at nearly the best accuracy: Kim's search, for other methods too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from mixbayes.local_methods.base import (
    LocalMethod,
    Progress,
    RandomState,
    columns_with_cells,
    generator,
    refuse_parameters,
    silent,
)
from mixbayes.local_methods.classifiers import NAIVE_BAYES, SVM, TREE
from mixbayes.local_methods.containers import ManyColumns, OneColumn, read_columns, read_labels
from mixbayes.local_methods.errors import UnfitTable
from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.local_methods.tuning.privacy import measure_for
from mixbayes.local_methods.tuning.scale import Reach, Scale
from mixbayes.local_methods.tuning.searches import Tried, best_of, exhaustive, rule_based
from mixbayes.local_methods.tuning.trial import Trial, split
from mixbayes.local_methods.tuning.tunable import name_of, scale_of

SEARCH_CONSTRAINTS: Mapping[str, Any] = {
    "search": [StrOptions({"rule", "exhaustive"})],
    "accuracy_gap": [Interval(Real, 0, 1, closed="both")],
    "classifier": [StrOptions({NAIVE_BAYES, TREE, SVM}), HasMethods(["fit", "predict"]), None],
    "test_share": [Interval(Real, 0, 1, closed="neither")],
    "repeats": [Interval(Integral, 1, None, closed="left")],
    "n_jobs": [Integral, None],
}
MOST_TRIED = [Interval(Integral, 2, None, closed="left"), None]


class ParameterSearch(BaseEstimator):  # type: ignore[misc]  # scikit-learn publishes no types
    """Looks for the value of a method's parameter with the most privacy at nearly the best accuracy.

    Kim's rules (Figure 6) speak of group sizes, and need nothing but an order: from values that cost little accuracy
    to values that protect more. The rule-based search halves the range between the two ends: towards accuracy where
    the more private end loses more than `accuracy_gap` of the other's accuracy, else towards privacy. The exhaustive
    search tries values at equal distances. Both return the value with the most privacy among all that were tried and
    lose at most `accuracy_gap` of the best accuracy seen.

    The parameters are `k` of condensation, class-wise condensation, microaggregation and DMPD, `leaf_size` and
    `min_group` of the perturbation tree, `p` of SAP, `rank` of both kinds of SVD, where less is more private, and
    `sparsity`. Sizes are halved at geometric means; shares, in hundredths, and ranks at arithmetic ones.

    Privacy is what the method is about: the 95 % confidence interval where numbers are moved; for SAP, one less the
    risk of re-identification, or of disclosure of the class if that is what it suppresses; for DMPD the level of
    anonymity. Utility is the accuracy on rows that were never released. It measures a release on the very rows that
    the owner has: what is found is the owner's choice, and no promise.

    Parameters
    ----------
    method : local method
        With its other settings; what it has for the parameter and for `random_state` is replaced.
    parameter : str
    low, high : float or None, default=None
        The smallest and the largest value. None for all that there are: groups up to half of the rows, or for
        class-wise condensation from `t` to the smallest class.
    search : {"rule", "exhaustive"}, default="rule"
    accuracy_gap : float, default=0.05
        The loss of accuracy, in shares of it, that more privacy is worth.
    most_values : int or None, default=100
        The exhaustive search tries so many values at equal distances; None for every single one.
    classifier : {"naive-bayes", "tree", "svm"}, classifier of scikit-learn or None, default=None
        What is trained on the release: by name those of the measures; None is the nearest neighbour, as in the paper.
        For DMPD it is what learns from a projection, and None leaves it as it is.
    test_share : float, default=0.1
        The share of rows that the accuracy is measured on; they are never released.
    repeats : int, default=3
        How often every value is tried.
    n_jobs : int or None, default=None
        Workers of joblib; its backend, be it Dask or Ray, is the caller's choice with `joblib.parallel_config`.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    tried_ : list of Tried
        Every value that was tried, smallest first.
    best_ : Tried
        The value that was found.
    method_ : local method
        With that value, for `fit_resample`.
    commonest_ : float
        The accuracy of whoever gives every row the commonest class. A release that does no better says nothing of the
        others, whatever it costs.
    low_, high_ : float
        The smallest and the largest value of the range.
    less_is_private_ : bool
        Whether smaller values are more private, as a rank's are.
    privacy_measure_ : str
        What measures privacy, in words.
    training_rows_ : ndarray of int
        The rows that were released; the others were asked about.

    See Also
    --------
    GroupSizeSearch : the search of the paper, for class-wise condensation.

    References
    ----------
    D. Kim, Z. Chen and A. Gangopadhyay, Optimizing privacy-accuracy tradeoff for privacy preserving distance-based
    classification, International Journal of Information Security and Privacy 6(2), 2012.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mixbayes.local_methods import Microaggregation, ParameterSearch
    >>> search = ParameterSearch(Microaggregation(k=2), "k", high=30, repeats=1, random_state=0)
    >>> [int(tried.value) for tried in search.fit(*load_iris(return_X_y=True)).tried_]
    [2, 8, 15, 21, 25, 27, 28, 29, 30]
    """

    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        **SEARCH_CONSTRAINTS,
        "method": [LocalMethod],
        "parameter": [str],
        "low": [Real, None],
        "high": [Real, None],
        "most_values": MOST_TRIED,
    }

    def __init__(
        self,
        method: LocalMethod,
        parameter: str,
        *,
        low: float | None = None,
        high: float | None = None,
        search: str = "rule",
        accuracy_gap: float = 0.05,
        most_values: int | None = 100,
        classifier: str | ClassifierMixin | None = None,
        test_share: float = 0.1,
        repeats: int = 3,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.method = method
        self.parameter = parameter
        self.low = low
        self.high = high
        self.search = search
        self.accuracy_gap = accuracy_gap
        self.most_values = most_values
        self.classifier = classifier
        self.test_share = test_share
        self.repeats = repeats
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: ManyColumns, y: OneColumn, *, progress: Progress | None = None) -> ParameterSearch:
        """Try values on the table and keep the best."""
        refuse_parameters(self)
        scale = scale_of(name_of(self.method), self.parameter)
        rows = Labelled(read_columns(X)[0], read_labels(y)[0])
        columns_with_cells(rows.table)
        trial = self._trial(rows, scale)
        low, high = self._bounds(trial, scale)
        tried = self._tried(trial, low, high, progress or silent)
        self.tried_ = sorted(tried, key=lambda one: one.value)
        self.best_ = best_of(self.tried_, self.accuracy_gap, scale.less_is_private)
        self.method_ = trial.with_value(self.best_.value, self.random_state)
        self.commonest_ = trial.commonest()
        self.low_, self.high_ = scale.value(low), scale.value(high)
        self.less_is_private_ = scale.less_is_private
        self.privacy_measure_ = trial.measure.told
        return self

    def _trial(self, rows: Labelled, scale: Scale) -> Trial:
        random = generator(self.random_state)
        training, test = split(rows.labels, self.test_share, int(random.integers(2**31)))
        self.training_rows_ = training
        known = columns_with_cells(rows.table.take(training))
        released, asked = (
            Labelled(rows.table.select(known).take(part), rows.labels.take(part)) for part in (training, test)
        )
        seed = int(random.integers(2**31))
        measure = measure_for(self.method, released, seed)
        return Trial(self._method(), self.parameter, scale, released, asked, self.classifier, measure, seed)

    def _method(self) -> LocalMethod:
        method: Any = clone(self.method)
        if self.method.RELEASES_PROJECTIONS and self.classifier is not None:
            method.set_params(inducer=self.classifier)
        return method

    def _bounds(self, trial: Trial, scale: Scale) -> tuple[int, int]:
        """The range as it was asked for, as far as the table allows."""
        reach = scale.bounds(trial.method, trial.training)
        low = reach.low if self.low is None else max(scale.from_value(self.low), reach.low)
        high = reach.high if self.high is None else min(scale.up_to_value(self.high), reach.high)
        if low > high:
            raise UnfitTable(self._nothing_between(scale, reach, low, high))
        return low, high

    def _nothing_between(self, scale: Scale, reach: Reach, low: int, high: int) -> str:
        end = f": {reach.why}" if high == reach.high else ""
        return (
            f"{self.parameter} of {name_of(self.method)} cannot begin at {scale.value(low):g} and end at "
            f"{scale.value(high):g}{end}. Choose another beginning or end."
        )

    def _tried(self, trial: Trial, low: int, high: int, progress: Progress) -> list[Tried]:
        def tries(steps: Sequence[int]) -> Iterator[Tried]:
            return trial.tried(steps, self.repeats, self.n_jobs)

        def told(done: int, total: int) -> None:
            progress(f"trying values of {self.parameter}", done, total)

        if self.search == "exhaustive":
            return exhaustive(tries, low, high, self.most_values, told)
        ends = (high, low) if trial.scale.less_is_private else (low, high)
        return rule_based(tries, *ends, self.accuracy_gap, trial.scale.middle, told)
