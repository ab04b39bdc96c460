"""Release of a table's leading singular components: the comparators of Li and Xi, after Xu and others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from mixbayes.local_methods.base import COMMON_CONSTRAINTS, LocalMethod, RandomState, Released, Work
from mixbayes.local_methods.errors import UnfitTable
from mixbayes.local_methods.guarantee import Guarantee
from mixbayes.local_methods.tables import Floats


@dataclass(frozen=True, eq=False)
class Components:
    """Singular vectors and values: `left` has a row per record, `right` a row per component."""

    left: Floats
    values: Floats
    right: Floats

    def product(self) -> Floats:
        """The matrix that they make."""
        return (self.left * self.values) @ self.right


def truncate(matrix: Floats, rank: int) -> Components:
    """The components of the nearest matrix of this rank; columns are not centred."""
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    return Components(left[:, :rank], values[:rank], right[:rank])


def sparsify(components: Components, share: float) -> Components:
    """The components with the smallest entries of both sides made zero, this share of them all.

    The paper has a share of the elements "of the reserved components" and does not say whether each side loses it, or
    both together. Together is what comes nearest to its figures: docs/deviations/sample-generation.md.
    """
    left, right = components.left, components.right
    entries = np.concatenate([left.ravel(), right.ravel()])
    zeroed = int(round(share * len(entries), 9))  # 0.29 of 100 are 29, and a third of 18 are 6
    entries[np.argsort(abs(entries), kind="stable")[:zeroed]] = 0
    return Components(
        entries[: left.size].reshape(left.shape), components.values, entries[left.size :].reshape(right.shape)
    )


class SVD(LocalMethod):
    """The numeric columns as the nearest matrix of a lower rank.

    Columns are not centred and not scaled, as in the paper, so a column of large numbers is kept best. Nominal columns
    and classes are released as they are. The method distorts and hides nobody: it is here to be compared with.

    Parameters
    ----------
    rank : int
        How many singular components are kept; no more than there are rows and numeric columns.
    missing : {"fill", "drop"}, default="fill"
        What is done about missing cells before. The release has none.
    random_state : int, RandomState, Generator or None, default=None
        Not used; nothing is random.

    Attributes
    ----------
    kept_variation_ : float
        The share of the sum of squares of all numbers that is kept.
    guarantee_ : Guarantee
        The rank of the released numbers.

    References
    ----------
    Xu, Zhang, Han and Wang, "Singular value decomposition based data distortion strategy for privacy protection", 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from mixbayes.local_methods.svd.decomposition import SVD
    >>> released, _ = SVD(rank=2).fit_resample(load_iris().data)
    >>> released.shape, int(np.linalg.matrix_rank(released))
    ((150, 4), 2)
    """

    LEARNED: ClassVar[tuple[str, ...]] = ("kept_variation",)
    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        **COMMON_CONSTRAINTS,
        "rank": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, *, rank: int, missing: str = "fill", random_state: RandomState = None) -> None:
        self.rank = rank
        self.missing = missing
        self.random_state = random_state

    def _release(self, work: Work) -> Released:
        numbers = work.table.numbers()
        if self.rank > min(numbers.shape):
            raise UnfitTable(
                f"A table of {numbers.shape[0]} rows and {numbers.shape[1]} numeric columns "
                f"has no rank of {self.rank}. Take a lower rank."
            )
        exponent = np.frexp(abs(numbers).max())[1]  # squares of numbers near one are finite
        numbers = np.ldexp(numbers, -exponent)
        product = self._distorted(truncate(numbers, self.rank)).product()
        size = np.linalg.norm(numbers)
        self.kept_variation_ = float((np.linalg.norm(product) / size) ** 2) if size else 1.0
        return Released(work.table.with_numbers(np.ldexp(product, exponent)), work.labels)

    def _distorted(self, components: Components) -> Components:
        return components

    def _guarantee(self, work: Work, released: Released) -> Guarantee:
        rank = int(np.linalg.matrix_rank(released.table.numbers()))
        return Guarantee(
            claim=f"The released numbers have a rank of at most {self.rank}; nominal columns are released as they are.",
            privacy=False,
            measured=float(rank),
            holds=rank <= self.rank,
        )


class SparsifiedSVD(SVD):
    """`SVD` with the smallest entries of the singular vectors made zero.

    Parameters
    ----------
    rank : int
        As for `SVD`.
    sparsity : float
        The share of the entries of all singular vectors that become zero, from 0 up to but not including 1.
    missing : {"fill", "drop"}, default="fill"
        As for `SVD`.
    random_state : int, RandomState, Generator or None, default=None
        Not used; nothing is random.

    Attributes
    ----------
    kept_variation_ : float
        As for `SVD`; here it can exceed 1.
    zeroed_ : float
        The share of all entries that is zero.
    guarantee_ : Guarantee
        The rank of the released numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mixbayes.local_methods.svd.decomposition import SparsifiedSVD
    >>> method = SparsifiedSVD(rank=2, sparsity=0.45)
    >>> released, _ = method.fit_resample(load_iris().data)
    >>> round(method.zeroed_, 2)
    0.45
    """

    LEARNED: ClassVar[tuple[str, ...]] = ("kept_variation", "zeroed")
    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        **SVD._parameter_constraints,
        "sparsity": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(self, *, rank: int, sparsity: float, missing: str = "fill", random_state: RandomState = None) -> None:
        super().__init__(rank=rank, missing=missing, random_state=random_state)
        self.sparsity = sparsity

    def _distorted(self, components: Components) -> Components:
        sparse = sparsify(components, self.sparsity)
        entries = np.concatenate([sparse.left.ravel(), sparse.right.ravel()])
        self.zeroed_ = float((entries == 0).mean())
        return sparse
