"""Groups found by the fractions of their rows: two halves of a group are matched, so that both are few.

A group of five is a pair and a triple whose fractions add up to whole numbers. All pairs and all triples are listed,
and looked up in each other in as many dimensions as tell them apart.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
from scipy.spatial import KDTree

from mixbayes.local_methods.attacks.moments import Fractions, different
from mixbayes.local_methods.tables import Floats, Indices

MOST_HALVES = 1_500_000
"""More are not listed."""

MOST_HITS = 300_000
"""More matches come from rows that are alike, not from groups."""

DIMENSIONS = 4
"""In which halves are looked up, those with the most different fractions; what is found is tried in all others."""

SIZES = range(3, 6)
"""Of groups that are looked for: nobody is told k."""


def feasible(rows: int, size: int) -> bool:
    """Whether all halves can be listed."""
    return comb(rows, size - size // 2) <= MOST_HALVES


def groups_by_fractions(found: Fractions, size: int) -> tuple[list[Indices], bool]:
    """Disjoint groups of this size, by the rows' positions in `found`, and whether the search was cut off."""
    rows = len(found.rows)
    few, many = _subsets(rows, size // 2), _subsets(rows, size - size // 2)
    at = np.argsort(-different(found.values, found.tolerances), kind="stable")[:DIMENSIONS]
    scale = 1 / found.tolerances[at]
    tree = KDTree(_on_circle(_sums(found.values[:, at], many)) * scale, boxsize=scale)
    asked = _on_circle(-_sums(found.values[:, at], few)) * scale
    if tree.query_ball_point(asked, 1.0, p=np.inf, return_length=True).sum() > MOST_HITS:
        return [], True
    hits = tree.query_ball_point(asked, 1.0, p=np.inf)
    pairs = [np.concatenate([few[here], many[there]]) for here, hit in enumerate(hits) for there in hit]
    sets = np.array(pairs, np.intp).reshape(-1, size)
    sets = np.unique(np.sort(sets, axis=1), axis=0)
    sets = sets[(np.diff(sets, axis=1) > 0).all(axis=1)]
    return _disjoint(sets[found.whole(sets)]), False


def _subsets(rows: int, size: int) -> Indices:
    if size == 1:
        return np.arange(rows)[:, None]
    if size == 2:
        return np.column_stack(np.triu_indices(rows, 1))
    flat = np.fromiter((at for subset in combinations(range(rows), size) for at in subset), np.intp)
    return flat.reshape(-1, size)


def _sums(values: Floats, sets: Indices) -> Floats:
    return sum((values[column] for column in sets.T), np.zeros((len(sets), values.shape[1])))


def _on_circle(values: Floats) -> Floats:
    """From 0 to 1, 1 being 0."""
    return np.minimum(np.mod(values, 1.0), np.nextafter(1.0, 0.0))


def _disjoint(sets: Indices) -> list[Indices]:
    taken: set[int] = set()
    groups = []
    for members in sets:
        if taken.isdisjoint(members.tolist()):
            taken.update(members.tolist())
            groups.append(members)
    return groups
