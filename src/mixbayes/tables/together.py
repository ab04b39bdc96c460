"""How often every value of a column occurs with every class, for several columns in one pass over the rows.

One count of the combinations of a few columns takes less time than one count for each column. The counts of a column
are then sums over the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import slices
from mixbayes.protocol.attributes.kind import Integers
from mixbayes.tables.cells import Cells

MOST_COMBINATIONS = 1 << 13
"""Of values and classes: their counts stay in the cache."""
STEP = 1 << 13
"""Rows at a time: what is computed of them stays in the cache, and takes no new memory from the system."""


def counted_together(columns: Sequence[Cells], classes: Integers, most: int) -> Iterator[NDArray[np.int64]]:
    """For every column its counts, shaped (values, classes). The classes are below `most`."""
    order = sorted(range(len(columns)), key=lambda at: len(columns[at].values))
    found: dict[int, NDArray[np.int64]] = {}
    for bundle in _bundles([len(columns[at].values) for at in order], most):
        places = [order[at] for at in bundle]
        chosen = [columns[at] for at in places]
        combinations = _combinations(chosen, classes, most)
        for axis, at in enumerate(places):
            others = tuple(other for other in range(len(places)) if other != axis)
            found[at] = combinations.sum(axis=others)
    return (found[at] for at in range(len(columns)))


def _bundles(sizes: Sequence[int], most: int) -> Iterator[list[int]]:
    """Neighbours whose combinations are few enough; a large column is alone."""
    bundle: list[int] = []
    for at, size in enumerate(sizes):
        if bundle and prod(sizes[other] for other in bundle) * size * most > MOST_COMBINATIONS:
            yield bundle
            bundle = []
        bundle.append(at)
    if bundle:
        yield bundle


def _combinations(columns: Sequence[Cells], classes: Integers, most: int) -> NDArray[np.int64]:
    """How often each combination of values and class occurs, an axis for each."""
    shape = (*(len(column.values) for column in columns), most)
    size = prod(shape)
    found = np.zeros(size, np.int64)
    step = max(STEP, size)
    room = np.empty(min(step, len(classes)), np.int64)
    for rows in slices(len(classes), step):
        at = room[: rows.stop - rows.start]
        at[:] = columns[0].codes[rows]
        for column in columns[1:]:
            at *= len(column.values)
            at += column.codes[rows]
        at *= most
        at += classes[rows]
        found += np.bincount(at, minlength=size)
    return found.reshape(shape)
