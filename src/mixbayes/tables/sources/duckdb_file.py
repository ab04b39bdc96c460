"""A file of DuckDB's. It is opened for reading only, and nobody writes to it meanwhile: DuckDB locks it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb
import numpy as np
from sqlalchemy import BigInteger, column, func, literal_column, select, table
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.sql.selectable import FromClause

from mixbayes.protocol.errors import BadData
from mixbayes.tables.sources import statements
from mixbayes.tables.sources.engine import CHUNK, Ask, Engine, Expression, Field, Holds, Rows, Statement, Table

_HOLDS = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"), Holds.WHOLE),
    "FLOAT": Holds.SINGLE,
    "DOUBLE": Holds.DOUBLE,
    "DECIMAL": Holds.DECIMAL,
    "HUGEINT": Holds.DECIMAL,
    "VARCHAR": Holds.TEXT,
    "TIMESTAMP WITH TIME ZONE": Holds.MOMENT,
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAN: Expression = literal_column("CAST('nan' AS DOUBLE PRECISION)")


class DuckDbFile(Engine):
    """DuckDB understands PostgreSQL's SQL. Groupings one by one are faster there than in sets."""

    dialect: Dialect = postgresql.dialect(paramstyle="named")  # type: ignore[no-untyped-call]

    def __init__(self, path: str) -> None:
        self._path = path

    @contextmanager
    def reading(self) -> Iterator[Ask]:
        with self._connected() as connection:
            yield lambda statement: self._answer(connection.cursor(), statement)

    def fields(self, relation: FromClause) -> tuple[Field, ...]:
        with self._connected() as connection:
            described = connection.execute(self.render(statements.nothing(relation))).description or []
        return tuple(Field(name, _holds(str(kind))) for name, kind, *_ in described)

    def tables(self) -> tuple[Table, ...]:
        known = table("tables", column("table_schema"), column("table_name"), schema="information_schema")
        with self.reading() as ask:
            return tuple((str(schema), str(name)) for rows in ask(select(known)) for schema, name in rows)

    def alike(self, field: Field) -> Expression:
        cell = self.column(field)
        if field.holds is Holds.TEXT:
            return cell.collate("C")
        # As a time it would take one more package to fetch.
        return func.epoch_us(cell, type_=BigInteger()) if field.holds is Holds.MOMENT else cell

    def value(self, field: Field, value: Any) -> Any:
        if value is not None and field.holds is Holds.SINGLE:
            return np.float32(value)
        return _EPOCH + timedelta(microseconds=value) if value is not None and field.holds is Holds.MOMENT else value

    def no_number(self, value: Expression) -> Expression:
        return value == _NAN

    def _answer(self, cursor: duckdb.DuckDBPyConnection, statement: Statement) -> Iterator[Rows]:
        with cursor:
            cursor.execute(self.render(statement))
            while rows := cursor.fetchmany(CHUNK):
                yield rows

    @contextmanager
    def _connected(self) -> Iterator[duckdb.DuckDBPyConnection]:
        with _sentences(), duckdb.connect(self._path, read_only=True) as connection:
            connection.execute("SET enable_progress_bar = false")
            yield connection


def _holds(kind: str) -> Holds:
    return _HOLDS.get(re.sub(r"\(.*", "", kind), Holds.OTHER)


@contextmanager
def _sentences() -> Iterator[None]:
    try:
        yield
    except duckdb.Error as error:
        raise BadData(f"DuckDB says: {str(error).splitlines()[0]}.") from None
