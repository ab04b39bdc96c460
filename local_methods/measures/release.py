"""The measures of a release, one function each: how far it is from the original, and what it gives away.

Matrices have a row per record and a column per attribute, and not-a-number for a missing cell. A measure that
pairs rows pairs them as they stand and leaves out a pair of cells of which either is missing. A measure that has
no value is not-a-number. VD, RP, RK, CP and CK are those of Li and Xi, section 3.2, whose rule for ties is not
printed: here they share the average of their ranks.
"""

from __future__ import annotations

from collections.abc import Sequence

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

    Kim et al. after Agrawal and Srikant: who sees a released value x knows that the original lies in x plus the
    central `level` of the differences; the width is divided by the attribute's range. Neither paper pairs records of
    a release that was drawn anew; here row i answers for row i. A constant attribute has no width.
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
    before, after = _to_unit(*_paired(original, released))
    size = np.sqrt(np.nansum(before**2))
    return float(np.sqrt(np.nansum((before - after) ** 2)) / size) if size else np.nan


def rp(original: Floats, released: Floats) -> float:
    """By how many ranks a value moves within its attribute, on average."""
    return _moved(*_ranks(original, released))


def rk(original: Floats, released: Floats) -> float:
    """The share of values that keep their rank within their attribute."""
    return _kept(*_ranks(original, released))


def cp(original: Floats, released: Floats) -> float:
    """By how many ranks an attribute moves among the attributes ordered by their means, on average."""
    return _moved(*_ranks_of_means(original, released))


def ck(original: Floats, released: Floats) -> float:
    """The share of attributes that keep their rank among the attributes ordered by their means."""
    return _kept(*_ranks_of_means(original, released))


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
    exponent = np.frexp(max(np.nan_to_num(abs(numbers)).max(initial=0) for numbers in (original, released)))[1]
    return np.ldexp(original, -exponent), np.ldexp(released, -exponent)


def _paired(original: Floats, released: Floats) -> tuple[Floats, Floats]:
    _same_shape(original, released)
    missing = np.isnan(original) | np.isnan(released)
    return np.where(missing, np.nan, original), np.where(missing, np.nan, released)


def _ranks(original: Floats, released: Floats) -> tuple[Floats, Floats]:
    before, after = _paired(original, released)
    return _ranked(before), _ranked(after)


def _ranked(matrix: Floats) -> Floats:
    return np.asarray(rankdata(matrix, axis=0, nan_policy="omit"), np.float64).reshape(matrix.shape)


def _ranks_of_means(original: Floats, released: Floats) -> tuple[Floats, Floats]:
    before, after = ([_told_apart(column) for column in matrix.T] for matrix in _to_unit(original, released))
    return _ranks(np.array(before, np.float64)[:, None], np.array(after, np.float64)[:, None])


def _told_apart(column: Floats) -> float:
    """The mean to so many digits as rounding leaves right: columns of equal means share their rank."""
    mean, largest = _mean(column), np.nan_to_num(abs(column)).max(initial=0)
    return 0.0 if abs(mean) < EXACT * largest else float(f"{mean:.12g}")


def _moved(before: Floats, after: Floats) -> float:
    return _mean(abs(before - after))


def _kept(before: Floats, after: Floats) -> float:
    return _mean(np.where(np.isnan(before), np.nan, before == after))


def _mean(values: Floats) -> float:
    present = values[~np.isnan(values)]
    return float(present.mean()) if len(present) else np.nan
