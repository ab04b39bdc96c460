"""What a user may say of how a table is to be read."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mixbayes.protocol.errors import Unsupported
from mixbayes.tables.sources.decimals import number_in

_UNCLEAR = re.compile(r"([^,;=]+)=([^,;=]*\d,\d+)")


@dataclass(frozen=True)
class Spelling:
    """One spelling of a missing cell."""

    column: str | None
    """The column for which alone it is; None: for every column."""
    text: str
    number: float | None
    """What it reads as: every cell that is the same number is missing."""


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
    """A file with one statement that selects, instead of a table."""

    @cached_property
    def spellings(self) -> tuple[Spelling, ...]:
        """What `missing` says."""
        pairs = [text.partition("=") for text in self.missing]
        named = [(name, value) if sign else (None, name) for name, sign, value in pairs]
        return tuple(Spelling(name, text.strip(), number_in(text, self.decimal)) for name, text in named)

    def refuse_unknown(self, names: Sequence[str]) -> None:
        """Refuse a spelling for a column that the table does not have."""
        for text in self.missing:
            name, sign, _ = text.partition("=")
            if sign and name not in names:
                raise Unsupported(f"--missing {text}: there is no column {name!r}. There are {', '.join(names)}.")


def spellings_in(listed: str, decimal: str) -> tuple[str, ...]:
    """What stands between commas or semicolons; a comma between two digits may be a decimal one."""
    if decimal != "," and (found := _UNCLEAR.search(listed)):
        both = found[0].replace(",", ";")
        raise Unsupported(
            f"--missing {listed}: the comma in {found[2]!r} may be a decimal comma, or stand between two values. For "
            f"the one say `--decimal ,` too. For the other write a semicolon, `--missing {shlex.quote(both)}`; a value "
            "without a column is for all columns."
        )
    between = r";|(?<!\d),|,(?!\d)" if decimal == "," else "[;,]"
    return tuple(part.strip() for part in re.split(between, listed) if part.strip())
