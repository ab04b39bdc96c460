"""What the XML of a workbook says of a sheet that Calamine does not: error cells, uncomputed formulas, hidden rows."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from xml.etree import ElementTree
from xml.parsers import expat
from zipfile import ZipFile

from mixbayes.tables.sources.workbook_room import refuse_large_part

CHUNK = 1 << 20
_WORTH_PARSING = (b'"e"', b"'e'", b"<f", b":f", b"hidden")
_REFERENCE = re.compile(r"([A-Z]+)([0-9]+)")

_ROW = re.compile(rb"<(?:\w+:)?row\b[^>]*?\br=[\"']([0-9]+)")
_CELL = re.compile(rb"<(?:\w+:)?c\b[^>]*?\br=[\"']([A-Z]+)([0-9]+)")
_LONGEST_TAG = 1 << 10
MOST_ROWS, MOST_COLUMNS = 1 << 20, 1 << 14
"""What Excel has."""
MOST_CELLS = 1 << 26
"""Calamine holds every cell of the rectangle up to the farthest one, whether it is filled or not."""

Place = tuple[int, int]
"""Row and column of a cell, from 0 on."""


@dataclass
class Marks:
    """What there is to know of a sheet besides its values."""

    errors: dict[int, dict[int, str]] = field(default_factory=dict)
    """By row and column, what a cell shows instead of a value: #N/A, #DIV/0!."""
    uncomputed: list[Place] = field(default_factory=list)
    """Formulas whose value was not stored."""
    hidden_rows: set[int] = field(default_factory=set)
    """Those with a value."""
    hidden_columns: set[int] = field(default_factory=set)


def marks(path: Path, sheet: str) -> Marks:
    """Of this sheet of the workbook. Its XML is parsed only if it mentions any of these."""
    with ZipFile(path) as archive:
        member = _member(archive, sheet)
        with archive.open(member) as file:
            if not any(word in text for text in _overlapping(file) for word in _WORTH_PARSING):
                return Marks()
        with archive.open(member) as file:
            return _Parsing(file).marks


def too_far(path: Path) -> str:
    """Where a sheet of the workbook has a cell so far from the first one that it cannot be read, or nothing."""
    with ZipFile(path) as archive:
        for member in archive.namelist():
            if not member.endswith(".xml") or "sheets/" not in member:
                continue
            with archive.open(member) as file:
                rows, columns = _extent(file)
            if rows > MOST_ROWS or columns > MOST_COLUMNS or rows * columns > MOST_CELLS:
                return f"row {rows}, column {letters(columns - 1)}"
    return ""


def _extent(file: IO[bytes]) -> Place:
    """The last row and the last column that cells name; of cells that name none this says nothing."""
    rows, columns = 1, 1
    for text in _overlapping(file, _LONGEST_TAG):
        found = _CELL.findall(text)
        rows = max(rows, *map(int, {*_ROW.findall(text), *(row for _, row in found)}), 1)
        columns = max(columns, *(_number(name.decode()) for name in {name for name, _ in found}), 1)
    return rows, columns


def _number(name: str) -> int:
    """Of a column by its letters, from 1 on."""
    number = 0
    for letter in name:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def letters(column: int) -> str:
    """The name that Excel gives a column: A, B, ... Z, AA."""
    text = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        text = chr(ord("A") + letter) + text
    return text


def coordinates(row: int, column: int) -> str:
    """The name that Excel gives a cell."""
    return f"{letters(column)}{row + 1}"


def _overlapping(file: IO[bytes], by: int = max(map(len, _WORTH_PARSING))) -> Iterator[bytes]:
    end = b""
    while chunk := file.read(CHUNK):
        yield end + chunk
        end = chunk[-by:]


def _member(archive: ZipFile, sheet: str) -> str:
    """The name in the archive of the sheet's XML, by way of the workbook's."""
    (book,) = (part for kind, _, part in _relations(archive, "") if kind == "officeDocument")
    parts = {key: part for _, key, part in _relations(archive, book)}
    for element in _parsed(archive, book).iter():
        if _local(element.tag) == "sheet" and element.get("name") == sheet:
            (key,) = (value for name, value in element.items() if name.endswith("relationships}id"))
            return parts[key]
    raise LookupError(sheet)


def _relations(archive: ZipFile, part: str) -> Iterator[tuple[str, str, str]]:
    """To what a part of the archive refers: the kind, the key, and the other part."""
    folder, name = posixpath.split(part)
    for element in _parsed(archive, posixpath.join(folder, "_rels", f"{name}.rels")):
        kind = element.attrib["Type"].rpartition("/")[2]
        target = posixpath.normpath(posixpath.join("/", folder, element.attrib["Target"]))
        yield kind, element.attrib["Id"], target.lstrip("/")


def _parsed(archive: ZipFile, name: str) -> ElementTree.Element:
    refuse_large_part(archive, name)
    return ElementTree.fromstring(archive.read(name))


def _local(tag: str) -> str:
    """The name of an element without its namespace or prefix."""
    return re.split("[}:]", tag)[-1]


class _Parsing:
    """One pass through a sheet's XML."""

    def __init__(self, file: IO[bytes]) -> None:
        self.marks = Marks()
        self._place = (-1, -1)
        self._kind = self._value = ""
        self._formula = self._hidden = False
        self._texts: list[str] | None = None
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.ParseFile(file)

    def _start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = _local(tag)
        if name == "c":
            self._place = self._placed(attributes.get("r"))
            self._kind, self._formula, self._value = attributes.get("t", "n"), False, ""
        elif name in ("v", "is"):
            self._texts = []
            if self._hidden:
                self.marks.hidden_rows.add(self._place[0])
        elif name == "f":
            self._formula = True
        elif name == "row":
            row = attributes.get("r")
            self._place = (int(row) - 1 if row else self._place[0] + 1, -1)
            self._hidden = _said(attributes.get("hidden"))
        elif name == "col" and _said(attributes.get("hidden")):
            last = min(int(attributes["max"]), MOST_COLUMNS)
            self.marks.hidden_columns.update(range(int(attributes["min"]) - 1, last))

    def _end(self, tag: str) -> None:
        name = _local(tag)
        if name in ("v", "is") and self._texts is not None:
            self._value, self._texts = "".join(self._texts), None
        elif name == "c":
            row, column = self._place
            if self._kind == "e":
                self.marks.errors.setdefault(row, {})[column] = self._value
            elif self._formula and not self._value and self._kind != "str":
                self.marks.uncomputed.append(self._place)

    def _text(self, text: str) -> None:
        if self._texts is not None:
            self._texts.append(text)

    def _placed(self, reference: str | None) -> Place:
        """Where a cell is; one that does not say it comes after the one before."""
        row, column = self._place
        if reference is None:
            return row, column + 1
        found = _REFERENCE.fullmatch(reference)
        if not found:
            raise ValueError(reference)
        return int(found[2]) - 1, _number(found[1]) - 1


def _said(flag: str | None) -> bool:
    return flag in ("1", "true")
