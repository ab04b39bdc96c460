"""What a user may say of how a table is to be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mixbayes.protocol.errors import Unsupported


@dataclass(frozen=True)
class How:
    """Options that every command has which reads a table."""

    missing: tuple[str, ...] = ()
    """More spellings of a missing cell, besides the empty one and `?`: VALUE, or COLUMN=VALUE for one column alone."""
    delimiter: str | None = None
    """Between the cells of a CSV file; None: as its header suggests."""
    decimal: str = "."
    """Of numbers in a CSV or XLSX file: `.` or `,`."""
    encoding: str | None = None
    """Of a CSV file; None: as its first bytes suggest, else UTF-8, else Windows-1252."""
    sheet: str | None = None
    """Of an XLSX file; None: its only one."""
    table: str | None = None
    """In a database; may be written schema.table."""
    query: Path | None = None
    """A file with a SELECT statement, instead of a table."""

    def missing_in(self, column: str) -> tuple[str, ...]:
        """The spellings that are for every column, and those for this one."""
        pairs = [(text, *text.partition("=")) for text in self.missing]
        return tuple(text if not sign else value for text, name, sign, value in pairs if not sign or name == column)

    def refuse_unknown(self, names: Sequence[str]) -> None:
        """Refuse a spelling for a column that the table does not have."""
        for text in self.missing:
            name, sign, _ = text.partition("=")
            if sign and name not in names:
                raise Unsupported(f"--missing {text}: there is no column {name!r}. There are {', '.join(names)}.")
