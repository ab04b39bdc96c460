"""What a release changes in the spread of columns and in their relations: the bias that Roy, section 2.3, speaks of.

"Similar to SAN and MN, UMA causes bias in the variance of the confidential attributes, as well as in the relationships
between attributes." The paper measures neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixbayes.local_methods.tables import Floats


@dataclass(frozen=True)
class Relations:
    """How far a release is from its original. Not-a-number where no pair of columns has a correlation."""

    deviation: float
    """The standard deviation of a changed column, in those of the original: the mean over these columns."""
    strength: float
    """By how much the absolute correlation of a changed column with another has grown: the mean over these pairs."""
    change: float
    """By how much such a correlation differs, whatever its direction: the mean over these pairs."""

    @staticmethod
    def of(before: Floats, after: Floats, changed: Sequence[int]) -> Relations:
        """Of two tables of numbers, rows × columns, without missing cells; the changed columns by position."""
        ratio = after[:, changed].std(axis=0) / before[:, changed].std(axis=0)
        old, new = (correlations(one, changed) for one in (before, after))
        both = ~np.isnan(old) & ~np.isnan(new)
        if not both.any():
            return Relations(float(np.mean(ratio)), np.nan, np.nan)
        stronger, moved = abs(new[both]) - abs(old[both]), abs(new[both] - old[both])
        return Relations(float(np.mean(ratio)), float(stronger.mean()), float(moved.mean()))


def correlations(columns: Floats, changed: Sequence[int]) -> Floats:
    """Each pair with a changed column once; not-a-number where a column is constant."""
    moving = columns.std(axis=0) > 0
    found = np.full((columns.shape[1],) * 2, np.nan)
    found[np.ix_(moving, moving)] = np.atleast_2d(np.corrcoef(columns[:, moving], rowvar=False))
    pairs = [(one, other) for one in changed for other in range(len(moving)) if _once(one, other, changed)]
    return np.array([found[pair] for pair in pairs])


def _once(one: int, other: int, changed: Sequence[int]) -> bool:
    return other not in changed or one < other
