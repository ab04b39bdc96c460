"""Small files that hold far more than their size tells: they take little memory, or are refused before they take it."""

from __future__ import annotations

import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mixbayes.protocol.errors import BadData
from mixbayes.tables import room
from mixbayes.tables.room import OTHERWISE
from mixbayes.tables.sources.opening import open_table, read_table

ROWS = 300_000
REPEATED = "x" * 2000
"""600 MB of it, if every row had its own."""
ROOM = 100
"""Megabytes beyond what the libraries take."""
MEASURE = """
import sys
from mixbayes.protocol.errors import BadData
from mixbayes.tables.sources.opening import open_table, read_table
def peak():
    (line,) = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
    return int(line.split()[1]) >> 10
read_table(sys.argv[1])
before = peak()
try:
    source = open_table(sys.argv[2])
    source.profile(source.names)
except BadData:
    pass
print(peak() - before)
"""


def megabytes(small: Path, bomb: Path) -> int:
    """What reading the second file takes beyond what reading the first one does."""
    command = [sys.executable, "-c", MEASURE, str(small), str(bomb)]
    return int(subprocess.run(command, capture_output=True, text=True, timeout=100, check=True).stdout)


def repeated(kind: pa.DataType) -> pa.Array:
    return pa.DictionaryArray.from_arrays(np.zeros(ROWS, np.int32), pa.array([REPEATED], kind)).cast(kind)


def lists() -> pa.Array:
    """A few thousand rows, of which each holds thousands of numbers."""
    ends = np.arange(0, ROWS // 100 + 1, dtype=np.int32) * 8_000
    return pa.ListArray.from_arrays(ends, np.zeros(ends[-1], np.int64))


def parquet(folder: Path, column: pa.Array) -> Path:
    pq.write_table(pa.table({"a": column}), folder / "t.parquet", compression="zstd")
    assert (folder / "t.parquet").stat().st_size < 1 << 20
    return folder / "t.parquet"


@pytest.mark.parametrize(
    "column",
    [
        lambda: repeated(pa.large_string()),
        lists,
        lambda: pa.array(["x" * 100_000_000, "y"]),
    ],
    ids=["texts", "lists", "one cell"],
)
def test_a_parquet_file_takes_little_memory(tmp_path: Path, column: Callable[[], pa.Array]) -> None:
    small = tmp_path / "small.parquet"
    pq.write_table(pa.table({"a": ["x", "y"]}), small)
    assert megabytes(small, parquet(tmp_path, column())) < ROOM


def test_cells_longer_than_csv_may_have_are_refused_from_every_file(tmp_path: Path) -> None:
    cells = ["y"] * 100 + ["\N{LATIN SMALL LETTER AE}" * 131_073]
    with pytest.raises(BadData, match="has a cell of 131073 characters: free text"):
        read_table(parquet(tmp_path, pa.array(cells)))
    assert read_table(parquet(tmp_path, pa.array([*cells[:-1], cells[-1][1:]]))).rows == 101
    large = tmp_path / "t.csv"
    large.write_text("\n".join(["a", *cells * 8]) + "\n")
    with pytest.raises(BadData, match=r"131073 characters|field larger than field limit \(131072\)"):
        read_table(large)


def test_bytes_of_a_fixed_length_have_no_text(tmp_path: Path) -> None:
    path = parquet(tmp_path, pa.array([bytes(9)], pa.binary(9)))
    with pytest.raises(BadData, match=r"holds fixed_size_binary\[9\], which has no text"):
        read_table(path)


def test_parquet_that_may_not_fit_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = parquet(tmp_path, pa.array(np.arange(10_000)))
    source = open_table(path)
    size = pq.ParquetFile(path).metadata.row_group(0).column(0).total_uncompressed_size
    monkeypatch.setattr(room, "memory_there", lambda: OTHERWISE + size)
    assert source.profile(["a"]).rows == 10_000
    monkeypatch.setattr(room, "memory_there", lambda: OTHERWISE + size - 1)
    with pytest.raises(BadData, match="Write the file with smaller row groups"):
        source.profile(["a"])
    monkeypatch.setattr(room, "memory_there", lambda: OTHERWISE + 9_999)
    with pytest.raises(BadData, match="10,000 rows and 1 columns are too much"):
        source.read(["a"])


def workbook(folder: Path, member: str, content: bytes) -> Path:
    """A workbook of which one part is longer, but stays as well-formed."""
    book, path = openpyxl.Workbook(), folder / "table.xlsx"
    for row in (["a"], ["x"]):
        book.worksheets[0].append(row)
    book.save(folder / "small.xlsx")
    with zipfile.ZipFile(folder / "small.xlsx") as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            text = old.read(name)
            at = text.rindex(b"</")
            new.writestr(name, text[:at] + content + text[at:] if name == member else text)
    return path


@pytest.mark.parametrize("member", ["xl/workbook.xml", "xl/_rels/workbook.xml.rels"])
def test_a_part_of_a_workbook_that_is_parsed_whole_is_not_long(tmp_path: Path, member: str) -> None:
    path = workbook(tmp_path, member, b"<x></x>" * (1 << 22))
    with pytest.raises(BadData, match=rf"part '{member}' has [\d,]+ bytes"):
        read_table(path)


def test_a_workbook_whose_xml_does_not_fit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = workbook(tmp_path, "xl/worksheets/sheet1.xml", b"<x></x>" * 1000)
    with zipfile.ZipFile(path) as archive:
        size = sum(part.file_size for part in archive.infolist() if part.filename.endswith((".xml", ".rels")))
    monkeypatch.setattr(room, "memory_there", lambda: OTHERWISE + 3 * size)
    assert read_table(path).rows == 1
    monkeypatch.setattr(room, "memory_there", lambda: OTHERWISE + 3 * size - 1)
    with pytest.raises(BadData, match="GB of XML, which does not fit"):
        read_table(path)


def test_a_part_longer_than_the_archive_states_is_damage(tmp_path: Path) -> None:
    """The sizes that the archive states are what the memory is compared with."""
    path = workbook(tmp_path, "xl/styles.xml", b" " * 100_000)
    raw = bytearray(path.read_bytes())
    directory = raw.rindex(b"PK\x01\x02", 0, raw.rindex(b"xl/styles.xml"))
    struct.pack_into("<I", raw, directory + 24, 500)
    path.write_bytes(raw)
    with pytest.raises(BadData, match="damaged"):
        read_table(path)
