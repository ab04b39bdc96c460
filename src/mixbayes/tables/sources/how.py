"""What a user may say of how a table is to be read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class How:
    """Options that every command has which reads a table."""

    missing: tuple[str, ...] = ()
    """More spellings of a missing cell, besides the empty one and `?`."""
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
    """A file with one statement that selects, instead of a table."""
