"""Parquet: a file, or a folder of files as Spark writes it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from mixbayes.protocol.errors import BadData
from mixbayes.tables.cells import Cells, Column
from mixbayes.tables.columns import Columns, refuse_twice
from mixbayes.tables.room import refuse_rows
from mixbayes.tables.sources.ahead import ahead
from mixbayes.tables.sources.arrow_column import ArrowColumn
from mixbayes.tables.sources.parquet_room import refuse_too_large, refuse_without_text, stored_once
from mixbayes.tables.sources.source import Part, Progress, Source, no_progress

BATCH = 1 << 18  # rows at most
BATCH_CELLS = 1 << 21
_INDEX = re.compile(r"__index_level_\d+__")
_UTC = pa.timestamp("us", "UTC")
_NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"


class ParquetFile(Source):
    """One file. `partition` are the columns that stand in the names of its folders, as `year=2024`."""

    def __init__(self, path: Path, partition: Mapping[str, str] | None = None) -> None:
        self.title = str(path)
        self._path = path
        self._partition = dict(partition or {})
        with self._opened() as file:
            stored = tuple(file.schema_arrow.names)
            self._index = _index(file.schema_arrow, stored)
            self._rows = file.metadata.num_rows
            self._moments = _moments(file.schema)
            self._texts = stored_once(file.schema_arrow)
        if self._index:
            left_out = ", ".join(map(repr, self._index))
            self.remarks = (f"{path}: {left_out} is the index of a pandas frame, no column of the table: left out",)
        kept = tuple(name for name in stored if name not in self._index)
        self.names = (*kept, *(name for name in self._partition if name not in kept))
        refuse_twice(self.names)

    def parts(self, names: Sequence[str]) -> Iterator[Part]:
        stored = [name for name in names if name not in self._partition]
        done = 0
        with self._opened() as file:
            if not stored:
                yield self._part(None, names, self._rows, self._rows)
                return
            refuse_without_text(file.schema_arrow, stored)
            refuse_too_large(file, stored)
            for batch in ahead(file.iter_batches(_batch(len(stored)), columns=stored)):
                done += batch.num_rows
                yield self._part(batch, names, batch.num_rows, done)

    def read(self, names: Sequence[str], progress: Progress = no_progress) -> Columns:
        refuse_rows(self._rows, len(names), 1)
        return super().read(names, progress)

    def _part(self, batch: pa.RecordBatch | None, names: Sequence[str], rows: int, done: int) -> Part:
        cells = tuple(self._column(batch, name, rows) for name in names)
        return Part(Columns(tuple(names), cells, rows), done, self._rows)

    def _column(self, batch: pa.RecordBatch | None, name: str, rows: int) -> Column:
        if batch is None or name in self._partition:
            return Cells(np.array([self._partition[name]], np.str_), np.zeros(rows, np.uint8))
        array = batch.column(name)
        return ArrowColumn(name, array.cast(_UTC) if name in self._moments else array)

    @contextmanager
    def _opened(self) -> Iterator[pq.ParquetFile]:
        texts = getattr(self, "_texts", None)
        try:
            with open(self._path, "rb") as file:
                # A buffer filled beforehand would keep all that was read.
                yield pq.ParquetFile(
                    file, read_dictionary=texts, pre_buffer=False, coerce_int96_timestamp_unit=_UTC.unit
                )
        except (pa.ArrowInvalid, pa.ArrowException) as error:
            raise BadData(f"{self._path}: the file is not Parquet, or is damaged.") from error


def parquet_folder(folder: Path) -> list[Source]:
    """Its files in the order of their names; folders below it may be partitions."""
    paths = sorted(path for ending in ("*.parquet", "*.pq") for path in folder.rglob(ending) if path.is_file())
    shown = [path for path in paths if not any(part[0] in "._" for part in path.relative_to(folder).parts)]
    if not shown:
        raise BadData(f"{folder} holds no Parquet files. Name a file, or a folder of files that end in .parquet.")
    return [ParquetFile(path, _partition(path.relative_to(folder))) for path in shown]


def _partition(path: Path) -> dict[str, str]:
    """The columns that Spark and others write into the names of folders."""
    pairs = [part.partition("=") for part in path.parts[:-1]]
    return {unquote(key): "" if value == _NO_PARTITION else unquote(value) for key, sign, value in pairs if sign}


def _batch(columns: int) -> int:
    """Rows of a batch: a power of two, so that few steps of counting are short."""
    return min(BATCH, 1 << max(1, BATCH_CELLS // columns).bit_length() - 1)


def _moments(schema: pq.ParquetSchema) -> list[str]:
    """Columns with times as Spark writes them, in UTC, without saying so."""
    columns = (schema.column(at) for at in range(len(schema)))
    return [column.path for column in columns if column.physical_type == "INT96"]


def _index(schema: pa.Schema, stored: Sequence[str]) -> tuple[str, ...]:
    """What pandas has stored of a frame's index under a name of its own making."""
    described = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    return tuple(name for name in described.get("index_columns", []) if name in stored and _INDEX.fullmatch(str(name)))
