"""What every source of a table answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from mixbayes.protocol.errors import MixbayesError
from mixbayes.tables.cells import Collected
from mixbayes.tables.columns import Columns, named_in_errors
from mixbayes.tables.profile import Profile, Profiling
from mixbayes.tables.tallying import Counting

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""


def no_progress(what: str, done: int, total: int) -> None:
    """For those who do not wait."""


class SourceAway(MixbayesError):
    """A database or a Spark server does not answer now; it may later."""

    code = "E112"
    exit_code = 4


@dataclass(frozen=True)
class Part:
    """Some rows of a table, and how far the source has got with them, of `total`."""

    columns: Columns
    done: int = 0
    total: int = 0


class Source(ABC):
    """A table somewhere. It is read in parts, so that what is in memory does not grow with its rows.

    A source that can count by itself overrides `profile` and `count`; both must come out as from the parts.
    """

    title: str
    """Where the table is, for messages about it."""
    names: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    """What the user should know of how the table is read; sentences without a full stop."""

    @abstractmethod
    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        """The rows of these columns, in the order of the source, each row in one part."""

    def profile(self, names: Sequence[str], progress: Progress = no_progress) -> Profile:
        """What there is to say of each of these columns."""
        profiling = Profiling(names)
        for columns in self.reported(names, progress):
            profiling.add(columns)
        return profiling.done(self.title)

    def count(self, counting: Counting, progress: Progress = no_progress) -> None:
        """Add this table to what is counted."""
        for columns in self.reported(counting.columns_of(self.names), progress):
            counting.add(columns)

    def read(self, names: Sequence[str], progress: Progress = no_progress) -> Columns:
        """All rows of these columns, in memory."""
        whole = [Collected(name) for name in names]
        rows = 0
        for part in self.reported(names, progress):
            rows += part.rows
            for column, cells in zip(whole, part.cells, strict=True):
                column.add(cells.coded())
        return Columns(tuple(names), tuple(column.done() for column in whole), rows, self.title)

    def unmet(self) -> tuple[str, ...]:
        """What the user has said of cells and no cell had that was read; sentences without a full stop."""
        return ()

    def named_in_errors(self) -> AbstractContextManager[None]:
        """What is found wrong with the table meanwhile is said of it by its title."""
        return named_in_errors(self.title)

    def reported(self, names: Sequence[str], progress: Progress) -> Iterator[Columns]:
        """The same parts, and how far they have come is told."""
        for part in self.parts(names):
            yield part.columns
            progress(f"reading {self.title}", part.done, part.total)


class InMemory(Source):
    """A table that has been read."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self.title = columns.source
        self.names = columns.names

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        columns = self._columns
        yield Part(columns.chosen(names), columns.rows, columns.rows)

    def read(self, names: Sequence[str], progress: Progress = no_progress) -> Columns:
        return self._columns.chosen(names)
