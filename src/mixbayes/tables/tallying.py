"""A hospital's table against the agreed dictionary: its counts, or every column and value that does not fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from mixbayes.protocol.arrays import Words, slices
from mixbayes.protocol.attributes.by_class import ByClass
from mixbayes.protocol.attributes.cells import Texts, missing, positions
from mixbayes.protocol.attributes.kind import Integers, Reading
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import SPELLING
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.tables.cells import Cells, Column
from mixbayes.tables.columns import Columns, said_of_rows
from mixbayes.tables.encoding import absent, refuse, shown
from mixbayes.tables.together import counted_together

FEW = 4
"""A column with at least so many rows for each of its values is counted by values, not by rows."""
MOST_KEPT = 1000
"""Foreign values of a column that are kept for the message about them."""
STEP = 1 << 14
"""Rows counted at a time: what is computed of them stays in the cache, and takes no new memory from the system."""
MOST_CODES = 1 << 22
"""Codes of one attribute that are in memory at a time."""


@dataclass(frozen=True)
class Counted:
    """What a hospital contributes, and what there is to say about how it came about."""

    vector: Words = field(repr=False)
    rows: int
    clipped: dict[str, int]
    """By column, how many values lay beyond the agreed bounds and count as the bound."""
    unlabelled: int = 0
    """Rows that protection left without a class; they are not counted."""
    protection: str = ""
    """Which method, with its settings."""
    guarantee: str = ""
    """What its release was found to keep."""
    coarsened: int = 0
    """Cells that count as missing, because the release says less of them than any value of the dictionary."""


class Counting:
    """A table's counts, which grow part by part, and what is found meanwhile that breaks the dictionary."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._classes = layout.dictionary.classes
        self._vector = np.zeros(layout.size, np.uint64)
        self._rows = 0
        self._unlabelled = 0
        self._first_unlabelled: int | None = None
        self._foreign_classes: set[str] = set()
        blocks = layout.blocks(self._vector)
        self._attributes = {attribute.name: _OfAttribute(attribute, block) for attribute, block in blocks}

    def columns_of(self, names: Sequence[str]) -> tuple[str, ...]:
        """The columns to be counted, the class first, of a table that has these. Others are not looked at."""
        dictionary = self.layout.dictionary
        refuse(absent(names, (*dictionary.names, dictionary.class_column)))
        return (dictionary.class_column, *dictionary.names)

    def add(self, part: Columns) -> None:
        """Add these rows."""
        labels = part.column(self.layout.dictionary.class_column)
        without = labels.where(missing)
        if without.any() and self._first_unlabelled is None:
            self._first_unlabelled = self._rows + int(without.argmax())
        self.add_classes(labels.values, labels.counts)
        classes = self._places(labels.values)[labels.codes]
        patients = _Patients(classes, len(self._classes))
        listed = [
            (one, cells) for name, one in self._attributes.items() if (cells := one.add(part.raw(name), patients))
        ]
        found = counted_together([cells for _, cells in listed], classes, len(self._classes) + 1)
        for (attribute, cells), counts in zip(listed, found, strict=True):
            values, of_class = np.nonzero(counts)
            attribute.add_groups(cells.values[values], of_class, counts[values, of_class])

    def add_classes(self, classes: Texts, times: Integers) -> None:
        """Add patients of these classes, without their attributes."""
        places = self._places(classes)
        foreign = (places == len(self._classes)) & ~missing(classes) & (times > 0)
        self._foreign_classes.update(classes[foreign].tolist())
        self._unlabelled += int(times[missing(classes)].sum())
        self._rows += int(times.sum())
        counts = np.bincount(places, times, len(self._classes) + 1)[: len(self._classes)]
        self.layout.class_counts(self._vector)[:] += counts.astype(np.uint64)

    def add_groups(self, name: str, values: Texts, classes: Texts, times: Integers) -> None:
        """Add one attribute of patients who are counted by value and class."""
        self._attributes[name].add_groups(values, self._places(classes), times)

    def add_block(self, name: str, block: Words, clipped: int) -> None:
        """Add one attribute's block of the layout, which the source has computed."""
        self._attributes[name].add_block(block, clipped)

    def done(self) -> Counted:
        """The counts, or a refusal that lists all that does not fit."""
        refuse(list(self._problems()))
        clipped = {name: attribute.clipped for name, attribute in self._attributes.items() if attribute.clipped}
        return Counted(self._vector, self._rows, clipped)

    def _places(self, classes: Texts) -> Integers:
        """Where classes stand in the dictionary; one past the end for what is none."""
        return positions(classes, self._classes).astype(np.int64)

    def _problems(self) -> Iterator[str]:
        dictionary = self.layout.dictionary
        if self._rows > self.layout.rows_each:
            yield f"it has {self._rows} rows, a hospital may have {self.layout.rows_each}. Agree on more"
        if 0 < self._rows < self.layout.terms.min_rows:
            least = self.layout.terms.min_rows
            yield f"it has {self._rows} rows, and every hospital needs {least}. Take no part, or agree on fewer"
        column = f"column {dictionary.class_column!r}"
        if self._unlabelled:
            rows = said_of_rows(self._unlabelled, self._first_unlabelled)
            yield f"{column}: {rows} no class. Fill it in, or remove the row"
        if self._foreign_classes:
            yield f"{column}: {shown(self._foreign_classes)} not among the classes. {SPELLING}"
        for attribute in self._attributes.values():
            yield from attribute.problems()


class _Patients:
    """A part's patients, in the order of their classes step by step: the same for all its columns."""

    def __init__(self, classes: Integers, number: int) -> None:
        self.classes = classes
        self._number = number

    @cached_property
    def by_class(self) -> list[tuple[slice, ByClass]]:
        """Each step's rows and patients."""
        steps = slices(len(self.classes), STEP)
        return [(rows, ByClass.of(self.classes[rows], self._number)) for rows in steps]


class _OfAttribute:
    """One attribute's block of the counts, and the cells that do not fit it."""

    def __init__(self, attribute: Attribute, block: Words) -> None:
        self._attribute = attribute
        self._block = block
        self._step = max(1, min(STEP, MOST_CODES // attribute.columns))
        self._foreign: set[str] = set()
        self.clipped = 0

    def add(self, column: Column, patients: _Patients) -> Cells | None:
        """Add these cells of patients with these classes. A column of few values is handed back, to be counted."""
        values = None if isinstance(column, Cells) or not self._attribute.numeric else column.all_numbers()
        if values is not None:
            for rows, of_step in patients.by_class:
                self.clipped += self._attribute.count_numbers(self._block, values[rows], of_step)
            return None
        cells = column.coded()
        if len(cells.values) * FEW <= len(cells):
            return cells
        self.add_groups(cells.texts(), patients.classes, None)
        return None

    def add_groups(self, values: Texts, classes: Integers, times: Integers | None) -> None:
        """Add patients with these values and classes, each `times` times."""
        for rows in slices(len(values), self._step):
            reading = self._attribute.read(values[rows])
            if reading.foreign.any():
                self._note(values[rows][reading.foreign])
            self._count(reading, classes[rows], None if times is None else times[rows])

    def add_block(self, block: Words, clipped: int) -> None:
        """Add counts that were made elsewhere."""
        self._block += block
        self.clipped += clipped

    def problems(self) -> Iterator[str]:
        """What is wrong, and what to do about it."""
        if self._foreign:
            foreign = np.array(sorted(self._foreign), np.str_)
            values = shown(self._attribute.shown(foreign).tolist())
            yield f"column {self._attribute.name!r}: {values} {self._attribute.misfit(foreign)}"

    def _note(self, foreign: Texts) -> None:
        room = MOST_KEPT - len(self._foreign)
        self._foreign.update(np.unique(foreign)[: max(0, room)].tolist())

    def _count(self, reading: Reading, classes: Integers, times: Integers | None = None) -> None:
        # A patient without a class is left out: that the table has one refuses it in the end.
        known = classes < self._block.shape[1]
        codes, beyond = reading.codes, reading.beyond
        if not known.all():
            codes, beyond, classes = codes[:, known], beyond[known], classes[known]
            times = None if times is None else times[known]
        self.clipped += int(np.count_nonzero(beyond) if times is None else times[beyond].sum())
        self._attribute.count(self._block, codes, classes, times)
