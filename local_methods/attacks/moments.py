"""Numbers that are whole when they are summed over a group, if the release keeps the group's sums and covariances.

The originals are multiples of public units. So are a group's sums; and sums of products of two columns are whole in
the units' product. A released row by itself has any fraction; those of a group add up to whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import comb

import numpy as np

from mixbayes.local_methods.attacks.view import AttackersView
from mixbayes.local_methods.tables import Floats, Indices, Mask

MACHINE = 64 * np.finfo(float).eps
"""By how much of its size a released number may be off, after what a method computes."""

WRITTEN = range(-3, 9)
"""Decimal places to which a release may have been rounded."""

USEFUL = 0.1
"""A sum that may be off by more says too little about being whole."""

CERTAIN = 30.0
"""Bits by which a match is better than chance."""

DIFFERENT = 1 / 3
"""Of the rows: with fewer different fractions a column says too little."""

DEVIATIONS = 4.0
"""Of rounding errors, which add up as random ones."""


@dataclass(frozen=True, eq=False)
class Fractions:
    """Of each row the fractions of its cells and products, and how far a group's sum may be from a whole number."""

    rows: Indices
    """Where they stand in the release."""
    values: Floats = field(repr=False)
    tolerances: Floats
    """The smallest first."""

    @property
    def bits(self) -> float:
        """How much a sum of random rows would have to match by chance."""
        return float(-np.log2(2 * self.tolerances).sum())

    def tells_apart(self, size: int) -> bool:
        """Whether a whole sum of so many rows is no chance."""
        rows = len(self.rows)
        return rows >= size and self.bits >= np.log2(comb(rows, size)) + CERTAIN

    def whole(self, members: Indices) -> Mask:
        """Which sets of rows, sets × rows by position here, add up to whole numbers."""
        sums = self.values[members].sum(axis=1)
        return (np.abs(sums - np.rint(sums)) <= self.tolerances).all(axis=1)

    def only(self, left: Mask) -> Fractions:
        """Of these rows alone."""
        return Fractions(self.rows[left], self.values[left], self.tolerances)


def fractions_of(seen: AttackersView, rows: Indices, size: int) -> Fractions:
    """Those that say something about groups of this size."""
    columns = seen.measurements()
    rows = rows[seen.complete(columns)[rows]]
    if not len(rows):
        return Fractions(rows, np.empty((0, 0)), np.empty(0))
    whole = seen.whole[np.ix_(rows, columns)]
    errors = np.array([_error(seen.cells[rows, at]) / seen.units[at] for at in columns]).reshape(len(columns))
    near = whole - np.rint(np.median(whole, axis=0))
    one, other = np.triu_indices(len(columns))
    spread = np.abs(near).max(axis=0)
    values = np.column_stack([near, near[:, one] * near[:, other]])
    off = np.concatenate([errors, spread[one] * errors[other] + spread[other] * errors[one]])
    tolerances = np.maximum(DEVIATIONS * np.sqrt(size) * off, MACHINE)  # zeros have no error
    values -= np.rint(values)
    kept = np.flatnonzero((tolerances < USEFUL) & (different(values, tolerances) > DIFFERENT * len(rows)))
    kept = kept[np.argsort(tolerances[kept], kind="stable")]
    return Fractions(rows, values[:, kept], tolerances[kept])


def different(values: Floats, tolerances: Floats) -> Floats:
    """How many fractions each column has. Means of three whole numbers have but thirds, which match by chance."""
    places = np.sort(np.rint(values / tolerances), axis=0)
    return 1.0 + (np.diff(places, axis=0) > 1).sum(axis=0)


def _error(released: Floats) -> float:
    """How far a released number may be from what the method computed: half a step, if all are multiples of one."""
    size = float(np.abs(released).max(initial=0))
    for digits in WRITTEN:
        scaled = released * 10.0**digits
        if (np.abs(scaled - np.rint(scaled)) <= 1e-6).all():
            return 0.5 * 10.0**-digits / np.sqrt(3)
    return MACHINE * size
