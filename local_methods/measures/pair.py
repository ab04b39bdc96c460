"""An original and its release, brought to the same columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from mixbayes.local_methods.errors import UnfitTable
from mixbayes.local_methods.measures.alignment import aligned, same_values, together
from mixbayes.local_methods.measures.asked import Undefined
from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.local_methods.tables import Column, Floats, Nominal, Table

SURE = 4.0
"""Deviations beyond which no chance brings what is found."""


@dataclass(frozen=True, eq=False)
class Sought:
    """The column that an attacker wants to know of somebody, of either table; the reason, if there is none."""

    name: str | None
    columns: tuple[Column, Column] | None
    no_columns: str = ""


@dataclass(frozen=True, eq=False)
class Pair:
    """Two tables with the same columns, and rows to test classifiers on."""

    original: Table
    released: Table
    labels: tuple[Nominal, Nominal] | None
    test: Labelled | None
    no_labels: str
    """Why there are no labels, if there are none."""
    sought: Sought

    @staticmethod
    def of(
        original: Table, released: Table, class_column: str | None, test: Table | None, sensitive: str | None = None
    ) -> Pair:
        """The attributes that both have, and the class if both have it; what is sensitive, by default the class."""
        for named in (class_column, sensitive):
            if named is not None:
                original.position(named)
        names = [name for name in original.names if name in released.names and name != class_column]
        if not names:
            raise UnfitTable("The two tables have no attribute in common. Compare a table with its own release.")
        if not original.rows:
            raise UnfitTable("The original has no row.")
        sides = [original, released, *([test] if test else [])]
        tables = aligned(sides, names)
        no_labels = _no_labels(released, class_column)
        if no_labels or class_column is None:
            sought = _sought(original, released, sensitive, Sought(None, None, no_labels))
            return Pair(tables[0], tables[1], None, None, no_labels, sought)
        labels = same_values([table.column(class_column) for table in sides])
        asked = Labelled(tables[2], labels[2]) if test else None
        of_class = Sought(class_column, (labels[0], labels[1]))
        sought = _sought(original, released, sensitive, of_class)
        return Pair(tables[0], tables[1], (labels[0], labels[1]), asked, "", sought)

    @property
    def classes(self) -> int:
        """How many there are, 0 without a class."""
        return len(self.labels[0].values) if self.labels else 0

    def numbers(self) -> tuple[Floats, Floats]:
        """The numeric columns of both."""
        if not self.original.numeric:
            raise Undefined("the tables share no numeric attribute")
        return self.original.numbers(), self.released.numbers()

    def paired_numbers(self) -> tuple[Floats, Floats]:
        """The numeric columns of both, where row i of the one answers for row i of the other."""
        self.refuse_unpaired()
        return self.numbers()

    @property
    def by_chance(self) -> bool:
        """Whether no column says that row i of the release stands for row i of the original."""
        if self.original.rows != self.released.rows:
            return False
        columns = zip(self.original.columns, self.released.columns, strict=True)
        return not any(_goes_with(before, after) for before, after in columns)

    def refuse_unpaired(self) -> None:
        """Raise unless each row of the one has a row of the other."""
        before, after = self.original.rows, self.released.rows
        if before != after:
            raise Undefined(f"it pairs rows, and the tables have {before} and {after} of them")


def _goes_with(before: Column, after: Column) -> bool:
    """Whether the cells of the same rows have more to do with each other than chance has it."""
    present = ~before.missing & ~after.missing
    before, after, rows = before.take(present), after.take(present), int(present.sum())
    if not rows:
        return False
    if isinstance(before, Nominal) and isinstance(after, Nominal):
        expected, equal = float(before.counts() @ after.counts()) / rows**2, np.mean(before.codes == after.codes)
        return bool(equal - expected > SURE * np.sqrt(expected * (1 - expected) / rows))
    ranks = [rankdata(column.cells()) for column in (before, after)]
    return bool(min(map(np.ptp, ranks)) > 0 and np.corrcoef(*ranks)[0, 1] > SURE / np.sqrt(rows))


def _no_labels(released: Table, class_column: str | None) -> str:
    if class_column is None:
        return "the original has no column named `class`, and no other was named"
    return "" if class_column in released.names else f"the release has no column {class_column!r}"


def _sought(original: Table, released: Table, sensitive: str | None, of_class: Sought) -> Sought:
    """The column that was named, else the class."""
    if sensitive is None or sensitive == of_class.name:
        return of_class
    if sensitive not in released.names:
        return Sought(sensitive, None, f"the release has no column {sensitive!r}")
    before, after = together([original.column(sensitive), released.column(sensitive)])
    return Sought(sensitive, (before, after))
