"""What an experiment is: parts that need tables, and rows of published and measured figures."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from mixbayes.local_methods.base import Progress, silent
from mixbayes.protocol.errors import BadData
from mixbayes.research.reproduction.public_tables import PublicTable
from mixbayes.tables.columns import Columns
from mixbayes.tables.sources.opening import read_table

Figures = Mapping[str, float | int | str]
"""Figures by the name of their column. What is not printed in the paper, or cannot be measured, is not in it."""
Kept = TypeVar("Kept")


@dataclass(frozen=True)
class Row:
    """One line of a table or figure."""

    what: str
    published: Figures
    """Empty if the paper has a drawing, or nothing."""
    measured: Figures
    note: str = ""


@dataclass(frozen=True)
class Laboratory:
    """Where the tables are, and how an experiment is to be run."""

    folder: Path | None
    quick: bool = False
    progress: Progress = silent
    unusable: dict[str, list[str]] = field(default_factory=dict)
    """What is wrong with tables, and which parts could not be run for it."""
    _kept: dict[Hashable, object] = field(default_factory=dict, repr=False)
    _carried: Mapping[str, Columns | BadData] = field(default_factory=dict, repr=False)
    """By file, what `read` has found of it already."""

    def elsewhere(self, tables: Sequence[PublicTable]) -> Laboratory:
        """For another process, or another machine: these tables go along, because nobody reads a file there."""
        carried = {table.file: self._looked_up(table) for table in tables}
        return replace(self, folder=None, progress=silent, unusable={}, _kept={}, _carried=carried)

    def _looked_up(self, table: PublicTable) -> Columns | BadData:
        try:
            return self.read(table)
        except BadData as error:
            return error

    def read(self, table: PublicTable) -> Columns:
        """The table, with the class in a column named `class` if it has one."""
        found = self._carried.get(table.file) or self._from_disk(table)
        if isinstance(found, BadData):
            raise found
        return found

    def _from_disk(self, table: PublicTable) -> Columns:
        path = table.file_in(self.folder)
        if path is None:
            raise BadData(f"{table.file} is not in {self.folder}. {table.remedy()}")
        columns = read_table(path)
        if table.labelled and "class" not in columns.names:
            raise BadData(f"{path} has no column `class`: give its last column, the class, that name.")
        return columns

    def times(self, full: int, quick: int) -> int:
        """How often something is done."""
        return quick if self.quick else full

    def once(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """What several tables and figures rest on is made once."""
        if key not in self._kept:
            self._kept[key] = make()
        kept: Kept = self._kept[key]  # type: ignore[assignment]  # the key says what it is
        return kept


@dataclass(frozen=True)
class Part:
    """What an experiment does with one choice of tables."""

    title: str
    tables: Sequence[PublicTable]
    run: Callable[[Laboratory], Iterator[Row]]

    def missing(self, folder: Path | None) -> list[PublicTable]:
        """The tables that are not there."""
        return [table for table in self.tables if table.file_in(folder) is None]


@dataclass(frozen=True)
class Experiment:
    """A table or a figure of a paper."""

    name: str
    title: str
    paper: str
    parts: Sequence[Part]
    reason: str
    """Why measured and published figures differ, in a line."""
    deviations: str
    """Where the reasons are told at length."""
    quick: str = ""
    """What is left out in a hurry; empty if nothing is."""

    @property
    def tables(self) -> list[PublicTable]:
        """All tables that it can use, each once."""
        return list(dict.fromkeys(table for part in self.parts for table in part.tables))
