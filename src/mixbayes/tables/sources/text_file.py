"""CSV files: cells between separators, quoted as Python's csv module reads them; blank lines are no rows.

Python's reader is the reference and explains what is wrong. Large files are read by Arrow, which finds the same cells.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from io import TextIOWrapper
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Protocol, TextIO, TypeVar

from mixbayes.protocol.errors import BadData
from mixbayes.tables.cells import Listed
from mixbayes.tables.columns import Columns, refuse_twice
from mixbayes.tables.sources.how import How
from mixbayes.tables.sources.source import Part, Source

BLOCK = 1 << 12  # rows that Python reads at a time: its lists of them stay in the cache
ARROW_ABOVE = 1 << 20  # bytes of a file that is worth loading Arrow
SEPARATORS = ",;\t|"
MOST_SHOWN = 20
LONGEST_SHOWN = 60
_NAMED_SEPARATOR = re.compile(r"sep=([^\w\s\"]|\t)", re.IGNORECASE)
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}

Found = TypeVar("Found")


class _Lines(Protocol):
    """What Python's csv reader is: rows, and the number of the line just read."""

    @property
    def line_num(self) -> int: ...

    def __iter__(self) -> Iterator[list[str]]: ...

    def __next__(self) -> list[str]: ...


@dataclass(frozen=True)
class Dialect:
    """How the text of a file is made up."""

    encoding: str
    delimiter: str
    named: bool = False
    """Whether the first line is `sep=;`, by which Excel knows the separator: no header."""

    def lines(self, file: TextIO) -> Iterable[str]:
        """The file's lines for Python's reader, with a blank one instead of that, so that their numbers are right."""
        if not self.named:
            return file
        file.readline()
        return chain(["\n"], file)


class TextFile(Source):
    """A CSV file on this machine."""

    def __init__(self, path: Path, how: How) -> None:
        self.title = str(path)
        self._path = path
        encoding = how.encoding or _encoding(path)
        if how.encoding is None and encoding == "cp1252":
            self.remarks = (f"{path} is not UTF-8 and is read as Windows-1252; --encoding names another encoding",)
        self._dialect = _dialect(path, encoding, how.delimiter)
        self.names = tuple(_with_reader(path, self._dialect, _header))
        refuse_twice(self.names)

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        size = self._path.stat().st_size
        if size <= ARROW_ABOVE or not find_spec("pyarrow"):
            yield from self._by_python(names, 0)
            return
        from mixbayes.tables.sources.large_text import Stopped, parts

        read = 0
        try:
            for part in parts(self._path, self._dialect, self.names, names):
                read += part.columns.rows
                yield part
        except Stopped:
            yield from self._by_python(names, read)

    def _by_python(self, names: Sequence[str], skipped: int) -> Iterator[Part]:
        """The rows after the first ones. A file with uneven rows is read once more, to name them."""
        wanted = [self.names.index(name) for name in names]
        size = self._path.stat().st_size
        with open(self._path, "rb") as binary, TextIOWrapper(binary, self._dialect.encoding, newline="") as file:
            reader = csv.reader(self._dialect.lines(file), delimiter=self._dialect.delimiter)
            try:
                rows = islice(filter(None, reader), 1 + skipped, None)
                while block := list(islice(rows, BLOCK)):
                    if set(map(len, block)) != {len(self.names)}:
                        raise BadData(self._uneven())
                    if len(self.names) > 1 and list(self.names) in block:
                        raise BadData(_with_reader(self._path, self._dialect, _repeated))
                    columns = list(zip(*block, strict=True))
                    cells = tuple(Listed(self.names[at], columns[at]) for at in wanted)
                    yield Part(Columns(tuple(names), cells, len(block)), binary.tell(), size)
            except csv.Error as error:
                raise BadData(f"Line {reader.line_num} is not CSV: {error}.") from error
            except UnicodeDecodeError as error:
                raise BadData(_not_text(self._dialect.encoding)) from error

    def _uneven(self) -> str:
        above = _with_reader(self._path, self._dialect, _lines_above)
        return above or _with_reader(self._path, self._dialect, lambda reader: _ragged(reader, self._dialect))


def _encoding(path: Path) -> str:
    """What the bytes look like: marked, UTF-8, or else what Excel writes in Western Europe."""
    with open(path, "rb") as file:
        start = file.read(4)
        for mark, encoding in _MARKS.items():
            if start.startswith(mark):
                return encoding
        file.seek(0)
        decoder = codecs.getincrementaldecoder("utf-8")()
        encoding = "utf-8"
        while part := file.read(1 << 20):
            if b"\0" in part:  # numpy drops a NUL at the end of a cell
                raise BadData("The file holds NUL bytes. Save it as CSV in UTF-8.")
            if encoding == "utf-8" and not _decodes(decoder, part):
                encoding = "cp1252"
    return encoding if encoding != "utf-8" or _decodes(decoder, b"", final=True) else "cp1252"


def _decodes(decoder: codecs.IncrementalDecoder, part: bytes, final: bool = False) -> bool:
    try:
        decoder.decode(part, final)
    except UnicodeDecodeError:
        return False
    return True


def _not_text(encoding: str) -> str:
    return f"The file is not text in {encoding}. Save it as CSV in UTF-8, or say --encoding."


def _with_reader(path: Path, dialect: Dialect, read: Callable[[_Lines], Found]) -> Found:
    with open(path, newline="", encoding=dialect.encoding) as file:
        reader = csv.reader(dialect.lines(file), delimiter=dialect.delimiter)
        try:
            return read(reader)
        except UnicodeDecodeError as error:
            raise BadData(_not_text(dialect.encoding)) from error
        except csv.Error as error:
            raise BadData(f"Line {reader.line_num} is not CSV: {error}.") from error


def _dialect(path: Path, encoding: str, delimiter: str | None) -> Dialect:
    """With this delimiter, or else the one that Excel's first line names, or the one that the header suggests."""
    first = _with_reader(path, Dialect(encoding, "\0"), lambda reader: "".join(next(reader, [])))
    if named := _NAMED_SEPARATOR.fullmatch(first):
        return Dialect(encoding, delimiter or named[1], named=True)
    header = _with_reader(path, Dialect(encoding, ","), _line_above_all)
    return Dialect(encoding, delimiter or _delimiter(header))


def _line_above_all(reader: _Lines) -> str:
    """The first row, its cells joined again."""
    return ",".join(next(filter(None, reader), []))


def _delimiter(header: str) -> str:
    """The separator that the header has most of; a comma where it has none."""
    return max(SEPARATORS, key=header.count)


def _header(reader: _Lines) -> list[str]:
    names = next(filter(None, reader), None)
    if names is None:
        raise BadData("The file is empty; its first line must name the columns.")
    return names


def _lines_above(reader: _Lines) -> str:
    """What to say if lines with fewer cells stand above a table that is in order, else nothing."""
    runs = groupby(filter(None, reader), len)
    width, top = next(runs)
    shown, at = next(top)[0][:LONGEST_SHOWN], reader.line_num
    cells, _ = next(runs)
    line = reader.line_num
    about = width == 1 or shown.startswith("#")
    if not about or cells < width + 2 or next(runs, None):  # a cell or two too many may be unquoted commas
        return ""
    return (
        f"Line {at}, {shown!r}, has {width} cell{'s' * (width > 1)}, line {line} and all after it have {cells}. Remove "
        "the lines above the header."
    )


def _repeated(reader: _Lines) -> str:
    """Name the first line that is the header again, as where two exports were joined."""
    header = next(filter(None, reader))
    next(row for row in reader if row == header)
    return f"Line {reader.line_num} is the header again. Remove it."


def _ragged(reader: _Lines, dialect: Dialect) -> str:
    """Name the lines; the file is read again, because only now they matter."""
    rows = filter(None, reader)
    width = len(next(rows))
    wrong = ((reader.line_num, len(row)) for row in rows if len(row) != width)
    shown = ", ".join(f"line {line} has {cells}" for line, cells in islice(wrong, MOST_SHOWN))
    more = sum(1 for _ in wrong)
    lines = shown + (f" and {more} more lines are wrong" if more else "")
    if width == 1:
        return f"The header names 1 column, but {lines}. Say with --delimiter what separates cells."
    separator = "commas" if dialect.delimiter == "," else repr(dialect.delimiter)
    return f"The header names {width} columns, but {lines}. Quote cells that hold {separator}."
