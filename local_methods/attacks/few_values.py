"""Released rows in the columns of few values alone: flags, codes and names, where a drawn row can be a patient's."""

from __future__ import annotations

import numpy as np

from mixbayes.local_methods.attacks.claims import Claims
from mixbayes.local_methods.attacks.view import AttackersView
from mixbayes.local_methods.tables import Indices

FEW = 10
"""Different numbers in a column."""

LEAST = 5
"""Columns: fewer have combinations that many people share."""


def by_few_values(seen: AttackersView) -> Claims:
    """Claim that somebody has each combination that stands alone in the release."""
    columns = _of_few_values(seen)
    if len(columns) < LEAST:
        return Claims.none(seen)
    combinations, counts = np.unique(seen.rounded()[:, columns], axis=0, return_counts=True)
    alone = combinations[counts == 1]
    claimed = np.full((len(alone), seen.cells.shape[1]), np.nan)
    claimed[:, columns] = alone
    return Claims(claimed)


def _of_few_values(seen: AttackersView) -> Indices:
    cells = seen.rounded().T
    few = [len(np.unique(column[~np.isnan(column)])) <= FEW for column in cells]
    return np.flatnonzero(seen.nominal | np.array(few))
