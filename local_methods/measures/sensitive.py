"""How often each group of rows has each sensitive value: what l-diversity and t-closeness are counted from.

A missing value counts for nothing: an attacker may be able to restore it, so it makes no group more diverse.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mixbayes.local_methods.coded import cells_of
from mixbayes.local_methods.tables import Codes, Column, Floats, Indices, Numeric


@dataclass(frozen=True, eq=False)
class Sensitive:
    """The pairs of a group and a value that occur, by group and then by value, and how many rows have each.

    Where every row is a group of its own there are as many pairs as rows, and not a matrix of groups by values.
    """

    groups: Indices = field(repr=False)
    """Numbered from zero; those without any value are left out."""
    values: Indices = field(repr=False)
    """Numbered from zero, numbers in their order."""
    counts: Codes = field(repr=False)
    totals: Codes = field(repr=False)
    """How many rows of the whole table have each value."""
    ordered: bool
    """Whether the values are numbers."""

    @staticmethod
    def of(groups: Indices, column: Column) -> Sensitive:
        """The group of each row, below zero where it is in none, and the sensitive cell of each."""
        present = ~column.missing
        different, value = np.unique(cells_of(column)[present], return_inverse=True)
        group, many = groups[present].astype(np.int64), max(len(different), 1)
        grouped = group >= 0
        pairs, counts = np.unique(group[grouped] * many + value[grouped], return_counts=True)
        _, numbered = np.unique(pairs // many, return_inverse=True)
        totals = np.bincount(value, minlength=len(different))
        return Sensitive(numbered, pairs % many, counts, totals, isinstance(column, Numeric))

    @property
    def empty(self) -> bool:
        """Whether no group has a value."""
        return not len(self.groups)

    def shares(self) -> Floats:
        """Of each pair, the share that the value has in its group."""
        return self.counts / np.bincount(self.groups, self.counts)[self.groups]

    def shares_of_table(self) -> Floats:
        """The share that each value has in the whole table."""
        return self.totals / self.totals.sum()
