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
from mixbayes.tables.changed import Changed
from mixbayes.tables.columns import Columns, said_of_rows
from mixbayes.tables.encoding import absent, refuse, shown
from mixbayes.tables.private_release import PrivateRelease
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
    changed: Changed | None = None
    """What protection changed of the vector."""
    own_release: PrivateRelease | None = None
    """What was counted, where that is a release with a promise of its own."""


class Counting:
    """A table's counts, which grow part by part, and what is found meanwhile that breaks the dictionary.

    With folds, each has counts of its own, and the rows of all together are what must fit. A class of a fold is then a
    class by itself as long as the table is counted: all folds are counted in one pass.
    """

    def __init__(self, layout: Layout, folds: int = 1) -> None:
        self.layout = layout
        self.folds = folds
        self._classes = layout.dictionary.classes
        self._number = folds * layout.classes
        self._of_class = np.zeros(self._number, np.uint64)
        self._rows = 0
        self._aside = 0
        self._unlabelled = 0
        self._first_unlabelled: int | None = None
        self._foreign_classes: set[str] = set()
        self._attributes = {one.name: _OfAttribute(one, self._number) for one in layout.dictionary.attributes}

    def columns_of(self, names: Sequence[str]) -> tuple[str, ...]:
        """The columns to be counted, the class first, of a table that has these. Others are not looked at."""
        dictionary = self.layout.dictionary
        refuse(absent(names, (*dictionary.names, dictionary.class_column)))
        return (dictionary.class_column, *dictionary.names)

    def add(self, part: Columns, folds: Integers | None = None) -> None:
        """Add these rows, each to its fold. Those with a fold past the last one must fit too, and are not counted."""
        labels = part.column(self.layout.dictionary.class_column)
        self._note_first_unlabelled(labels)
        self._note_classes(labels.values, labels.counts)
        classes = self._in_folds(self._places(labels.values)[labels.codes], folds)
        aside = 0 if folds is None else int(np.count_nonzero(folds == self.folds))
        self._aside += aside
        self._rows += part.rows - aside
        self._of_class += np.bincount(classes, minlength=self._number + 1)[: self._number].astype(np.uint64)
        self._add_attributes(part, _Patients(classes, self._number))

    def add_classes(self, classes: Texts, times: Integers) -> None:
        """Add patients of these classes, without their attributes, where there is one fold."""
        self._note_classes(classes, times)
        self._rows += int(times.sum())
        counts = np.bincount(self._places(classes), times, self._number + 1)[: self._number]
        self._of_class += counts.astype(np.uint64)

    def add_groups(self, name: str, values: Texts, classes: Texts, times: Integers) -> None:
        """Add one attribute of patients who are counted by value and class, where there is one fold."""
        self._attributes[name].add_groups(values, self._places(classes), times)

    def add_block(self, name: str, block: Words, clipped: int) -> None:
        """Add one attribute's block of the layout, which the source has computed."""
        self._attributes[name].add_block(block, clipped)

    def done(self) -> Counted:
        """The counts, or a refusal that lists all that does not fit."""
        refuse(list(self._problems()))
        clipped = {name: attribute.clipped for name, attribute in self._attributes.items() if attribute.clipped}
        return Counted(self._vector(), self._rows, clipped)

    def _vector(self) -> Words:
        """The vectors of all folds, one after the other."""
        vectors = np.empty((self.folds, self.layout.size), np.uint64)
        self.layout.class_counts(vectors)[:] = self._of_class.reshape(self.folds, -1)
        for (_, block), one in zip(self.layout.blocks(vectors), self._attributes.values(), strict=True):
            block[:] = one.block.reshape(len(one.block), self.folds, -1).transpose(1, 0, 2)
        return vectors.reshape(-1)

    def _add_attributes(self, part: Columns, patients: _Patients) -> None:
        listed = [
            (one, cells) for name, one in self._attributes.items() if (cells := one.add(part.raw(name), patients))
        ]
        found = counted_together([cells for _, cells in listed], patients.classes, self._number + 1)
        for (attribute, cells), counts in zip(listed, found, strict=True):
            attribute.add_counts(cells.values, counts)

    def _note_first_unlabelled(self, labels: Cells) -> None:
        without = labels.where(missing)
        if without.any() and self._first_unlabelled is None:
            self._first_unlabelled = self._rows + self._aside + int(without.argmax())

    def _note_classes(self, classes: Texts, times: Integers) -> None:
        foreign = (self._places(classes) == len(self._classes)) & ~missing(classes) & (times > 0)
        self._foreign_classes.update(classes[foreign].tolist())
        self._unlabelled += int(times[missing(classes)].sum())

    def _in_folds(self, places: Integers, folds: Integers | None) -> Integers:
        """Where the class of each row stands among those of all folds; one past the end for what is not counted."""
        if folds is None:
            return np.where(places == len(self._classes), self._number, places)
        known = (places < len(self._classes)) & (folds < self.folds)
        return np.where(known, folds * len(self._classes) + places, self._number)

    def _places(self, classes: Texts) -> Integers:
        """Where classes stand in the dictionary; one past the end for what is none."""
        return positions(classes, self._classes).astype(np.int64)

    def _problems(self) -> Iterator[str]:
        dictionary = self.layout.dictionary
        rows = f"{self._rows} rows" + (f" beside {self._aside} that are kept aside" if self._aside else "")
        if self._rows > self.layout.rows_each:
            yield f"it has {rows}, a hospital may have {self.layout.rows_each}. Agree on more"
        if self._rows + self._aside > 0 and self._rows < self.layout.terms.min_rows:
            least = self.layout.terms.min_rows
            yield f"it has {rows}, and every hospital needs {least}. Take no part, or agree on fewer"
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

    def __init__(self, attribute: Attribute, classes: int) -> None:
        self._attribute = attribute
        self.block = np.zeros((attribute.rows, classes), np.uint64)
        self._step = max(1, min(STEP, MOST_CODES // attribute.columns))
        self._foreign: set[str] = set()
        self.clipped = 0

    def add(self, column: Column, patients: _Patients) -> Cells | None:
        """Add these cells of patients with these classes. A column of few values is handed back, to be counted."""
        values = None if isinstance(column, Cells) or not self._attribute.numeric else column.all_numbers()
        if values is not None:
            for rows, of_step in patients.by_class:
                self.clipped += self._attribute.count_numbers(self.block, values[rows], of_step)
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
            self._note(values[rows][reading.foreign])
            self._count(reading, classes[rows], None if times is None else times[rows])

    def add_counts(self, values: Texts, counts: Integers) -> None:
        """Add patients who are counted by value and class, (values, classes); the last column has those of no class."""
        said = counts.any(axis=1)
        values, counts = values[said], counts[said]
        for rows in slices(len(values), max(1, self._step // counts.shape[1])):
            reading, times = self._attribute.read(values[rows]), counts[rows]
            self._note(values[rows][reading.foreign])
            at, of_class = np.nonzero(times)
            self._count(_repeated(reading, at), of_class, times[at, of_class])

    def add_block(self, block: Words, clipped: int) -> None:
        """Add counts that were made elsewhere."""
        self.block += block
        self.clipped += clipped

    def problems(self) -> Iterator[str]:
        """What is wrong, and what to do about it."""
        if self._foreign:
            foreign = np.array(sorted(self._foreign), np.str_)
            values = shown(self._attribute.shown(foreign).tolist())
            yield f"column {self._attribute.name!r}: {values} {self._attribute.misfit(foreign)}"

    def _note(self, foreign: Texts) -> None:
        if foreign.size:
            room = MOST_KEPT - len(self._foreign)
            self._foreign.update(np.unique(foreign)[: max(0, room)].tolist())

    def _count(self, reading: Reading, classes: Integers, times: Integers | None = None) -> None:
        # A patient without a class is left out: that the table has one refuses it in the end.
        known = classes < self.block.shape[1]
        codes, beyond = reading.codes, reading.beyond
        if not known.all():
            codes, beyond, classes = codes[:, known], beyond[known], classes[known]
            times = None if times is None else times[known]
        self.clipped += int(np.count_nonzero(beyond) if times is None else times[beyond].sum())
        self._attribute.count(self.block, codes, classes, times)


def _repeated(reading: Reading, at: Integers) -> Reading:
    """What is read of cells, by their positions, each as often as it is named."""
    return Reading(reading.codes[:, at], reading.foreign[at], reading.beyond[at])
