"""Condensation class by class, with a group size that suits all classes."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from mixbayes.local_methods.base import RandomState, Work
from mixbayes.local_methods.condensation.condensing import CONDENSING_CONSTRAINTS, LEAST_ROWS, Condensing, advance
from mixbayes.local_methods.condensation.group_size import approximate_gcd, sensitivity, steady_threshold
from mixbayes.local_methods.coordinates import weighted_points
from mixbayes.local_methods.domain import Domain
from mixbayes.local_methods.errors import UnfitTable
from mixbayes.local_methods.grouping import Groups, groups_by_kmeans
from mixbayes.local_methods.tables import Codes, Nominal


class ClassWiseCondensation(Condensing):
    """Modified condensation of each class by itself, so that no group mixes classes (Kim, Figure 5).

    The group size is the approximate greatest common divisor of the class sizes, t·gcd(⌊|C₁|/t⌋, ⌊|C₂|/t⌋, …), unless
    `k` is given. It can change by a large factor if a class gains or loses a single record: `group_size_range_` says
    how much, and `steady_t_` is the next threshold at which it does not. Groups are drawn anew as by `Condensation`.
    Every class keeps its number of rows, and whoever knows a person's group knows the class.

    Parameters
    ----------
    t : int, default=20
        The smallest group size to be considered. At least 3: a mean and a covariance give two rows away.
    k : int or None, default=None
        A group size to be used instead.
    distribution : {"gaussian", "uniform"}, default="gaussian"
        What synthetic rows are drawn from along the principal axes of a group.
    missing : {"keep", "fill", "drop"}, default="keep"
        Gaps are drawn anew, as often as the group has them; groups that have too few of a number are then taken
        together within their class. Or cells are filled with the mean or the most frequent value of the class, or
        their rows dropped.
    domain : dict or None, default=None
        What is public of the columns: the lowest and highest number, or the values. None takes it from the table,
        bounds rounded outwards.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    guarantee_ : Guarantee
        The promise, checked on the release.
    group_size_ : int
        The size that every group has at least.
    group_size_range_ : tuple of int
        The smallest and largest group size with one record more or fewer in one class.
    steady_t_ : int or None
        The smallest threshold from `t` on where both are equal.
    steady_group_size_ : int or None
        The group size it gives.
    groups_ : ndarray of int
        The group of each row.
    groups_formed_ : int
        How many groups there are.
    suppressed_cells_ : int
        How many numbers were suppressed, because fewer rows of a class have one than a group has.
    missing_ : MissingCells
        What was missing, and what was done about it.
    kept_rows_ : ndarray of int
        The rows that take part: all, unless `missing` is "drop".

    See Also
    --------
    GroupSizeSearch : looks for the group size with the most privacy at nearly the best accuracy.

    References
    ----------
    D. Kim, Z. Chen and A. Gangopadhyay, Optimizing privacy-accuracy tradeoff for privacy preserving distance-based
    classification, International Journal of Information Security and Privacy 6(2), 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from mixbayes.local_methods import ClassWiseCondensation
    >>> X = np.random.default_rng(0).normal(size=(25, 2))
    >>> method = ClassWiseCondensation(t=5, random_state=0)
    >>> released, classes = method.fit_resample(X, ["A"] * 15 + ["B"] * 10)
    >>> method.group_size_, method.group_size_range_
    (5, (5, 10))
    """

    NEEDS_CLASS = True
    NOT_PROMISED = (
        "that the class stays hidden: all people of a group have one class, so who knows the group knows it, and class "
        "sizes are exact"
    )
    LEARNED: ClassVar[tuple[str, ...]] = (
        *Condensing.LEARNED,
        "group_size_range",
        "steady_t",
        "steady_group_size",
    )

    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        **CONDENSING_CONSTRAINTS,
        "t": [Interval(Integral, LEAST_ROWS, None, closed="left")],
        "k": [Interval(Integral, LEAST_ROWS, None, closed="left"), None],
    }

    def __init__(
        self,
        *,
        t: int = 20,
        k: int | None = None,
        distribution: str = "gaussian",
        missing: str = "keep",
        domain: Domain | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.t = t
        self.k = k
        self.distribution = distribution
        self.missing = missing
        self.domain = domain
        self.random_state = random_state

    def _grouped(self, work: Work) -> tuple[Groups, int]:
        labels = work.classes
        size = self._group_size(labels)
        points, step = weighted_points(work.table, labels, 0.0), advance(work.progress, work.table.rows)
        groups, begun = np.empty(work.table.rows, np.intp), 0
        for code in np.unique(labels.codes):
            members = np.flatnonzero(labels.codes == code)
            groups[members] = begun + groups_by_kmeans(points.take(members), size, work.random, step)
            begun = int(groups[members].max()) + 1
        return groups, size

    def _pools(self, work: Work) -> Codes:
        return work.classes.codes

    def _group_size(self, labels: Nominal) -> int:
        least, name = (self.t, "t") if self.k is None else (self.k, "k")
        sizes = [int(count) for count in labels.counts() if count]
        _refuse_small_classes(labels, least, name)
        if self.k is not None:
            self.group_size_range_, self.steady_t_, self.steady_group_size_ = (self.k, self.k), None, None
            return self.k
        around, self.steady_t_ = sensitivity(sizes, self.t), steady_threshold(sizes, self.t)
        self.group_size_range_ = (around.lowest, around.highest)
        self.steady_group_size_ = None if self.steady_t_ is None else approximate_gcd(sizes, self.steady_t_)
        return approximate_gcd(sizes, self.t)


MOST_NAMED = 20


def _refuse_small_classes(labels: Nominal, least: int, name: str) -> None:
    small = [
        f"{value!r} has {count}"
        for value, count in zip(labels.values.tolist(), labels.counts(), strict=True)
        if 0 < count < least
    ]
    if small:
        more = f" and {len(small) - MOST_NAMED} more have fewer" if len(small) > MOST_NAMED else ""
        raise UnfitTable(
            f"Every class needs at least {name} = {least} rows; {', '.join(small[:MOST_NAMED])}{more}. "
            f"Lower {name}, merge classes, or remove the rows of the smallest."
        )
