"""Condensation of a whole table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from mixbayes.local_methods.base import RandomState, Work
from mixbayes.local_methods.condensation.condensing import (
    CONDENSING_CONSTRAINTS,
    GROUPINGS,
    LEAST_ROWS,
    Condensing,
    advance,
)
from mixbayes.local_methods.coordinates import weighted_points
from mixbayes.local_methods.domain import Domain
from mixbayes.local_methods.errors import UnfitTable
from mixbayes.local_methods.grouping import Groups

OUTCOME_WEIGHTS = {"random": 1.0, "kmeans": 3.0}
"""By kind of seeds. Kim: the original condensation weighs all attributes alike, the modified one outcomes higher."""


class Condensation(Condensing):
    """Groups of at least `k` similar rows, each replaced by as many drawn with its statistics, and then shuffled.

    With `seeds="random"` this is the original condensation: ⌊n/k⌋ random rows each gather the k-1 nearest that are
    left, and the remaining rows join their nearest seed. With `seeds="kmeans"` it is the modified one: ⌊n/k⌋ clusters
    of k-means, of which the undersized are filled from larger ones, and outcomes such as the class weigh more.

    Distance is Euclidean, in standard deviations for numbers; rows with different values in a nominal column are one
    apart in it, rows of different classes `label_weight`. Numbers have the mean and covariance of their group in
    expectation, the covariance shrunk towards a public one; they are cut off at public bounds and rounded to the unit
    of their column. Values and classes are drawn as often as the group has them. A drawn row can equal an original one.

    Parameters
    ----------
    k : int, default=20
        Every group has at least so many rows. At least 3: a mean and a covariance give two rows away.
    seeds : {"random", "kmeans"}, default="random"
    label_weight : float or None, default=None
        How many times the class, and every column of `outcomes`, counts in distances. More keeps groups of one class
        together: a release with more accurate classifiers, and more groups in which all people have the same class.
        None is as in the papers: 1 in the original condensation, and more, here 3, in the modified one.
    outcomes : list of str or None, default=None
        The columns, other than the class, that are outcomes too. The columns of an array are called x0, x1 and so on.
    distribution : {"gaussian", "uniform"}, default="gaussian"
        What synthetic rows are drawn from along the principal axes of a group.
    missing : {"keep", "fill", "drop"}, default="keep"
        Gaps are drawn anew, as often as the group has them; groups that have fewer than k of a number are then taken
        together. Or cells are filled with the mean or the most frequent value of the class, or their rows dropped.
    domain : dict or None, default=None
        What is public of the columns: the lowest and highest number, or the values. None takes it from the table,
        bounds rounded outwards.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    guarantee_ : Guarantee
        The promise, checked on the release.
    groups_ : ndarray of int
        The group of each row.
    group_size_ : int
        The size that every group has at least, here `k`.
    groups_formed_ : int
        How many groups there are.
    suppressed_cells_ : int
        How many numbers were suppressed, because fewer than k rows have one.
    missing_ : MissingCells
        What was missing, and what was done about it.
    kept_rows_ : ndarray of int
        The rows that take part: all, unless `missing` is "drop".

    See Also
    --------
    ClassWiseCondensation : groups of one class each, of a size that suits all classes.

    References
    ----------
    C. C. Aggarwal and P. S. Yu, A condensation approach to privacy preserving data mining, EDBT 2004.

    D. Kim, Z. Chen and A. Gangopadhyay, Optimizing privacy-accuracy tradeoff for privacy preserving distance-based
    classification, International Journal of Information Security and Privacy 6(2), 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from mixbayes.local_methods import Condensation
    >>> X = np.random.default_rng(0).normal(size=(1000, 2)).round(1)
    >>> method = Condensation(k=10, random_state=0)
    >>> released, _ = method.fit_resample(X)
    >>> bool(np.allclose(np.cov(released.T), np.cov(X.T), atol=0.1)), bool(np.allclose(released, released.round(1)))
    (True, True)
    >>> method.guarantee_.holds, method.guarantee_.people
    (True, None)
    """

    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        **CONDENSING_CONSTRAINTS,
        "k": [Interval(Integral, LEAST_ROWS, None, closed="left")],
        "seeds": [StrOptions(set(GROUPINGS))],
        "label_weight": [Interval(Real, 0, None, closed="left"), None],
        "outcomes": [list, tuple, None],
    }

    def __init__(
        self,
        *,
        k: int = 20,
        seeds: str = "random",
        label_weight: float | None = None,
        outcomes: Sequence[str] | None = None,
        distribution: str = "gaussian",
        missing: str = "keep",
        domain: Domain | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.k = k
        self.seeds = seeds
        self.label_weight = label_weight
        self.outcomes = outcomes
        self.distribution = distribution
        self.missing = missing
        self.domain = domain
        self.random_state = random_state

    def _grouped(self, work: Work) -> tuple[Groups, int]:
        rows = work.table.rows
        if self.k > rows:
            raise UnfitTable(f"No group of k = {self.k} rows can be made of {rows} rows. Choose a smaller k.")
        weight = OUTCOME_WEIGHTS[self.seeds] if self.label_weight is None else self.label_weight
        points = weighted_points(work.table, work.labels, weight, work.table.positions(self.outcomes or ()))
        group = GROUPINGS[self.seeds]
        return group(points, self.k, work.random, advance(work.progress, rows)), self.k
