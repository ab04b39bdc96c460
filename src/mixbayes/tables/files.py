"""Reading a hospital's table from disk: CSV with a header, or Parquet by its name's ending; all as text."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, islice
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from mixbayes.protocol.attributes.cells import Texts
from mixbayes.protocol.errors import BadData
from mixbayes.tables.columns import Columns

PARQUET = (".parquet", ".pq")
BLOCK = 1 << 12  # rows read at a time: Python's lists of them stay in the cache
WIDEST = 1 << 32  # bytes of one column in memory, where its longest cell sets the width of all
MOST_SHOWN = 20
OTHER_SEPARATORS = ";\t|"
LONGEST_SHOWN = 60
COMMAS = "Cells are separated by commas, not by semicolons or tabs."

Found = TypeVar("Found")


class _Lines(Protocol):
    """What Python's csv reader is: rows, and the number of the line just read."""

    @property
    def line_num(self) -> int: ...

    def __iter__(self) -> Iterator[list[str]]: ...

    def __next__(self) -> list[str]: ...


def read_table(path: str | Path) -> Columns:
    """The table in this file. CSV cells are as Python's csv module reads them; blank lines are no rows."""
    path = Path(path)
    if path.exists() and not path.is_file():
        raise BadData(f"{path} cannot be read: it is no file.")
    try:
        table = _read_parquet(path) if path.suffix.lower() in PARQUET else _read_csv(path)
        return replace(table, source=str(path))
    except OSError as error:
        raise BadData(f"{path} cannot be read: {error.strerror or 'damaged file'}.") from error
    except BadData as error:
        raise type(error)(f"{path}: {error}") from None


def _read_csv(path: Path) -> Columns:
    _refuse_binary(path)
    try:
        return _with_reader(path, _from_rows)
    except _Ragged:
        raise BadData(_with_reader(path, _lines_above) or _with_reader(path, _ragged)) from None


def _with_reader(path: Path, read: Callable[[_Lines], Found]) -> Found:
    with open(path, newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file)
        try:
            return read(reader)
        except UnicodeDecodeError as error:
            raise BadData("The file is not UTF-8 text. Save it as CSV in UTF-8, with commas between cells.") from error
        except csv.Error as error:
            raise BadData(f"Line {reader.line_num} is not CSV: {error}.") from error


def _refuse_binary(path: Path) -> None:
    # UTF-16, as spreadsheets export it, has NUL bytes. Besides, numpy drops a NUL at the end of a cell.
    with open(path, "rb") as file:
        while part := file.read(1 << 20):
            if b"\0" in part:
                raise BadData("The file holds NUL bytes. Save it as CSV in UTF-8.")


class _Ragged(Exception):
    """Some row has more or fewer cells than the header."""


def _from_rows(reader: Iterator[list[str]]) -> Columns:
    rows = filter(None, reader)
    names = next(rows, None)
    if names is None:
        raise BadData("The file is empty; its first line must name the columns.")
    if len(names) == 1 and any(separator in names[0] for separator in OTHER_SEPARATORS):
        raise BadData(f"The header names 1 column, {names[0]!r}. {COMMAS}")
    blocks = []
    while block := list(islice(rows, BLOCK)):
        if set(map(len, block)) != {len(names)}:
            raise _Ragged
        blocks.append([np.array(cells, np.str_) for cells in zip(*block, strict=True)])
    columns = tuple(_joined(name, parts) for name, *parts in zip(names, *blocks, strict=True))
    return Columns(tuple(names), columns, len(columns[0]))


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


def _ragged(reader: _Lines) -> str:
    """Name the lines; the file is read again, because only now they matter."""
    rows = filter(None, reader)
    width = len(next(rows))
    wrong = ((reader.line_num, len(row)) for row in rows if len(row) != width)
    shown = ", ".join(f"line {line} has {cells}" for line, cells in islice(wrong, MOST_SHOWN))
    more = sum(1 for _ in wrong)
    lines = shown + (f" and {more} more lines are wrong" if more else "")
    if width == 1:
        return f"The header names 1 column, but {lines}. {COMMAS}"
    return f"The header names {width} columns, but {lines}. Quote cells that hold commas."


def _joined(name: str, parts: Sequence[Texts]) -> Texts:
    rows, width = sum(map(len, parts)), max((part.itemsize for part in parts), default=0)
    _refuse_wide(name, rows, width)
    return np.concatenate(parts) if parts else np.array([], np.str_)


def _refuse_wide(name: str, rows: int, width: int) -> None:
    if rows * width > WIDEST:
        raise BadData(
            f"Column {name!r} has {rows} rows and a cell of {width // 4} characters, too much to hold. "
            "Remove columns of free text."
        )


def _read_parquet(path: Path) -> Columns:
    with open(path, "rb") as file:
        try:
            table = pq.ParquetFile(file).read()
        except pa.ArrowInvalid as error:
            raise BadData("The file is not Parquet, or is damaged.") from error
    names = tuple(table.column_names)
    columns = tuple(_texts(name, column) for name, column in zip(names, table.columns, strict=True))
    return Columns(names, columns, table.num_rows)


def _texts(name: str, column: pa.ChunkedArray) -> Texts:
    """Numbers as their shortest text, so that 1.0 is `1`; null and not-a-number are the empty cell."""
    try:
        chunks = [_as_text(chunk).dictionary_encode() for chunk in column.chunks]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise BadData(f"Column {name!r} holds {column.type}, which has no text. Remove it.") from error
    distinct = [np.array(chunk.dictionary.to_pylist(), np.str_) for chunk in chunks]
    _refuse_wide(name, len(column), max((values.itemsize for values in distinct), default=0))
    indices = [chunk.indices.to_numpy() for chunk in chunks]
    return _joined(name, [values[at] for values, at in zip(distinct, indices, strict=True)])


def _as_text(chunk: pa.Array) -> pa.StringArray:
    if pa.types.is_decimal(chunk.type) and chunk.type.scale > 0:
        chunk = chunk.cast(pa.float64())  # else 1.5 in a column of two decimals would be `1.50`
    if pa.types.is_floating(chunk.type):
        chunk = pa.array(chunk.to_numpy(zero_copy_only=False), from_pandas=True)  # not-a-number becomes null
    return chunk.cast(pa.string()).fill_null("")
