"""Groups that keep their sums and covariances: found by their fractions or by lattice reduction, then solved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import or_

import numpy as np

from mixbayes.local_methods.attacks.claims import Claims
from mixbayes.local_methods.attacks.fractions import SIZES, feasible, groups_by_fractions
from mixbayes.local_methods.attacks.lattice import MOST_ROWS, groups_by_lattice
from mixbayes.local_methods.attacks.moments import fractions_of
from mixbayes.local_methods.attacks.rows_of_group import rows_with
from mixbayes.local_methods.attacks.view import AttackersView
from mixbayes.local_methods.tables import Floats, Indices

MOST_PARTS = 2
"""Parts of a class that are searched by lattice reduction."""

NEAR = 0.05
"""A sum that is further from a whole number is not one."""


@dataclass(frozen=True, eq=False)
class FoundGroups:
    """Groups of released rows, and whether there was more to try."""

    groups: list[Indices]
    cut_off: bool

    def __or__(self, other: FoundGroups) -> FoundGroups:
        return FoundGroups(self.groups + other.groups, self.cut_off or other.cut_off)

    def left(self, rows: Indices) -> Indices:
        """The rows that are in no group."""
        return rows[~np.isin(rows, np.concatenate(self.groups))] if self.groups else rows


NOTHING = FoundGroups([], False)


def by_fractions(seen: AttackersView) -> Claims:
    """Claim every row of the groups that are found by their fractions and have one solution."""
    return _claimed(seen, reduce(or_, [_by_fractions(seen, pool) for pool in seen.pools()]))


def by_lattice(seen: AttackersView) -> Claims:
    """Claim every row of the groups that lattice reduction finds and that have one solution."""
    return _claimed(seen, reduce(or_, [_by_lattice(seen, pool) for pool in seen.pools()]))


def _by_fractions(seen: AttackersView, pool: Indices) -> FoundGroups:
    found = NOTHING
    for size in SIZES:
        rows = fractions_of(seen, found.left(pool), size)
        if not rows.tells_apart(size):
            continue
        if not feasible(len(rows.rows), size):
            found |= FoundGroups([], True)
            continue
        groups, cut_off = groups_by_fractions(rows, size)
        found |= FoundGroups([rows.rows[members] for members in groups], cut_off)
    return found


def _by_lattice(seen: AttackersView, pool: Indices) -> FoundGroups:
    """Part by part: the row that is furthest out, whose group is surely near, and the rows nearest to it."""
    found, tried = NOTHING, 0
    left = pool
    while len(left) >= SIZES.start and tried < MOST_PARTS:
        part = _part(seen, left)
        rows = fractions_of(seen, part, MOST_ROWS // 8)
        groups, cut_off = groups_by_lattice(rows)
        found |= FoundGroups([rows.rows[members] for members in groups], cut_off)
        tried += 1
        if len(part) == len(left) or not groups:
            return found
        left = found.left(np.setdiff1d(left, part[:1]))
    return found | FoundGroups([], len(left) >= SIZES.start and bool(found.groups))


def _part(seen: AttackersView, rows: Indices) -> Indices:
    if len(rows) <= MOST_ROWS:
        return rows
    columns = seen.measurements()
    places = np.nan_to_num(seen.cells[np.ix_(rows, columns)])
    places = (places - places.mean(axis=0)) / np.maximum(places.std(axis=0), np.finfo(float).tiny)
    furthest = places[(places**2).sum(axis=1).argmax()]
    return rows[np.argsort(((places - furthest) ** 2).sum(axis=1), kind="stable")[:MOST_ROWS]]


def _claimed(seen: AttackersView, found: FoundGroups) -> Claims:
    claimed = [rows for group in found.groups for rows in [_solved(seen, group)] if rows is not None]
    return Claims(np.vstack([*claimed, np.empty((0, seen.cells.shape[1]))]), None, found.cut_off)


def _solved(seen: AttackersView, group: Indices) -> Floats | None:
    """The group's rows, in the columns that are numbers, and in others where all its rows say the same."""
    columns = seen.measurements()
    whole = seen.whole[np.ix_(group, columns)]
    shift = np.rint(np.nanmedian(whole, axis=0))
    usable = np.array(list(_usable(whole - shift)), np.intp)
    near = (whole - shift)[:, usable]
    tables, ended = rows_with(np.rint(near.sum(axis=0)), np.rint(near.T @ near), len(group))
    if len(tables) != 1 or not ended:
        return None
    claimed = np.full((len(group), seen.cells.shape[1]), np.nan)
    claimed[:, columns[usable]] = tables[0] + shift[usable]
    for at in np.setdiff1d(np.arange(seen.cells.shape[1]), columns):
        values = np.unique(seen.rounded()[group, at])
        claimed[:, at] = values[0] if len(values) == 1 else np.nan
    return claimed


def _usable(near: Floats) -> Iterator[int]:
    """The columns whose sums and products are whole, and that have no gap."""
    for at in range(near.shape[1]):
        sums = np.array([near[:, at].sum(), near[:, at] @ near[:, at]])
        if not np.isnan(sums).any() and (np.abs(sums - np.rint(sums)) < NEAR).all():
            yield at
