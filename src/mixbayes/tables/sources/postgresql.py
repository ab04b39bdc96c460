"""PostgreSQL."""

from __future__ import annotations

import typing
from collections.abc import Generator, Iterator, Mapping
from itertools import islice
from typing import Any, ClassVar

import psycopg
from sqlalchemy import URL, Connection, Double, Text, cast, func, literal_column

from mixbayes.protocol.attributes.elsewhere import Arithmetic
from mixbayes.tables.sources.engine import CHUNK, Expression, Field, Holds, Rows, Statement
from mixbayes.tables.sources.sql_engine import SqlEngine

_HOLDS = {
    **dict.fromkeys((20, 21, 23), Holds.WHOLE),
    **dict.fromkeys((25, 1043), Holds.TEXT),
    700: Holds.SINGLE,
    701: Holds.DOUBLE,
    1700: Holds.DECIMAL,
}
"""By the numbers that types have in PostgreSQL's catalogue."""
_OWN_TYPES = 16384
"""Types that the database itself defines have larger numbers."""
_AT_ONCE = CHUNK if psycopg.capabilities.has_stream_chunked() else 1
"""Rows that the driver takes over at a time; an older libpq knows no chunks."""
_NAN: Expression = literal_column("CAST('NaN' AS DOUBLE PRECISION)")


class PostgreSql(SqlEngine):
    """Answers of one transaction that reads only, and sees one state of the data."""

    driver = "postgresql+psycopg"
    arguments: ClassVar[Mapping[str, Any]] = {"application_name": "mixbayes"}
    options: ClassVar[Mapping[str, Any]] = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    errors = psycopg.Error
    sets_at_once = 400  # an answer has at most 1664 columns

    def address(self, url: URL) -> URL:
        return url.set(drivername=self.driver)  # the driver has its own places for a password

    def prepare(self, connection: Connection) -> None:
        connection.exec_driver_sql("SET LOCAL extra_float_digits = 1")  # all digits of numbers
        connection.exec_driver_sql("SET LOCAL jit = off")  # to compile so many expressions takes longer than they do

    def holds(self, kind: Any) -> Holds:
        return Holds.TEXT if kind >= _OWN_TYPES else _HOLDS.get(kind, Holds.OTHER)

    def alike(self, field: Field) -> Expression:
        # An enumeration and text that ignores case are read as texts, of which `C` makes none alike.
        return cast(self.column(field), Text).collate("C") if field.holds is Holds.TEXT else self.column(field)

    def double(self, field: Field) -> Expression:
        if field.holds is Holds.DECIMAL:
            return cast(self.column(field), Double)  # by way of its text
        return super().double(field)

    def no_number(self, value: Expression) -> Expression:
        return value == _NAN

    def number(self, value: float) -> Expression:
        return literal_column(f"CAST({float(value)!r} AS DOUBLE PRECISION)", Double())  # as a decimal it would be slow

    def fenced(self, inner: Statement) -> Statement:
        return inner.offset(literal_column("0"))  # else every use of an expression computes it again

    def nearest(self, value: Expression, by: Arithmetic) -> Expression:
        return func.round(value, type_=Double())  # of a float64: ties to even

    def answer(self, connection: Connection, statement: Statement) -> Iterator[Rows]:
        # A cursor of the server would keep it from using several processors. The driver can read row by row, too.
        compiled = statement.compile(dialect=self.dialect)
        driver = typing.cast(psycopg.Connection[Any], connection.connection.driver_connection)
        # A savepoint, because an answer that is not read to its end is an error to PostgreSQL.
        with driver.transaction(), driver.cursor() as cursor:
            rows = cursor.stream(str(compiled).encode(), compiled.params, size=_AT_ONCE)
            try:
                while chunk := list(islice(rows, CHUNK)):
                    yield chunk
            finally:
                typing.cast("Generator[Any]", rows).close()
