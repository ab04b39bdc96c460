"""Numbers that stand alone at the ends of a released column are taken for those of patients."""

from __future__ import annotations

import numpy as np

from mixbayes.local_methods.attacks.claims import Claims
from mixbayes.local_methods.attacks.view import AttackersView
from mixbayes.local_methods.tables import Floats

ENDS = 3
"""Of the different numbers of a column, so many from either end."""


def by_rare_values(seen: AttackersView) -> Claims:
    """Claim that somebody has each of these numbers, if one released row has it."""
    claimed = [
        _only(seen, column, value) for column in seen.measurements() for value in _rare(seen.rounded()[:, column])
    ]
    return Claims(np.array(claimed).reshape(-1, seen.cells.shape[1]))


def _rare(numbers: Floats) -> Floats:
    values, counts = np.unique(numbers[~np.isnan(numbers)], return_counts=True)
    ends = np.unique(np.append(np.arange(len(values))[:ENDS], np.arange(len(values))[-ENDS:]))
    return values[ends][counts[ends] == 1]


def _only(seen: AttackersView, column: int, value: float) -> Floats:
    claim = np.full(seen.cells.shape[1], np.nan)
    claim[column] = value
    return claim
