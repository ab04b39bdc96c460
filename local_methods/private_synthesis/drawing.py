"""Rows drawn from a tree of tables: with integers alone, and closer to the tables than by chance.

Among rows with the same parent each value gets as many rows as its share says, rounded up or down by lot (systematic
sampling); which of them, is drawn. The tables are noisy already, so that nothing is given away by following them
closely.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mixbayes.local_methods.private_synthesis.agreeing import part
from mixbayes.local_methods.tables import Codes, Floats

ONE = 1 << 31
"""What probabilities are parts of."""


@dataclass(frozen=True, eq=False)
class ValueShares:
    """The shares of the values of a column, for each combination of values of its parents."""

    below: Codes = field(repr=False)
    """Combinations × values: the share of this value and those before it, in parts of ONE."""

    @staticmethod
    def of(table: Floats) -> ValueShares:
        """From counts; values of a combination that has no count are equally likely."""
        counts = np.where(np.cumsum(table, axis=1)[:, -1:] > 0, table, 1.0)
        sums = np.cumsum(counts, axis=1)
        below = np.floor(part(sums, sums[:, -1:]) * ONE).astype(np.int64)
        below[:, -1] = ONE
        return ValueShares(below)

    def draw(self, combinations: Codes, random: np.random.Generator) -> Codes:
        """A value for each row, by the combination of its parents' values."""
        rows = len(combinations)
        many = np.bincount(combinations, minlength=len(self.below))
        shuffled = random.permutation(rows)
        short = combinations.astype(np.min_scalar_type(len(self.below)))  # sorting small integers is fast
        order = shuffled[np.argsort(short[shuffled], kind="stable")]
        of_row = combinations[order]
        rank = np.arange(rows) - (np.cumsum(many) - many)[of_row]
        first = random.integers(0, ONE, len(self.below))
        place = (rank * ONE + first[of_row]) // many[of_row]
        ends = (self.below + ONE * np.arange(len(self.below))[:, None]).ravel()
        values = np.searchsorted(ends, place + ONE * of_row, side="right") - self.below.shape[1] * of_row
        drawn = np.empty(rows, np.int64)
        drawn[order] = values
        return drawn


@dataclass(frozen=True, eq=False)
class Drawn:
    """A column that is drawn after its parents."""

    column: int
    parents: tuple[int, ...]
    shares: ValueShares
    within: ValueShares
    """Of the places of the grid in each value, which is a group of them."""


@dataclass(frozen=True, eq=False)
class DrawingTree:
    """How to draw rows: columns in their order, the first of which has no parent."""

    drawn: Sequence[Drawn]
    sizes: tuple[int, ...]
    """How many values each column has."""
    rows: int
    """How many rows the noisy counts say that there are."""

    def draw(self, rows: int, random: np.random.Generator) -> list[Codes]:
        """The places of so many rows, by columns."""
        values: dict[int, Codes] = {}
        for one in self.drawn:
            combinations = np.zeros(rows, np.int64)
            for parent in one.parents:
                combinations = combinations * self.sizes[parent] + values[parent]
            values[one.column] = one.shares.draw(combinations, random)
        return [one.within.draw(values[one.column], random) for one in sorted(self.drawn, key=lambda one: one.column)]
