"""The rows of a table by their combination in one set of quasi-identifiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixbayes.local_methods.coded import Small, combined
from mixbayes.local_methods.tables import Codes, Indices


@dataclass(frozen=True, eq=False)
class Groups:
    """Some rows, the number of each one's combination from 0 without gaps, and their classes."""

    rows: Indices
    number: Small
    labels: Codes
    classes: int

    @property
    def many(self) -> int:
        return int(self.number.max()) + 1

    def only(self, where: Indices) -> Groups:
        """Some of these rows."""
        return Groups(
            self.rows[where], combined([(self.number[where], self.many)], len(where)), self.labels[where], self.classes
        )

    def counted(self) -> Codes:
        """The rows of each class in each combination: combinations × classes."""
        return class_counts(self.number, self.labels, self.classes)


class Combinations:
    """The combination of every row: one at first, divided with every refinement (the leaves of the paper's TIPS)."""

    def __init__(self, columns: Sequence[int], labels: Codes, classes: int) -> None:
        self.columns = list(columns)
        self.number = np.zeros(len(labels), np.int32)
        self.smallest = len(labels)
        self._labels, self._classes = labels, classes
        self._many = 1

    def of(self, rows: Indices) -> Groups:
        """The combinations of these rows."""
        number = combined([(self.number[rows], self._many)], len(rows))
        return Groups(rows, number, self._labels[rows], self._classes)

    def divide(self, rows: Indices, side: Small, sides: int) -> Groups:
        """Divide the combinations of these rows, which are all the rows of theirs, by the sides that they fall on."""
        before = self.number[rows]
        number = combined([(before, self._many), (side, sides)], len(rows))
        divided = Groups(rows, number, self._labels[rows], self._classes)
        name = np.empty(divided.many, np.int32)
        name[number] = before  # the first part of a combination keeps its name
        later = np.flatnonzero(np.diff(name, prepend=-1) == 0)
        name[later] = np.arange(self._many, self._many + len(later))
        self._many += len(later)
        self.number[rows] = name[number]
        self.smallest = min(self.smallest, int(np.bincount(number).min()))
        return divided


def class_counts(number: Small, labels: Codes, classes: int) -> Codes:
    """How many rows of each class have each number."""
    many = int(number.max(initial=-1)) + 1
    cells = number.astype(np.int64) * classes + labels
    return np.bincount(cells, minlength=many * classes).reshape(many, classes)
