"""The measures of a release, one function each: how far it is from the original, and what it gives away.

Matrices have a row per record and a column per attribute, and not-a-number for a missing cell. A measure that pairs
rows compares row i with row i, and leaves out a pair of cells if either is missing. A measure without a value is
not-a-number. VD, RP, RK, CP and CK are those of Li and Xi, section 3.2. The paper does not print its rule for ties;
here equal values share the average of their ranks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from scipy.stats import rankdata

from mixbayes.local_methods.measures.alike import combinations, smallest
from mixbayes.local_methods.measures.closeness import t_closeness
from mixbayes.local_methods.measures.clustering import adjusted_rand, misclassification_error
from mixbayes.local_methods.measures.disclosure import attribute_disclosure, reidentification
from mixbayes.local_methods.measures.diversity import distinct_l, entropy_l
from mixbayes.local_methods.measures.utility import utility
from mixbayes.local_methods.tables import Column, Floats

__all__ = [
    "adjusted_rand",
    "attribute_disclosure",
    "ck",
    "confidence_interval",
    "confidence_widths",
    "cp",
    "distinct_l",
    "entropy_l",
    "k_anonymity",
    "misclassification_error",
    "reidentification",
    "rk",
    "rp",
    "t_closeness",
    "utility",
    "vd",
]

LEVEL = 0.95
EXACT = 1e-12


def confidence_widths(original: Floats, released: Floats, level: float = LEVEL) -> Floats:
    """For each attribute, the width of the interval that holds an original value with this confidence, in ranges.

    Kim et al. after Agrawal and Srikant: whoever sees a released value x knows that the original lies in x plus the
    central `level` of the differences; the width is divided by the attribute's range. Neither paper says how to pair
    records of a newly drawn release; here row i is paired with row i. A constant attribute has no width.
    """
    _same_shape(original, released)
    widths = np.full(original.shape[1], np.nan)
    for i, (before, after) in enumerate(zip(original.T, released.T, strict=True)):
        before, after = _to_unit(before, after)
        difference = (before - after)[~np.isnan(before - after)]
        present = before[~np.isnan(before)]
        if len(difference) and np.ptp(present) > 0:
            low, high = np.quantile(difference, [(1 - level) / 2, (1 + level) / 2])
            widths[i] = (high - low) / np.ptp(present)
    return widths


def confidence_interval(original: Floats, released: Floats, level: float = LEVEL) -> float:
    """The mean over attributes of `confidence_widths`."""
    return _mean(confidence_widths(original, released, level))


def vd(original: Floats, released: Floats) -> float:
    """The Frobenius norm of the difference over that of the original."""
    before, after = _paired(original, released)
    exponent = -_exponent(before, after)
    np.ldexp(before, exponent, out=before)
    np.ldexp(after, exponent, out=after)
    np.subtract(before, after, out=after)
    size = _norm(before)
    return _norm(after) / size if size else np.nan


def rp(original: Floats, released: Floats) -> float:
    """By how many ranks a value moves within its attribute, on average."""
    return _moved(_ranks(original, released))


def rk(original: Floats, released: Floats) -> float:
    """The share of values that keep their rank within their attribute."""
    return _kept(_ranks(original, released))


def cp(original: Floats, released: Floats) -> float:
    """By how many ranks an attribute moves among the attributes ordered by their means, on average."""
    return _moved(_ranks_of_means(original, released))


def ck(original: Floats, released: Floats) -> float:
    """The share of attributes that keep their rank among the attributes ordered by their means."""
    return _kept(_ranks_of_means(original, released))


def k_anonymity(columns: Sequence[Column]) -> int | None:
    """How many rows share the rarest combination of cells, a missing cell being equal to a missing one alone.

    None for a table without rows.
    """
    return smallest(combinations(columns, len(columns[0])))


def _same_shape(original: Floats, released: Floats) -> None:
    if original.shape != released.shape:
        raise ValueError(f"Rows are paired, but the tables have {original.shape} and {released.shape} cells.")


def _to_unit(original: Floats, released: Floats) -> tuple[Floats, Floats]:
    """Both times the power of two that brings their largest number to about one: no sum or square overflows."""
    exponent = -_exponent(original, released)
    return np.ldexp(original, exponent), np.ldexp(released, exponent)


def _exponent(*parts: Floats) -> int:
    largest = max(max(np.fmax.reduce(part, None, initial=0), -np.fmin.reduce(part, None, initial=0)) for part in parts)
    return int(np.frexp(largest)[1])


def _norm(matrix: Floats) -> float:
    """The Frobenius norm, missing cells left out; the matrix is used up."""
    matrix[np.isnan(matrix)] = 0
    matrix *= matrix
    return float(np.sqrt(matrix.sum()))


def _paired(original: Floats, released: Floats) -> tuple[Floats, Floats]:
    _same_shape(original, released)
    missing = np.isnan(original) | np.isnan(released)
    return np.where(missing, np.nan, original), np.where(missing, np.nan, released)


def _ranks(original: Floats, released: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Of one attribute after the other, of the pairs that both have."""
    _same_shape(original, released)
    for before, after in zip(original.T, released.T, strict=True):
        present = ~(np.isnan(before) | np.isnan(after))
        yield rankdata(before[present]), rankdata(after[present])


def _ranks_of_means(original: Floats, released: Floats) -> Iterator[tuple[Floats, Floats]]:
    exponent = -_exponent(original, released)
    before, after = (
        [_told_apart(np.ldexp(column, exponent)) for column in matrix.T] for matrix in (original, released)
    )
    return _ranks(np.array(before, np.float64)[:, None], np.array(after, np.float64)[:, None])


def _told_apart(column: Floats) -> float:
    """The mean to the digits that rounding leaves correct, so that columns of equal means share their rank."""
    mean, largest = _mean(column), np.nan_to_num(abs(column)).max(initial=0)
    return 0.0 if abs(mean) < EXACT * largest else float(f"{mean:.12g}")


def _moved(ranks: Iterable[tuple[Floats, Floats]]) -> float:
    return _mean_of(abs(before - after) for before, after in ranks)


def _kept(ranks: Iterable[tuple[Floats, Floats]]) -> float:
    return _mean_of((before == after).astype(np.float64) for before, after in ranks)


def _mean_of(parts: Iterable[Floats]) -> float:
    """Of all numbers; ranks are halves, so that no sum of them is rounded."""
    sums = np.array([(part.sum(), len(part)) for part in parts], np.float64).reshape(-1, 2).sum(axis=0)
    return float(sums[0] / sums[1]) if sums[1] else np.nan


def _mean(values: Floats) -> float:
    present = values[~np.isnan(values)]
    return float(present.mean()) if len(present) else np.nan
