"""Means of groups of whole numbers: a mean at a public bound is everybody's, and one beside it nearly everybody's.

The rows of a group are equal in the columns that were replaced by means, so that groups show themselves.
"""

from __future__ import annotations

import numpy as np

from mixbayes.local_methods.attacks.claims import Claims
from mixbayes.local_methods.attacks.view import AttackersView
from mixbayes.local_methods.tables import Floats, Indices

SAME = 1e-6


def by_group_means(seen: AttackersView) -> Claims:
    """Claim the cells of every group whose sum leaves no choice, or but one person's, where they stand."""
    columns = seen.measurements()
    columns = columns[[_has_parts(seen.whole[:, at]) for at in columns]]
    groups = _groups(seen.cells[:, columns])
    claimed = np.full(seen.cells.shape, np.nan)
    for column in columns:
        claimed[:, column] = _settled(seen, int(column), groups)
    rows = np.flatnonzero(~np.isnan(claimed).all(axis=1))
    return Claims(claimed[rows], rows)


def _has_parts(whole: Floats) -> bool:
    """Whether the column has numbers that are no multiples of its unit, as means have."""
    present = whole[~np.isnan(whole)]
    return bool((np.abs(present - np.rint(present)) > SAME).any())


def _groups(cells: Floats) -> Indices:
    """Of each row."""
    if not cells.shape[1]:
        return np.zeros(len(cells), np.intp)
    return np.unique(cells, axis=0, return_inverse=True)[1].ravel()


def _settled(seen: AttackersView, column: int, groups: Indices) -> Floats:
    """The bound at which a group's mean is, or from which it is one unit of one person away."""
    means = seen.whole[:, column]
    sizes = np.bincount(groups)[groups]
    settled = np.full(len(means), np.nan)
    for bound in np.rint(seen.bounds[column] / seen.units[column]):
        settled[(sizes > 1) & (np.abs(means - bound) * sizes <= 1 + SAME)] = bound
    return settled
