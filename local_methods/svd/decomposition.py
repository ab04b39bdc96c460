"""Release of a table's leading singular components: the comparators of Li and Xi, after Xu and others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from mixbayes.local_methods.arithmetic.axes import at_right_angles, orthonormal
from mixbayes.local_methods.arithmetic.exact_products import product
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

    def first(self, count: int) -> Components:
        """The largest of them."""
        return Components(self.left[:, :count], self.values[:count], self.right[:count])

    def product(self) -> Floats:
        """The matrix that they make."""
        return product(self.left * self.values, self.right)


def truncate(matrix: Floats, rank: int) -> Components:
    """The components of the nearest matrix of this rank; columns are not centred."""
    return components_of(matrix).first(rank)


def components_of(matrix: Floats) -> Components:
    """All of them, the largest first. The vectors on the left of a component of nothing are zeros."""
    if matrix.shape[0] < matrix.shape[1]:
        turned = components_of(matrix.T)
        return Components(turned.right.T, turned.values, turned.left.T)
    basis, columns = orthonormal(matrix), matrix.shape[1]
    rotated = at_right_angles(np.hstack([product(basis.T, matrix).T, np.eye(columns)]), columns)
    ours, right = rotated[:, :columns], rotated[:, columns:]
    values = np.sqrt((ours * ours).sum(axis=1))
    directions = ours / np.where(values > 0, values, 1)[:, None]
    return Components(product(basis, directions.T), values, right)


def rank_of(matrix: Floats) -> int:
    """How many singular values are more than rounding errors, as numpy has it."""
    values = components_of(_near_one(matrix)[0]).values
    return int((values > values.max(initial=0) * max(matrix.shape) * np.finfo(float).eps).sum())


def _near_one(numbers: Floats) -> tuple[Floats, int]:
    """The numbers divided by a power of two, and its exponent: squares of numbers near one are finite."""
    exponent = int(np.frexp(abs(numbers).max(initial=0))[1])
    return np.ldexp(numbers, -exponent), exponent


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

    BEARS_ROUNDING: ClassVar[bool] = True
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
        numbers, exponent = _near_one(numbers)
        released = self._distorted(truncate(numbers, self.rank)).product()
        size = (numbers**2).sum()
        self.kept_variation_ = float((released**2).sum() / size) if size else 1.0
        return Released(work.table.with_numbers(np.ldexp(released, exponent)), work.labels)

    def _distorted(self, components: Components) -> Components:
        return components

    def _guarantee(self, work: Work, released: Released) -> Guarantee:
        rank = rank_of(released.table.numbers())
        return Guarantee(
            claim=f"The released numbers have a rank of at most {self.rank}; nominal columns are released as they are",
            measured=float(rank),
            holds=rank <= self.rank,
            not_promised="anything about people: a number far from all others stays far from them",
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
