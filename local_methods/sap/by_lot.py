"""A share of cells suppressed by lot, class by class, and the check that it was this share and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np

from mixbayes.local_methods.tables import MISSING, Codes, Column, Floats, Mask, Nominal, Numeric, Table


def quotas(counts: Codes, share: float) -> Codes:
    """The share of each count, rounded up. A share of 0.07 is seven hundredths, not the binary number above it."""
    exact = Fraction(str(float(share)))
    return np.array([ceil(exact * count) for count in counts.tolist()], np.int64)


def binary_quotas(counts: Codes, share: float) -> Codes:
    """The share of each count, rounded up, as the code of the appendix computes it: 0.07 of a hundred rows is eight."""
    return np.ceil(share * counts).astype(np.int64)


Quotas = Callable[[Codes, float], Codes]


def drawn(
    labels: Nominal, candidates: Mask, share: float, random: np.random.Generator, quotas: Quotas = quotas
) -> Mask:
    """The share of the candidates of each class, rounded up."""
    shuffled = random.permutation(np.flatnonzero(candidates))
    order = shuffled[np.argsort(labels.codes[shuffled], kind="stable")]
    counts = by_class(labels, candidates)
    place = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    hidden = np.zeros(len(candidates), bool)
    hidden[order[place < np.repeat(quotas(counts, share), counts)]] = True
    return hidden


def by_class(labels: Nominal, rows: Mask) -> Codes:
    """How many of these rows each class has."""
    return np.bincount(labels.codes[rows], minlength=len(labels.values)).astype(np.int64)


def suppressed(table: Table, hidden: Mask) -> Table:
    """The table without the cells that are hidden: columns × rows."""
    columns = {
        at: without_numbers(column, rows) if isinstance(column, Numeric) else without(column, rows)
        for at, (column, rows) in enumerate(zip(table.columns, hidden, strict=True))
    }
    return table.with_columns(columns)


def without_numbers(column: Numeric, hidden: Mask) -> Numeric:
    """The numbers, missing where they are hidden."""
    return Numeric(np.where(hidden, np.nan, column.numbers))


def without(column: Nominal, hidden: Mask) -> Nominal:
    """The values, missing where they are hidden."""
    return column.with_codes(np.where(hidden, MISSING, column.codes))


@dataclass(frozen=True, eq=False)
class Verdict:
    """What was found in a released column."""

    shares: Floats
    """Of the candidates of each class that has any, those suppressed."""
    kept: bool
    """Whether the share was suppressed in every class, and nothing else is changed."""


def verdict(
    original: Column, released: Column, labels: Nominal, candidates: Mask, share: float, quotas: Quotas = quotas
) -> Verdict:
    """Whether a column lost the share of its candidates in each class and is otherwise as it was."""
    gone = released.missing & ~original.missing
    counts, candidate_counts = by_class(labels, gone), by_class(labels, candidates)
    some = candidate_counts > 0
    kept = np.array_equal(counts, quotas(candidate_counts, share)) and not (gone & ~candidates).any()
    return Verdict(counts[some] / candidate_counts[some], kept and _same(original, released, ~gone))


def _same(original: Column, released: Column, rows: Mask) -> bool:
    if isinstance(original, Nominal) and isinstance(released, Nominal):
        return np.array_equal(original.codes[rows], released.codes[rows])
    if isinstance(original, Numeric) and isinstance(released, Numeric):
        return np.array_equal(original.numbers[rows], released.numbers[rows], equal_nan=True)
    return False
