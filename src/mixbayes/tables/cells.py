"""A column of a table: each different text once, and for every row which of them it has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.attributes.cells import Numbers, Texts, missing, numbers
from mixbayes.protocol.errors import BadData

Places = NDArray[np.integer]
Rows = NDArray[np.integer] | NDArray[np.bool_]


MOST_CHARACTERS = 1 << 26
"""In an array of different texts, where the longest sets the width of all."""


LONGEST_CELL = 131_072
"""Characters. Python's reader of CSV refuses longer cells, and so does every reader of files."""


class FreeText(BadData):
    """A column has long cells that all differ."""


class Column(ABC):
    """Cells of one column, in the order of the rows. A source may yield them in a form of its own."""

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    def typed(self) -> bool:
        """Whether its source knows numbers from texts: then the numbers are written with points."""
        return False

    @abstractmethod
    def coded(self) -> Cells:
        """The cells with each text once."""

    @abstractmethod
    def all_numbers(self) -> Numbers | None:
        """The cells as numbers, not-a-number where one is missing; nothing if any of them says something else."""

    def take(self, rows: Rows) -> Column:
        """The column of only these rows, by their positions or by a mask."""
        return self.coded().take(rows)

    def texts_in(self, rows: slice) -> Texts:
        """The cells of these rows, one below the other."""
        cells = self.coded()
        return cells.values[cells.codes[rows]]


@dataclass(frozen=True, eq=False)
class Cells(Column):
    """A column in memory."""

    values: Texts = field(repr=False)
    """All different. Not every one needs to occur."""
    codes: Places = field(repr=False)
    """For every row the place of its text in `values`."""

    @classmethod
    def of(cls, texts: Texts | Sequence[str]) -> Cells:
        """The column with these cells."""
        values, codes = np.unique(np.asarray(texts, np.str_), return_inverse=True)
        return cls(values, in_few_bytes(codes, len(values)))

    def __len__(self) -> int:
        return len(self.codes)

    def coded(self) -> Cells:
        return self

    def all_numbers(self) -> Numbers | None:
        values = numbers(self.values)
        said = self.counts > 0
        return None if (np.isnan(values) & ~missing(self.values) & said).any() else values[self.codes]

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many rows have each value."""
        return np.bincount(self.codes, minlength=len(self.values))

    @cached_property
    def distinct(self) -> Texts:
        """The texts that occur and say something, sorted."""
        return np.sort(self.values[(self.counts > 0) & ~missing(self.values)])

    def texts(self) -> Texts:
        """Every cell."""
        return self.values[self.codes]

    def numbers(self) -> Numbers:
        """Every cell as a number; not-a-number where it is none."""
        return numbers(self.values)[self.codes]

    def where(self, which: Callable[[Texts], NDArray[np.bool_]]) -> NDArray[np.bool_]:
        """The rows whose text is one of which that holds."""
        return which(self.values)[self.codes]

    def take(self, rows: Rows) -> Cells:
        return Cells(self.values, self.codes[rows])


class Collected:
    """A column that grows part by part; it holds each text once."""

    def __init__(self, name: str = "") -> None:
        self._name = name
        self._places: dict[str, int] = {}
        self._codes: list[Places] = []

    def add(self, part: Cells) -> None:
        """Append these rows."""
        places = self._places
        at = np.array([places.setdefault(text, len(places)) for text in part.values.tolist()], np.int64)
        self._codes.append(in_few_bytes(at, len(places))[part.codes])

    def done(self) -> Cells:
        """The whole column."""
        size = len(self._places)
        kind = np.min_scalar_type(max(size - 1, 0))
        codes = np.concatenate(self._codes, dtype=kind, casting="unsafe") if self._codes else np.empty(0, kind)
        return Cells(texts_of(self._name, list(self._places)), codes)


@dataclass(frozen=True, eq=False)
class Listed(Column):
    """A column of texts in a list."""

    name: str
    texts: Sequence[str] = field(repr=False)

    def __len__(self) -> int:
        return len(self.texts)

    def coded(self) -> Cells:
        places: dict[str, int] = {}
        codes = np.array([places.setdefault(text, len(places)) for text in self.texts], np.int64)
        return Cells(texts_of(self.name, list(places)), in_few_bytes(codes, len(places)))

    def all_numbers(self) -> Numbers | None:
        return self.coded().all_numbers()

    def take(self, rows: Rows) -> Listed:
        places: list[int] = positions_of(rows).tolist()
        return Listed(self.name, [self.texts[at] for at in places])


def positions_of(rows: Rows) -> NDArray[np.intp]:
    """Where these rows are."""
    return np.flatnonzero(rows) if rows.dtype == np.bool_ else rows.astype(np.intp, order="C", copy=False)


def texts_of(name: str, texts: Sequence[str]) -> Texts:
    """These texts of a column as an array, in which each takes as much room as the longest."""
    longest = max(map(len, texts), default=0)
    if longest * len(texts) > MOST_CHARACTERS:
        raise FreeText(
            f"Column {name!r} has {len(texts)} different cells, one of {longest} characters: free text, too much to "
            "hold. Leave it out."
        )
    return np.array(texts, np.str_)


def refuse_long(name: str, longest: int) -> None:
    """Refuse a column by the length of its longest cell."""
    if longest > LONGEST_CELL:
        raise FreeText(f"Column {name!r} has a cell of {longest} characters: free text, too long. Leave it out.")


def joined(name: str, columns: Iterable[Column]) -> Cells:
    """One column below the other."""
    whole = Collected(name)
    for column in columns:
        whole.add(column.coded())
    return whole.done()


def in_few_bytes(codes: Places, size: int) -> Places:
    """Numbers below `size` in the smallest type that holds them."""
    return codes.astype(np.min_scalar_type(max(size - 1, 0)), copy=False)
