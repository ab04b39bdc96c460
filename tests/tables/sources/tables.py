"""One small table of every type, written to every place that a table can be read from."""

from __future__ import annotations

import csv
import math
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from mixbayes.tables.spelling import spelled_value

TYPES: dict[str, tuple[pa.DataType, str, str]] = {
    "word": (pa.string(), "varchar", "text"),
    "whole": (pa.int64(), "bigint", "bigint"),
    "wide": (pa.float64(), "double", "double precision"),
    "narrow": (pa.float32(), "float", "real"),
    "money": (pa.decimal128(12, 3), "decimal(12, 3)", "decimal(12, 3)"),
    "sure": (pa.bool_(), "boolean", "boolean"),
    "day": (pa.date32(), "date", "date"),
    "moment": (pa.timestamp("us"), "timestamp", "timestamp"),
    "label": (pa.string(), "varchar", "text"),
}
"""What each kind of column is in Arrow, DuckDB and PostgreSQL."""

_CHARACTERS = st.characters(exclude_categories=("C", "Z"))
_TEXTS = st.sampled_from(["a", "A", "ä", "a ", "'", '"', "1", "1.0", "?", "", "%s", ":x", "\\", "NA"]) | st.text(
    _CHARACTERS
)
_NUMBERS = st.sampled_from([0.0, -0.0, 0.1, 0.5, 1.0, 1e-7, 1234567.0, math.nan])
_CELLS: dict[str, st.SearchStrategy[Any]] = {
    "word": _TEXTS,
    "whole": st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1),
    "wide": _NUMBERS | st.floats(-1e9, 1e9),
    "narrow": _NUMBERS | st.floats(-1e7, 1e7, width=32),
    "money": st.decimals(-1000, 1000, places=3),
    "sure": st.booleans(),
    "day": st.dates(date(1900, 1, 1), date(2100, 1, 1)),
    "moment": st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)) | st.just(datetime(2020, 1, 1)),
    "label": st.sampled_from(["ill", "well", "Well"]),
}


@dataclass(frozen=True)
class Made:
    """Its columns by their kinds, in the order of TYPES."""

    names: tuple[str, ...]
    rows: list[tuple[Any, ...]]

    def name(self, kind: str) -> str:
        return self.names[list(TYPES).index(kind)]

    def texts(self) -> list[list[str]]:
        return [
            [spelled_value(_narrow(kind, cell)) for kind, cell in zip(TYPES, row, strict=True)] for row in self.rows
        ]


@st.composite
def made_tables(draw: st.DrawFn) -> Made:
    names = [draw(st.text(_CHARACTERS, min_size=1, max_size=5)) + f" {kind}" for kind in TYPES]
    cells = [strategy if kind == "label" else st.none() | strategy for kind, strategy in _CELLS.items()]
    return Made(tuple(names), draw(st.lists(st.tuples(*cells), min_size=1, max_size=30)))


def write_csv(made: Made, path: Path) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([made.names, *made.texts()])


def write_parquet(made: Made, path: Path) -> None:
    columns = [list(column) for column in zip(*made.rows, strict=True)]
    arrays = [pa.array(column, kind) for column, (kind, _, _) in zip(columns, TYPES.values(), strict=True)]
    pq.write_table(pa.table(arrays, names=list(made.names)), path)


def write_duckdb(made: Made, path: Path) -> None:
    path.unlink(missing_ok=True)
    with duckdb.connect(path) as connection:
        connection.execute(f"create table patients ({_declared(made, 1)})")
        connection.executemany(f"insert into patients values ({', '.join('?' * len(TYPES))})", made.rows)


def write_sqlite(made: Made, path: Path) -> None:
    """It has neither booleans nor decimals nor dates: those are texts. Its numbers have 64 bits."""
    path.unlink(missing_ok=True)
    rows = [
        [_in_sqlite(kind, cell, text) for kind, cell, text in zip(TYPES, row, texts, strict=True)]
        for row, texts in zip(made.rows, made.texts(), strict=True)
    ]
    with sqlite3.connect(path) as connection:
        connection.execute(f"create table patients ({', '.join(map(quoted, made.names))})")
        connection.executemany(f"insert into patients values ({', '.join('?' * len(TYPES))})", rows)
    connection.close()


def write_postgres(made: Made, connection: psycopg.Connection) -> None:
    connection.execute("drop table if exists patients")
    connection.execute(f"create table patients ({_declared(made, 2)})".encode())
    with connection.cursor() as cursor:
        cursor.executemany(f"insert into patients values ({', '.join(['%s'] * len(TYPES))})".encode(), made.rows)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _declared(made: Made, place: int) -> str:
    types: Sequence[Any] = [kinds[place] for kinds in TYPES.values()]
    return ", ".join(f"{quoted(name)} {kind}" for name, kind in zip(made.names, types, strict=True))


def _in_sqlite(kind: str, cell: Any, text: str) -> Any:
    if kind == "narrow":
        return float(text) if text else None
    return cell if kind in ("word", "whole", "wide", "label") else text


def _narrow(kind: str, cell: Any) -> Any:
    return (
        pa.array([cell], pa.float32()).to_numpy(zero_copy_only=False)[0]
        if kind == "narrow" and cell is not None
        else cell
    )
