"""Groups that keep their sums and covariances: found by their fractions or by lattice reduction, then solved."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mixbayes.local_methods.attacks.claims import Claims
from mixbayes.local_methods.attacks.fractions import feasible, groups_by_fractions
from mixbayes.local_methods.attacks.moments import fractions_of
from mixbayes.local_methods.attacks.rows_of_group import rows_with
from mixbayes.local_methods.attacks.view import Seen
from mixbayes.local_methods.tables import Floats, Indices, Mask

SIZES = range(3, 7)
"""Of groups that are looked for where nobody knows k."""

NEAR = 0.05
"""A sum that is further from a whole number is not one."""


def by_fractions(seen: Seen, k: int | None = None) -> Claims:
    """Claim every row of the groups that have one solution."""
    groups, cut_off = groups_of(seen, k)
    return _claimed(seen, groups, cut_off)


def groups_of(seen: Seen, k: int | None = None) -> tuple[list[Indices], bool]:
    """The rows of each group, and whether some sizes were too large to try."""
    groups: list[Indices] = []
    cut_off = False
    for pool in seen.pools():
        left: Mask = np.ones(len(pool), bool)
        for size in SIZES if k is None else range(k, 2 * k):
            if not feasible(int(left.sum()), size):
                cut_off |= bool(left.sum() >= size)
                continue
            found = fractions_of(seen, pool[left], size)
            for members in groups_by_fractions(found, size):
                groups.append(found.rows[members])
            left = ~np.isin(pool, np.concatenate(groups)) if groups else left
    return groups, cut_off


def _claimed(seen: Seen, groups: list[Indices], cut_off: bool) -> Claims:
    claimed = [rows for group in groups for rows in [_solved(seen, group)] if rows is not None]
    return Claims(np.vstack([*claimed, np.empty((0, seen.cells.shape[1]))]), None, cut_off)


def _solved(seen: Seen, group: Indices) -> Floats | None:
    """The group's rows, in the columns that are numbers, and in others where all its rows say the same."""
    columns = np.flatnonzero(~seen.nominal)
    whole = seen.whole[np.ix_(group, columns)]
    shift = np.rint(np.nanmedian(whole, axis=0))
    usable = np.array(list(_usable(whole - shift)), np.intp)
    near = (whole - shift)[:, usable]
    tables, ended = rows_with(np.rint(near.sum(axis=0)), np.rint(near.T @ near), len(group))
    if len(tables) != 1 or not ended:
        return None
    claimed = np.full((len(group), seen.cells.shape[1]), np.nan)
    claimed[:, columns[usable]] = tables[0] + shift[usable]
    for at in np.flatnonzero(seen.nominal):
        values = np.unique(seen.cells[group, at])
        claimed[:, at] = values[0] if len(values) == 1 else np.nan
    return claimed


def _usable(near: Floats) -> Iterator[int]:
    """The columns whose sums and products are whole, and that have no gap."""
    for at in range(near.shape[1]):
        sums = np.array([near[:, at].sum(), near[:, at] @ near[:, at]])
        if not np.isnan(sums).any() and (np.abs(sums - np.rint(sums)) < NEAR).all():
            yield at
