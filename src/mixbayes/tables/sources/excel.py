"""Excel workbooks: one sheet, its first row that is not empty as the header, its cells as their CSV export has them.

Calamine reads the whole sheet, of at most 2^20 rows; only what is made of the rows comes in parts.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree.ElementTree import ParseError
from xml.parsers.expat import ExpatError
from zipfile import BadZipFile

from mixbayes.extras import naming_extras
from mixbayes.protocol.errors import BadData, Unsupported
from mixbayes.tables.cells import Listed
from mixbayes.tables.columns import Columns, refuse_twice
from mixbayes.tables.sources.decimals import with_point
from mixbayes.tables.sources.how import How
from mixbayes.tables.sources.source import Part, Source
from mixbayes.tables.sources.workbook import coordinates, letters, marks, too_far
from mixbayes.tables.sources.workbook_room import refuse_too_large
from mixbayes.tables.spelling import spelled_value

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook

BLOCK = 1 << 12  # rows that become columns at a time
LONGEST_SHOWN = 60
MOST_SHOWN = 20
MOST_REMEMBERED = 1 << 16  # texts of values
_OLD_OFFICE = bytes.fromhex("d0cf11e0a1b11ae1")
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_DAMAGED = "The file is no Excel file, or is damaged."
_BROKEN = (BadZipFile, ParseError, ExpatError, zlib.error, EOFError, LookupError, ValueError, NotImplementedError)

_Row = Sequence[object]


def excel_sheet(path: Path, how: How) -> Source:
    """The sheet of a workbook that ends in .xlsx or .xlsm; older and other formats are refused."""
    if path.suffix.lower() not in (".xlsx", ".xlsm"):
        raise Unsupported(
            f"{path}: {path.suffix} files are not read. Open it, and save it as .xlsx or as CSV in UTF-8."
        )
    _refuse_other_bytes(path)
    with naming_extras():
        return ExcelSheet(path, how)


class SheetColumn(Listed):
    """Cells of a column, of which each has its own type."""

    @property
    def typed(self) -> bool:
        return True


class ExcelSheet(Source):
    """One sheet of a workbook."""

    def __init__(self, path: Path, how: How) -> None:
        from python_calamine import load_workbook

        self.title = str(path)
        self._decimal = how.decimal
        with _damage_named():
            refuse_too_large(path)
            if far := too_far(path):
                raise BadData(
                    f"A cell is at {far}: all the cells up to there, empty or not, do not fit into memory. Remove it, "
                    "or save the sheet as CSV."
                )
            self._sheet, remarks = _chosen(load_workbook(path), how.sheet)
            self._marks = marks(path, self._sheet.name)
        self._top, header = self._header()
        self._named = {at: name for at, name in enumerate(header) if name}
        self.names = tuple(self._named.values())
        refuse_twice(self.names)
        self._refuse_merged()
        self._refuse_uncomputed()
        self.remarks = tuple(f"{path}: {remark}" for remark in (*remarks, *self._hidden()))

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        places = {name: at for at, name in self._named.items()}
        rows = ((at, row) for at, row in self._rows() if at > self._top)
        while block := list(islice(rows, BLOCK)):
            columns = list(zip(*(row for _, row in block), strict=True))
            self._refuse_nameless(columns)
            self._refuse_repeated(block)
            cells = tuple(SheetColumn(name, self._texts(name, columns[places[name]])) for name in names)
            yield Part(Columns(tuple(names), cells, len(block)), block[-1][0] + 1, self._sheet.total_height + 1)

    def _texts(self, name: str, cells: _Row) -> list[str]:
        if self._decimal == ",":
            cells = [with_point(cell, name) if isinstance(cell, str) else cell for cell in cells]
        return list(map(_text, cells))

    def _rows(self) -> Iterator[tuple[int, _Row]]:
        """Every row that is not empty, with its place, its cells from column A on."""
        before = [""] * (self._sheet.start or (0, 0))[1]
        for at, row in enumerate(self._sheet.iter_rows()):
            cells: list[object] = [*before, *row]
            for column, text in self._marks.errors.get(at, {}).items():
                cells[column] = text  # calamine has left it empty
            if any(cell != "" for cell in cells):
                yield at, cells

    def _header(self) -> tuple[int, list[str]]:
        rows = self._rows()
        top, header = next(rows, (0, []))
        if not header:
            raise BadData(f"Sheet {self._sheet.name!r} is empty; its first row must name the columns.")
        said = [text for text in map(_text, header) if text]
        below = next((at for at, row in rows if _filled(row) > 1), None) if len(said) == 1 else None
        if below is not None:
            raise BadData(
                f"Row {top + 1}, {said[0][:LONGEST_SHOWN]!r}, has one cell, row {below + 1} has more. Remove the rows "
                "above the header."
            )
        return top, list(map(_text, header))

    def _refuse_nameless(self, columns: Sequence[_Row]) -> None:
        nameless = [at for at, cells in enumerate(columns) if at not in self._named and _filled(cells)]
        if nameless:
            raise BadData(
                f"In sheet {self._sheet.name!r}, {_listed('column', map(letters, nameless))} with cells "
                f"{'have' if len(nameless) > 1 else 'has'} no name in row {self._top + 1}. Add it, or remove the cells."
            )

    def _refuse_repeated(self, rows: Sequence[tuple[int, _Row]]) -> None:
        """The header again, as where two exports stand one below the other."""
        again = (at for at, row in rows if all(_text(row[place]) == name for place, name in self._named.items()))
        if len(self._named) > 1 and (first := next(again, None)) is not None:
            raise BadData(f"Row {first + 1} of sheet {self._sheet.name!r} is the header again. Remove it.")

    def _refuse_merged(self) -> None:
        """Cells of the table that are merged; a CSV export would have all but the first empty."""
        merged = [(low, high) for low, high in self._sheet.merged_cell_ranges or () if high[0] >= self._top]
        if merged:
            ranges = (f"{coordinates(*low)}:{coordinates(*high)}" for low, high in merged)
            raise BadData(
                f"In sheet {self._sheet.name!r}, cells are merged: {_shown(ranges)}. Only the first of them has the "
                "value. Unmerge them, and fill in the others."
            )

    def _refuse_uncomputed(self) -> None:
        if self._marks.uncomputed:
            where = (coordinates(*place) for place in self._marks.uncomputed)
            raise BadData(
                f"In sheet {self._sheet.name!r}, formulas have no value: {_shown(where)}. The program that wrote the "
                "file has not computed them. Open it in Excel or LibreOffice, and save it."
            )

    def _hidden(self) -> Iterator[str]:
        rows = sum(row > self._top for row in self._marks.hidden_rows)
        columns = [name for at, name in self._named.items() if at in self._marks.hidden_columns]
        if rows:
            yield f"{rows} hidden row{'s' * (rows > 1)} of sheet {self._sheet.name!r} {_count(rows)} like the others"
        if columns:
            named = _shown(map(repr, columns))
            yield f"hidden column{'s' * (len(columns) > 1)} {named} {_count(len(columns))} like the others"


def _chosen(book: CalamineWorkbook, name: str | None) -> tuple[CalamineSheet, list[str]]:
    """The sheet of this name, or else the only one with cells, a visible one if possible; and what to say of it."""
    from python_calamine import SheetTypeEnum, SheetVisibleEnum

    tables = {one.name: one.visible for one in book.sheets_metadata if one.typ == SheetTypeEnum.WorkSheet}
    if name is not None:
        if name not in tables:
            raise BadData(f"There is no sheet {name!r}, only {_shown(map(repr, tables))}.")
        return book.get_sheet_by_name(name), []
    filled = {one: sheet for one in tables if (sheet := book.get_sheet_by_name(one)).start is not None}
    if not filled:
        raise BadData("No sheet has a cell. The first row must name the columns.")
    visible = [one for one in filled if tables[one] == SheetVisibleEnum.Visible]
    candidates = visible or list(filled)
    if len(candidates) > 1:
        raise BadData(f"{len(candidates)} sheets have cells. Say one with --sheet: {_shown(map(repr, candidates))}.")
    hidden = [repr(one) for one in filled if one not in visible]
    if not visible:
        return filled[candidates[0]], [f"sheet {hidden[0]}, which is read, is hidden"]
    return filled[candidates[0]], [f"hidden, and not read: {_listed('sheet', hidden)}"] if hidden else []


@lru_cache(MOST_REMEMBERED, typed=True)
def _text(value: object) -> str:
    return _spelled_duration(value) if isinstance(value, timedelta) else spelled_value(value)


def _spelled_duration(value: timedelta) -> str:
    """As Excel shows [h]:mm:ss, with a fraction of a second where there is one."""
    sign = "-" if value < timedelta() else ""
    minutes, seconds = divmod(abs(value), timedelta(minutes=1))
    fraction = f".{seconds.microseconds:06}".rstrip("0") if seconds.microseconds else ""
    return f"{sign}{minutes // 60}:{minutes % 60:02}:{seconds.seconds:02}{fraction}"


def _filled(cells: _Row) -> int:
    return sum(cell != "" for cell in cells)


def _shown(things: Iterable[str]) -> str:
    listed = list(things)
    more = len(listed) - MOST_SHOWN
    return ", ".join(listed[:MOST_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _listed(what: str, things: Iterable[str]) -> str:
    listed = list(things)
    return f"{what}{'s' * (len(listed) > 1)} {_shown(listed)}"


def _count(many: int) -> str:
    return "count" if many > 1 else "counts"


def _refuse_other_bytes(path: Path) -> None:
    with open(path, "rb") as file:
        start = file.read(len(_OLD_OFFICE))
        if start == _OLD_OFFICE:
            if _ENCRYPTED in file.read():
                raise BadData("The file is protected by a password. Open it, and save it without one.")
            raise BadData("The file is an old .xls by its content. Open it, and save it as .xlsx.")
    if not start.startswith(b"PK"):
        raise BadData(_DAMAGED)


@contextmanager
def _damage_named() -> Iterator[None]:
    """What goes wrong meanwhile is the file's fault."""
    from python_calamine import CalamineError

    try:
        yield
    except BadData:
        raise
    except (CalamineError, *_BROKEN) as error:
        raise BadData(_DAMAGED) from error
