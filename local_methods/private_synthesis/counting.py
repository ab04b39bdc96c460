"""How many rows have which places in two columns: of a table in memory, or added up over the parts of a large one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Protocol

import numpy as np

from mixbayes.local_methods.errors import UnfitTable
from mixbayes.local_methods.tables import Codes

MOST_CELLS = 1 << 26
"""Of all tables of two columns together, where they are added up over parts."""


class PairCounts(Protocol):
    """Of rows by their places in columns: numbers from zero up to a size."""

    def of_pair(self, one: int, other: int) -> Codes:
        """How many rows have which places in these two columns."""
        ...

    def merged(self, groups: Sequence[Codes]) -> PairCounts:
        """The same where the places of a column have these numbers."""
        ...


@dataclass(frozen=True, eq=False)
class PlacedRows:
    """A table in memory: columns × rows."""

    places: Sequence[Codes] = field(repr=False)
    sizes: tuple[int, ...]

    def of_pair(self, one: int, other: int) -> Codes:
        shape = self.sizes[one], self.sizes[other]
        joint = self.places[one] * shape[1] + self.places[other]
        return np.bincount(joint, minlength=shape[0] * shape[1]).reshape(shape).astype(np.int64)

    def merged(self, groups: Sequence[Codes]) -> PlacedRows:
        found = [group[places] for group, places in zip(groups, self.places, strict=True)]
        return PlacedRows(found, tuple(int(group.max()) + 1 for group in groups))


@dataclass(frozen=True, eq=False)
class PairSums:
    """Counts of all pairs of columns, to which a part of the rows after the other is added."""

    pairs: dict[tuple[int, int], Codes] = field(repr=False)
    sizes: tuple[int, ...]

    @staticmethod
    def none(sizes: Sequence[int]) -> PairSums:
        """Of no rows."""
        pairs = list(combinations(range(len(sizes)), 2))
        cells = sum(sizes[one] * sizes[other] for one, other in pairs)
        if cells > MOST_CELLS:
            raise UnfitTable(
                f"The columns have {cells} pairs of values, too many to be counted in parts (at most {MOST_CELLS}). "
                "Leave out columns of many values, such as names and numbers of patients."
            )
        return PairSums({pair: np.zeros((sizes[pair[0]], sizes[pair[1]]), np.int64) for pair in pairs}, tuple(sizes))

    def add(self, rows: PlacedRows) -> None:
        for pair, counts in self.pairs.items():
            counts += rows.of_pair(*pair)

    def of_pair(self, one: int, other: int) -> Codes:
        return self.pairs[one, other] if one < other else self.pairs[other, one].T

    def merged(self, groups: Sequence[Codes]) -> PairSums:
        sizes = tuple(int(group.max()) + 1 for group in groups)
        found = {(a, b): together(counts, groups[a], groups[b]) for (a, b), counts in self.pairs.items()}
        return PairSums(found, sizes)


def together(counts: Codes, rows: Codes, columns: Codes) -> Codes:
    """A table of counts whose rows and columns of the same group are added up."""
    found = np.zeros((int(rows.max()) + 1, counts.shape[1]), np.int64)
    np.add.at(found, rows, counts)
    both = np.zeros((found.shape[0], int(columns.max()) + 1), np.int64)
    np.add.at(both.T, columns, found.T)
    return both
