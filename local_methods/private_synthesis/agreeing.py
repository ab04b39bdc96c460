"""Noisy counts that agree: none is negative, and tables that share a column have the same sums over it.

Sums are taken over the first axis, or in order, and nothing but sums, products and quotients is in them: the same on
every processor.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mixbayes.local_methods.tables import Floats

TURNS = 40
"""How often the sums of a table are fitted in turn."""
PRIOR = 1e-3
"""This part of what independence would give is added, so that sums can be fitted where the noisy counts are zeros."""


def summed(table: Floats, axis: int) -> Floats:
    """Over one axis."""
    return np.add.reduce(np.ascontiguousarray(np.moveaxis(table, axis, 0)), axis=0)


def not_negative(counts: Floats, total: float) -> Floats:
    """The nearest counts that are not negative and have this sum: all less the same number, or zero."""
    falling = np.sort(counts.ravel())[::-1]
    above = (np.cumsum(falling) - total) / np.arange(1, falling.size + 1)
    kept = int(np.flatnonzero(falling > above)[-1])
    return np.maximum(counts - above[kept], 0)


def part(numbers: Floats, of: Floats) -> Floats:
    """The quotient; nothing is zero parts of nothing."""
    return np.divide(numbers, of, out=np.zeros(np.broadcast_shapes(numbers.shape, of.shape)), where=of > 0)


def fitted(table: Floats, sums: Sequence[tuple[int, Floats]]) -> Floats:
    """The table with these sums over each axis, by iterative proportional fitting."""
    for _ in range(TURNS):
        for axis, wanted in sums:
            table = table * np.expand_dims(part(wanted, summed(table, axis)), axis)
    return table


def independent(rows: Floats, columns: Floats) -> Floats:
    """What a table of these sums would be if its columns had nothing to do with each other."""
    return part(rows[:, None] * columns, np.cumsum(rows)[-1:])


def agreed(noisy: Floats, rows: Floats, columns: Floats) -> Floats:
    """A table near to the noisy one with these sums of its rows and of its columns."""
    near = not_negative(noisy, float(np.cumsum(rows)[-1]))
    return fitted(near + PRIOR * independent(rows, columns), [(1, rows), (0, columns)])
