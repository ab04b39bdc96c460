"""Numbers at which a released column piles up at its end: if a method cuts off at a patient, the pile stands there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mixbayes.local_methods.attacks.claims import Claims
from mixbayes.local_methods.attacks.view import AttackersView
from mixbayes.local_methods.tables import Floats

PILE = 2.0
"""An end is a pile if so many times as many rows are there as at the number beside it."""

LEAST = 2


def by_piles(seen: AttackersView) -> Claims:
    """Claim that somebody has the number of each pile, unless it is a public bound."""
    claimed = []
    for column in seen.measurements():
        public = np.rint(seen.bounds[column] / seen.units[column])
        for value in _piles(seen.rounded()[:, column]):
            if value not in public:
                claimed.append(np.where(np.arange(seen.cells.shape[1]) == column, value, np.nan))
    return Claims(np.array(claimed).reshape(-1, seen.cells.shape[1]))


def _piles(numbers: Floats) -> Iterator[float]:
    values, counts = np.unique(numbers[~np.isnan(numbers)], return_counts=True)
    if len(values) > 2:
        for end, beside in ((0, 1), (-1, -2)):
            if counts[end] >= max(LEAST, PILE * counts[beside]):
                yield float(values[end])
