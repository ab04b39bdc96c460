"""Roy's perturbation tree, after Li and Sarkar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar, cast

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from mixbayes.local_methods.aggregating import AGGREGATING_CONSTRAINTS, Aggregating, grouped_alike
from mixbayes.local_methods.arithmetic.scaling import Scaling, to_scale
from mixbayes.local_methods.base import RandomState, Work
from mixbayes.local_methods.condensation.condensing import advance
from mixbayes.local_methods.errors import BadParameter
from mixbayes.local_methods.grouping import Advance
from mixbayes.local_methods.perturbation_tree.kd_partition import Split, partition
from mixbayes.local_methods.perturbation_tree.subdivision import subdivide
from mixbayes.local_methods.perturbation_tree.within_leaves import mdav_within, univariate_within
from mixbayes.local_methods.tables import Floats, Indices


class PerturbationTree(Aggregating):
    """Leaves of a kd-tree over all numeric columns; confidential values are released as means within their leaves.

    A node is cut across the column with the largest variance, on the scaled table, at its mid-range or its median;
    values that lie on the cut go to one side by lot. Leaves that no column can cut, and blocks, are divided further by
    k-means. A leaf is one group, or it is microaggregated: `within`. The paper lets single records through, unchanged;
    here a cut moves to the nearest place that leaves `min_group` rows on both sides, and smaller clusters join others.
    So the means of the columns are kept, and their variances do not grow. Nominal columns take no part; they, the
    classes and the numeric columns that are not confidential are released as they are. A group whose confidential
    values are all equal shows them.

    Parameters
    ----------
    leaf_size : int
        The largest leaf. Only rows that are the same in all numeric columns may share a larger one, and 2·min_group - 1
        rows that cannot be two groups.
    min_group : int, default=2
        The smallest group, so also the smallest leaf.
    confidential : list of str or None, default=None
        The numeric columns to replace; None for all. The columns of an array are called x0, x1 and so on.
    split : {"midrange", "median"}, default="midrange"
    block_size : int or None, default=None
        Where the tree stops and k-means begins, which divides blocks into leaves. None for a tree down to the leaves.
    within : {"mean", "mdav", "univariate"}, default="mean"
        What is released of a leaf: the mean of all its rows, or the means of groups of `min_group` to 2·min_group - 1
        of them. With "mdav" these are near each other in all confidential columns; with "univariate" each column is
        grouped by itself, and a combination of values may then be one person's, as in `Microaggregation`. Leaves are
        then the paper's "large blocks": take a `leaf_size` of several times `min_group`, such as 50 and 3. The values
        change less than with one mean, and fewer rows share each.
    scaling : {"min-max", "z-score"}, default="min-max"
        What columns are divided by before variances and distances are compared: the range or the standard deviation.
        Take z-scores where single values lie far from all others: they stretch the range, so that what is left has
        hardly any variance, and the column is never cut. A value that is far enough stretches the deviation too; then
        only its removal helps.
    missing : {"keep", "fill", "drop"}, default="keep"
        Missing cells stay missing. A column that is not confidential counts as its mean there. Rows are in a tree with
        rows that lack the same confidential cells, and where these are fewer than `min_group`, their confidential
        cells are suppressed. Or cells are filled with the mean or the most frequent value of the class first, or their
        rows dropped.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    guarantee_ : Guarantee
        The promise, checked on the release.
    groups_ : ndarray of int
        The group of each row, -1 where all confidential cells are missing or suppressed; with "univariate", of each
        confidential cell: rows × columns.
    groups_formed_ : int
        How many groups there are: leaves, or groups within them.
    suppressed_cells_ : int
        How many confidential cells are missing that were not.
    missing_ : MissingCells
        What was missing, and what was done about it.
    kept_rows_ : ndarray of int
        The rows that take part: all, unless `missing` is "drop".

    See Also
    --------
    Microaggregation : groups by the confidential columns alone.

    References
    ----------
    B. Roy, Performance analysis of clustering in privacy preserving data mining.

    X.-B. Li and S. Sarkar, A tree-based data perturbation approach for privacy-preserving data mining, IEEE
    Transactions on Knowledge and Data Engineering 18(9), 2006.

    Examples
    --------
    The paper's Table 4.1: age, years of education, income.

    >>> import numpy as np
    >>> from mixbayes.local_methods import PerturbationTree
    >>> people = [[25, 16, 54], [31, 14, 55], [32, 18, 60], [36, 12, 49], [43, 16, 65], [48, 20, 70], [50, 13, 57]]
    >>> people += [[53, 18, 73], [56, 14, 62]]
    >>> tree = PerturbationTree(leaf_size=3, confidential=["x2"], random_state=0)
    >>> released, _ = tree.fit_resample(np.array(people, dtype=float))
    >>> released[:, 2].round(1).tolist()
    [57.0, 52.0, 57.0, 52.0, 61.3, 71.5, 61.3, 71.5, 61.3]
    """

    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        **AGGREGATING_CONSTRAINTS,
        "leaf_size": [Interval(Integral, 2, None, closed="left")],
        "min_group": [Interval(Integral, 2, None, closed="left")],
        "split": [StrOptions({"midrange", "median"})],
        "block_size": [Interval(Integral, 2, None, closed="left"), None],
        "within": [StrOptions({"mean", "mdav", "univariate"})],
        "scaling": [StrOptions({"min-max", "z-score"})],
    }

    def __init__(
        self,
        *,
        leaf_size: int,
        min_group: int = 2,
        confidential: Sequence[str] | None = None,
        split: str = "midrange",
        block_size: int | None = None,
        within: str = "mean",
        scaling: str = "min-max",
        missing: str = "keep",
        random_state: RandomState = None,
    ) -> None:
        self.leaf_size = leaf_size
        self.min_group = min_group
        self.confidential = confidential
        self.split = split
        self.block_size = block_size
        self.within = within
        self.scaling = scaling
        self.missing = missing
        self.random_state = random_state

    @property
    def _least(self) -> int:
        return self.min_group

    @property
    def _jointly(self) -> bool:
        return self.within != "univariate"

    @property
    def _block_size(self) -> int:
        return self.leaf_size if self.block_size is None else self.block_size

    def _refuse_parameters(self) -> None:
        super()._refuse_parameters()
        if not self.min_group <= self.leaf_size <= self._block_size:
            raise BadParameter(
                f"min_group = {self.min_group}, leaf_size = {self.leaf_size}, block_size = {self._block_size}: "
                "none may be smaller than the one before it."
            )

    def _grouped(self, work: Work, at: Sequence[int]) -> Indices:
        points = work.table.numbers()
        confidential = np.searchsorted(work.table.numeric, at)
        others = np.setdiff1d(np.arange(points.shape[1]), confidential)
        points[:, others] = _filled(points[:, others])
        done = advance(work.progress, work.table.rows * (2 if self.within == "mdav" else 1))

        def leaves(rows: Indices, present: Indices) -> Indices:
            columns = np.sort(np.append(others, confidential[present]))
            every = (len(rows), len(columns)) == points.shape
            return self._leaves(points if every else points[np.ix_(rows, columns)], work.random, done)

        leaf = grouped_alike(np.isnan(points[:, confidential]), self.min_group, leaves)
        if self.within == "univariate":
            return univariate_within(points[:, confidential], leaf, self.min_group)
        if self.within == "mdav":
            scaled = to_scale(_filled(points[:, confidential]), cast(Scaling, self.scaling))
            return mdav_within(scaled, leaf, self.min_group, done)
        return leaf

    def _leaves(self, points: Floats, random: np.random.Generator, done: Advance) -> Indices:
        split, scaling = cast(Split, self.split), cast(Scaling, self.scaling)
        block = partition(points, self._block_size, self.min_group, split, random, scaling)
        return subdivide(points, block, self.leaf_size, self.min_group, random, done, scaling)


def _filled(columns: Floats) -> Floats:
    """Each missing cell as the mean of its column."""
    return np.where(np.isnan(columns), np.nanmean(columns, axis=0), columns) if columns.size else columns
