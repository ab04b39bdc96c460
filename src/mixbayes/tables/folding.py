"""A hospital's table in folds: the counts of each, and some rows by which classifiers are judged.

A classifier is judged by rows that did not count in it. So a hospital contributes the counts of every fold by itself,
and what is without a fold is a difference. Row by row, in the order in which the source yields them:

- A row may be **kept aside**, so that it counts nowhere. Whether it is depends on the hospital's secret and on the
  row's position alone.
- The rows that are not, are dealt to the folds in turn; or by chance, where a release promises every row something.

Why the rows kept aside are drawn so. Each row is, with the same probability and independently of all others, either
counted or kept aside. A patient is then in one of the two parts and says nothing of where the others are: whatever
promise of differential privacy the noisy counts keep, and whatever promise the noisy figures of the joint test keep,
the two of them together cost that patient no more than the larger one. If the rows were kept aside by their content,
or so that their number were exact, one patient more could move another from one part to the other. All this is about
one table and numbers that nobody knows: a table that has changed, and is counted once more, takes another secret. A
node has one for every agreement, and with noise contributes no changed table under the same one.

**Order.** The same secret and the same rows in the same order are always dealt alike, into whatever parts the source
cuts them. Files have an order. A database without ORDER BY and Spark promise none, and may deal otherwise when they are
read again. Patients who are dealt otherwise would be judged by a classifier that knows them. So a node that reads its
table again compares the counts of every fold with those that it contributed, and refuses the evaluation if they differ.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.cells import positions
from mixbayes.protocol.attributes.kind import Integers
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.evaluation import MOST_ROWS
from mixbayes.protocol.errors import LocalError
from mixbayes.protocol.randomness import Randomness
from mixbayes.tables.columns import Columns
from mixbayes.tables.counting import counted
from mixbayes.tables.encoding import encode_query
from mixbayes.tables.sources.source import InMemory, Progress, Source, no_progress
from mixbayes.tables.tallying import Counted, Counting

_ABOVE_ALL = np.uint64(2**64 - 1)


@dataclass(frozen=True, eq=False, repr=False)
class Patients:
    """Rows of the hospital by which classifiers are judged: fold by fold, and in the order of the table."""

    codes: Values
    """(columns, n)."""
    labels: NDArray[np.int32]
    """The positions of their classes."""
    folds: Integers

    @classmethod
    def none(cls, layout: Layout) -> Patients:
        return cls(np.empty((layout.columns, 0), np.int32), np.empty(0, np.int32), np.empty(0, np.int64))

    @property
    def rows(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"Patients(rows={self.rows})"


@dataclass(frozen=True)
class Folded:
    """What a hospital contributes in folds, and what it keeps for the evaluation."""

    counted: Counted
    """Its vector has the vectors of all folds, one after the other; all else is of all folds together."""
    patients: Patients
    """Of every fold some."""
    aside: Patients
    """Some of the rows that count nowhere, for the joint test. All are in fold 0."""
    unprotected: Words | None = field(default=None, repr=False)
    """Where a release was counted, the vector of the table as it is. It never leaves the hospital's node."""


def folded(
    layout: Layout,
    table: Source | Columns,
    *,
    test_share: Fraction | float = 0,
    secret: bytes,
    most: int = MOST_ROWS,
    by_chance: bool = False,
    progress: Progress = no_progress,
) -> Folded:
    """The counts of every fold, and `most` patients of all folds and of those kept aside, or as many as there are.

    With one fold and no share there is nobody by whom to judge, and a database counts by itself. With one fold and a
    share there are only rows kept aside: no classifier is without its fold.
    """
    source = InMemory(table) if isinstance(table, Columns) else table
    if layout.terms.folds == 1 and not test_share:
        return Folded(counted(layout, source, progress), Patients.none(layout), Patients.none(layout))
    folding = _Folding(layout, Dealing(layout.terms.folds, test_share, secret, by_chance=by_chance), most)
    with source.named_in_errors():
        for columns in source.reported(folding.counting.columns_of(source.names), progress):
            folding.add(columns)
        return folding.done()


class _Folding:
    """A table that is dealt, counted and sampled part by part."""

    def __init__(self, layout: Layout, dealing: Dealing, most: int) -> None:
        self.counting = Counting(layout, layout.terms.folds)
        self._dealing = dealing
        self._sample = _Sample(layout, most)

    def add(self, part: Columns) -> None:
        part, dealt = _texts_once(self.counting.layout, part), self._dealing.deal(part.rows)
        self.counting.add(part, dealt.folds)
        self._sample.add(part, dealt)

    def done(self) -> Folded:
        counts, aside = self.counting.done(), self.counting.folds
        patients = self._sample.of(lambda folds: folds < aside)
        kept_aside = self._sample.of(lambda folds: folds == aside)
        return Folded(counts, patients, replace(kept_aside, folds=np.zeros_like(kept_aside.folds)))


class Dealt(NamedTuple):
    """Rows in reading order, each with a number that depends on the secret and on its position alone."""

    numbers: Words
    folds: Integers
    """One past the last fold for a row that is kept aside: those with the smallest numbers are."""


class Dealing:
    """The fold of every row, in reading order: in turn, or by chance, each row independently of all others.

    By chance the folds have different sizes. But a row more or less in the table is then one more or less in one fold,
    and says nothing of where the others are; in turn it would move all rows behind it.
    """

    def __init__(self, folds: int, test_share: Fraction | float, secret: bytes, *, by_chance: bool = False) -> None:
        if not 0 <= test_share < 1:
            raise LocalError(f"A share of {test_share} of the rows cannot be kept aside.")
        self._folds = folds
        self._by_chance = by_chance
        self._below = np.uint64(int(Fraction(test_share) * 2**64))
        self._random = Randomness(hashlib.sha256(b"mixbayes folds" + secret).digest())
        self._dealt = 0

    def deal(self, rows: int) -> Dealt:
        """The next rows."""
        numbers = self._random.words(rows)
        counts = numbers >= self._below
        turns = np.cumsum(counts) + (self._dealt - 1)
        chosen = (numbers % np.uint64(self._folds)).astype(np.int64) if self._by_chance else turns % self._folds
        folds = np.where(counts, chosen, self._folds)
        self._dealt += int(np.count_nonzero(counts))
        return Dealt(numbers, folds)


class _Sample:
    """Of every fold the rows with the smallest numbers: any rows of it are as likely.

    How many rows the table has need not be known, and what is kept does not grow with it.
    """

    def __init__(self, layout: Layout, most: int) -> None:
        folds = layout.terms.folds
        self._layout = layout
        # The last group are the rows kept aside.
        self._most = [-(-most // folds) if folds > 1 else 0] * folds + [most]
        self._below = np.where(np.array(self._most) > 0, _ABOVE_ALL, np.uint64(0))
        """Of every group: what the number of a row must be below."""
        self._numbers = np.empty(0, np.uint64)
        self._patients = Patients.none(layout)

    def add(self, part: Columns, dealt: Dealt) -> None:
        """Take rows of this part, and give up others for them."""
        rows = np.flatnonzero(self._low(dealt.numbers, dealt.folds))
        self._lower(np.append(self._numbers, dealt.numbers[rows]), np.append(self._patients.folds, dealt.folds[rows]))
        rows = rows[self._low(dealt.numbers[rows], dealt.folds[rows])]
        if rows.size:
            stay = np.flatnonzero(self._low(self._numbers, self._patients.folds))
            self._numbers = np.append(self._numbers[stay], dealt.numbers[rows])
            taken = _patients(self._layout, part.take(rows), dealt.folds[rows])
            self._patients = _joined(_only(self._patients, stay), taken)

    def of(self, which: Callable[[Integers], NDArray[np.bool_]]) -> Patients:
        """The rows of the folds of which that holds, fold by fold."""
        order = np.argsort(self._patients.folds, kind="stable")
        return _only(self._patients, order[which(self._patients.folds[order])])

    def _low(self, numbers: Words, folds: Integers) -> NDArray[np.bool_]:
        """Which rows may be kept."""
        return numbers < self._below[folds]

    def _lower(self, numbers: Words, folds: Integers) -> None:
        """So that as many numbers are below as rows may be kept."""
        for fold, most in enumerate(self._most):
            of_fold = numbers[folds == fold]
            if len(of_fold) > most:
                self._below[fold] = np.partition(of_fold, most)[most]


def _texts_once(layout: Layout, part: Columns) -> Columns:
    """The same rows, with texts looked up once for counting and sampling; numbers as the source yields them."""
    numeric = {attribute.name for attribute in layout.dictionary.attributes if attribute.numeric}
    cells = tuple(part.raw(name) if name in numeric else part.column(name) for name in part.names)
    return replace(part, cells=cells)


def _patients(layout: Layout, rows: Columns, folds: Integers) -> Patients:
    dictionary = layout.dictionary
    labels = rows.column(dictionary.class_column)
    places = positions(labels.values, dictionary.classes).astype(np.int32)
    return Patients(encode_query(dictionary, rows).codes, places[labels.codes], folds)


def _only(patients: Patients, rows: Integers | NDArray[np.bool_]) -> Patients:
    return Patients(patients.codes[:, rows], patients.labels[rows], patients.folds[rows])


def _joined(one: Patients, other: Patients) -> Patients:
    return Patients(
        np.concatenate([one.codes, other.codes], axis=1),
        np.append(one.labels, other.labels),
        np.append(one.folds, other.folds),
    )
