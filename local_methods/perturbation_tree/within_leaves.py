"""Microaggregation inside the leaves of a perturbation tree: step 6 where leaves are the paper's "large blocks".

Rows that have no leaf get no group.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mixbayes.local_methods.aggregating import NO_GROUP
from mixbayes.local_methods.grouping import Advance
from mixbayes.local_methods.microaggregation.mdav import weighted_mdav
from mixbayes.local_methods.tables import Floats, Indices


def mdav_within(points: Floats, leaf: Indices, k: int, done: Advance) -> Indices:
    """The group of each row: MDAV in every leaf by itself, by the distance as the points are scaled."""
    groups = np.full_like(leaf, NO_GROUP)
    weights = np.ones(points.shape[1])
    formed = 0
    for rows in _members(leaf):
        groups[rows] = formed + weighted_mdav(points[rows], weights, k, done)
        formed = int(groups[rows].max()) + 1
    return groups


def univariate_within(values: Floats, leaf: Indices, k: int) -> Indices:
    """The group of each cell: k in the order of the values of its leaf, and to the last group what remains."""
    groups: Indices = np.full(values.shape, NO_GROUP, dtype=np.intp)
    for column, into in zip(values.T, groups.T, strict=True):
        cells = np.flatnonzero((leaf != NO_GROUP) & ~np.isnan(column))
        into[cells] = groups.max() + 1 + _in_order(column[cells], leaf[cells], k)
    return groups


def _in_order(values: Floats, leaf: Indices, k: int) -> Indices:
    """Groups numbered from 0, leaf by leaf. Equal values of a leaf are grouped as they stand."""
    sizes = np.unique(leaf, return_counts=True)[1]
    formed = np.maximum(sizes // k, 1)
    place = np.arange(len(values)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    within = np.minimum(place // k, np.repeat(formed - 1, sizes))
    groups: Indices = np.empty(len(values), dtype=np.intp)
    groups[np.lexsort((values, leaf))] = np.repeat(np.cumsum(formed) - formed, sizes) + within
    return groups


def _members(leaf: Indices) -> Iterator[Indices]:
    """The rows of each leaf."""
    order = np.argsort(leaf, kind="stable")[np.count_nonzero(leaf == NO_GROUP) :]
    if order.size:
        yield from np.split(order, np.flatnonzero(np.diff(leaf[order])) + 1)
