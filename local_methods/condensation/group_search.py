"""The group size with the most privacy at nearly the best accuracy: Kim's rule-based search, and the exhaustive one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, cast

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval

from mixbayes.local_methods.base import Progress, RandomState, refuse_parameters, silent
from mixbayes.local_methods.condensation.class_wise import ClassWiseCondensation
from mixbayes.local_methods.condensation.condensing import CONDENSING_CONSTRAINTS, LEAST_ROWS
from mixbayes.local_methods.condensation.group_size import approximate_gcd
from mixbayes.local_methods.containers import ManyColumns, OneColumn, read_labels
from mixbayes.local_methods.tuning.parameter_search import MOST_TRIED, SEARCH_CONSTRAINTS, ParameterSearch

TRYING = "trying group sizes"


@dataclass(frozen=True)
class Tried:
    """What a group size gave, on average over the repeats."""

    group_size: int
    accuracy: float
    """The share of test rows that a classifier trained on the release gets right."""
    privacy: float
    """The 95 % confidence interval of a released number, in ranges of its column; not-a-number without any number."""


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
    commonest_ : float
        The accuracy of whoever gives every row the commonest class.
    condensation_ : ClassWiseCondensation
        With the size that was found, for `fit_resample`.

    See Also
    --------
    ClassWiseCondensation : the method that is tuned.
    ParameterSearch : the same search for any parameter of any method.

    References
    ----------
    D. Kim, Z. Chen and A. Gangopadhyay, Optimizing privacy-accuracy tradeoff for privacy preserving distance-based
    classification, International Journal of Information Security and Privacy 6(2), 2012.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mixbayes.local_methods import GroupSizeSearch
    >>> search = GroupSizeSearch(t=10, repeats=1, random_state=0).fit(*load_iris(return_X_y=True))
    >>> search.tried_[0].group_size, search.tried_[-1].group_size
    (10, 45)
    """

    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        **CONDENSING_CONSTRAINTS,
        **SEARCH_CONSTRAINTS,
        "t": [Interval(Integral, LEAST_ROWS, None, closed="left")],
        "most_sizes": MOST_TRIED,
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
        told = progress or silent
        found = self._search().fit(X, y, progress=lambda what, done, total: told(TRYING, done, total))
        sizes = read_labels(y)[0].take(found.training_rows_).counts()
        self.approximate_gcd_ = approximate_gcd([int(size) for size in sizes if size], self.t)
        self.tried_ = [Tried(int(one.value), one.accuracy, one.privacy) for one in found.tried_]
        self.best_ = self.tried_[found.tried_.index(found.best_)]
        self.commonest_ = found.commonest_
        self.condensation_ = cast(ClassWiseCondensation, found.method_)
        return self

    def _search(self) -> ParameterSearch:
        return ParameterSearch(
            ClassWiseCondensation(t=self.t, distribution=self.distribution, missing=self.missing),
            "k",
            search=self.search,
            accuracy_gap=self.accuracy_gap,
            most_values=self.most_sizes,
            classifier=self.classifier,
            test_share=self.test_share,
            repeats=self.repeats,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        )
