"""Microaggregation, univariate and multivariate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from mixbayes.local_methods.aggregating import AGGREGATING_CONSTRAINTS, NO_GROUP, Aggregating, grouped_alike
from mixbayes.local_methods.base import RandomState, Work
from mixbayes.local_methods.condensation.condensing import advance
from mixbayes.local_methods.microaggregation.mdav import mdav
from mixbayes.local_methods.tables import Floats, Indices


class Microaggregation(Aggregating):
    """Groups of `k` rows with similar confidential values, each released as the mean of its group.

    With `variant="mdav"` all confidential columns are grouped together, by the distance in them; with "univariate",
    each by itself in the order of its values, so that only each value by itself stands for k rows: a combination of
    values from several columns may still be one person's. Both are as in sdcMicro (there `mdav` and `mafast`, of
    fixed size: k rows to a group, and the last groups take what remains). Other columns and classes are released as
    they are. Groups are formed whatever the class. A group whose values are all equal shows them.

    Parameters
    ----------
    k : int
        Every group has at least so many rows, and at most 2k - 1.
    confidential : list of str or None, default=None
        The numeric columns to replace; None for all. The columns of an array are called x0, x1 and so on.
    variant : {"univariate", "mdav"}, default="mdav"
    missing : {"keep", "fill", "drop"}, default="keep"
        Missing cells stay missing: rows are grouped with rows that lack the same confidential cells, and where these
        are fewer than k, their confidential cells are suppressed. (sdcMicro fills them with the mean of their group,
        which then stands for fewer people than it seems to.) Or cells are filled with the mean or the most frequent
        value of the class first, or their rows dropped.
    random_state : int, Generator, RandomState or None, default=None
        Not used: nothing here is left to chance.

    Attributes
    ----------
    guarantee_ : Guarantee
        The promise, checked on the release.
    groups_ : ndarray of int
        The group of each row, -1 where all confidential cells are missing or suppressed; with "univariate", of each
        confidential cell: rows × columns.
    groups_formed_ : int
        How many groups there are.
    suppressed_cells_ : int
        How many confidential cells are missing that were not.
    missing_ : MissingCells
        What was missing, and what was done about it.
    kept_rows_ : ndarray of int
        The rows that take part: all, unless `missing` is "drop".

    See Also
    --------
    PerturbationTree : groups by the other columns too.

    References
    ----------
    J. Domingo-Ferrer and V. Torra, Ordinal, continuous and heterogeneous k-anonymity through microaggregation, Data
    Mining and Knowledge Discovery 11(2), 2005.

    M. Templ, A. Kowarik and B. Meindl, Statistical disclosure control for micro-data using the R package sdcMicro,
    Journal of Statistical Software 67(4), 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from mixbayes.local_methods import Microaggregation
    >>> released, _ = Microaggregation(k=2).fit_resample(np.array([[1.0], [2.0], [9.0], [11.0]]))
    >>> released.ravel().tolist()
    [1.5, 1.5, 10.0, 10.0]
    """

    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        **AGGREGATING_CONSTRAINTS,
        "k": [Interval(Integral, 2, None, closed="left")],
        "variant": [StrOptions({"univariate", "mdav"})],
    }

    def __init__(
        self,
        *,
        k: int,
        confidential: Sequence[str] | None = None,
        variant: str = "mdav",
        missing: str = "keep",
        random_state: RandomState = None,
    ) -> None:
        self.k = k
        self.confidential = confidential
        self.variant = variant
        self.missing = missing
        self.random_state = random_state

    @property
    def _least(self) -> int:
        return self.k

    @property
    def _jointly(self) -> bool:
        return self.variant == "mdav"

    def _grouped(self, work: Work, at: Sequence[int]) -> Indices:
        values = work.table.numbers(at)
        if not self._jointly:
            return _each_by_itself(values, self.k)
        done = advance(work.progress, work.table.rows)
        return grouped_alike(np.isnan(values), self.k, lambda rows, at: mdav(values[np.ix_(rows, at)], self.k, done))


def univariate(values: Floats, k: int) -> Indices:
    """The group of each value: k in order to each, and to the last what remains; equal ones as they stand."""
    groups: Indices = np.empty(len(values), dtype=np.intp)
    groups[np.argsort(values, kind="stable")] = np.minimum(np.arange(len(values)) // k, len(values) // k - 1)
    return groups


def _each_by_itself(values: Floats, k: int) -> Indices:
    groups: Indices = np.full(values.shape, NO_GROUP, dtype=np.intp)
    for column, into in zip(values.T, groups.T, strict=True):
        present = ~np.isnan(column)
        if present.sum() >= k:
            into[present] = groups.max() + 1 + univariate(column[present], k)
    return groups
