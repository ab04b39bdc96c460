"""The flat through a group: k rows drawn with a covariance of rank k - 1 span the flat in which the originals lie.

A flat through rows that are not a group meets no point of whole numbers, one through a group meets the group's k and
whole combinations of them, further out. Some columns are given every whole number that a group can have there; the
others then follow, and must be whole as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np

from mixbayes.local_methods.attacks.claims import Claims
from mixbayes.local_methods.attacks.fractions import SIZES
from mixbayes.local_methods.attacks.view import AttackersView
from mixbayes.local_methods.tables import Floats, Indices

BESIDE = 3
"""Rows of a group are looked for among its k - 1 + so many nearest."""

MOST_POINTS = 4_000
"""In one flat."""

MOST_FLATS = 6_000
TOLERANCE = 1e-6
"""In units: how near to whole numbers a point must be."""

CERTAIN = 40.0
"""Bits by which the columns that follow tell that a point is no chance."""

SAME = 1e-9
INDEPENDENT = 1e-5


def in_flats(seen: AttackersView) -> Claims:
    """Claim the points of whole numbers in the flats through k neighbours."""
    columns = seen.measurements()
    claimed: list[Floats] = []
    tried = 0
    if not _fine(seen, columns):
        return Claims.none(seen)
    for size in SIZES:
        if len(columns) < size:
            continue
        for members in _neighbours(seen, columns, size):
            tried += 1
            if tried > MOST_FLATS:
                break
            claimed += [_row(seen, columns, members, point) for point in _points(seen, columns, members)]
    cells = np.unique(np.array(claimed).reshape(-1, seen.cells.shape[1]), axis=0)
    return Claims(cells, None, tried > MOST_FLATS)


def _fine(seen: AttackersView, columns: Indices) -> bool:
    """Whether released numbers have parts that are finer than the units, without which there is no flat."""
    whole = seen.whole[:, columns]
    fine = (np.abs(whole - np.rint(whole)) > TOLERANCE).mean(axis=0) > 0.5
    return int(fine.sum()) > 1


def _neighbours(seen: AttackersView, columns: Indices, size: int) -> Iterator[Indices]:
    """Sets of neighbours of one class."""
    spread = np.nanstd(seen.cells[:, columns], axis=0)
    done: set[tuple[int, ...]] = set()
    for pool in seen.pools():
        rows = pool[seen.complete(columns)[pool]]
        places = seen.cells[np.ix_(rows, columns)] / spread
        for at in range(len(rows) if len(rows) >= size else 0):
            order = np.argsort(((places - places[at]) ** 2).sum(axis=1), kind="stable")
            for others in combinations(order[1 : size + BESIDE].tolist(), size - 1):
                members = tuple(sorted((at, *others)))
                if members not in done:
                    done.add(members)
                    yield rows[list(members)]


def _points(seen: AttackersView, columns: Indices, members: Indices) -> Floats:
    whole = seen.whole[np.ix_(members, columns)]
    mean, spread = whole.mean(axis=0), np.ptp(whole, axis=0)
    varied = np.flatnonzero(spread > SAME * np.maximum(1, np.abs(mean)))
    still = np.setdiff1d(np.arange(len(columns)), varied)
    if np.any(np.abs(mean[still] - np.rint(mean[still])) > TOLERANCE):
        return np.empty((0, len(columns)))
    away = whole - mean
    given = _independent(away, varied[np.argsort(spread[varied], kind="stable")], len(members) - 1)
    low = np.floor((whole.min(axis=0) - spread)[given])
    counts = np.ceil((whole.max(axis=0) + spread)[given]) + 1 - low
    many, checks = float(np.prod(counts)), len(varied) - len(given)
    if many > MOST_POINTS or -checks * np.log2(2 * TOLERANCE) < np.log2(many * MOST_FLATS) + CERTAIN:
        return np.empty((0, len(columns)))
    ranges = [begin + np.arange(count) for begin, count in zip(low, counts, strict=True)]
    wanted = np.array(list(product(*ranges))) - mean[given]
    found = mean + wanted @ np.linalg.lstsq(away[:, given], away, rcond=None)[0]
    found = found[(np.abs(found - np.rint(found)) <= TOLERANCE).all(axis=1)]
    outwards = ((found - mean) @ np.linalg.pinv(away)) ** 2  # in deviations of the group
    return np.rint(found[np.argsort(outwards.sum(axis=1), kind="stable")[: len(members)]])


def _independent(away: Floats, order: Indices, rank: int) -> list[int]:
    """The first columns in this order that are independent, by Gram and Schmidt."""
    chosen: list[int] = []
    basis = np.empty((len(away), 0))
    for at in order.tolist():
        rest = away[:, at] - basis @ (basis.T @ away[:, at])
        length = np.sqrt(rest @ rest)
        if length > INDEPENDENT * np.sqrt(away[:, at] @ away[:, at]):
            chosen.append(at)
            basis = np.column_stack([basis, rest / length])
        if len(chosen) == rank:
            break
    return chosen


def _row(seen: AttackersView, columns: Indices, members: Indices, point: Floats) -> Floats:
    """The point, and what all of the group have in common elsewhere."""
    first = seen.rounded()[members[0]]
    alike = (seen.cells[members] == seen.cells[members[0]]).all(axis=0)
    row = np.where(alike, first, np.nan)
    row[columns] = point
    return row
