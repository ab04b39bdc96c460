"""Oracle, through oracledb, which needs no client of Oracle's."""

from __future__ import annotations

from typing import Any

import oracledb
from sqlalchemy import Connection, Double, func, literal_column

from mixbayes.tables.sources.engine import Expression, Field, Holds
from mixbayes.tables.sources.sql_engine import SqlEngine

_HOLDS = {
    oracledb.DB_TYPE_NUMBER: Holds.DECIMAL,
    oracledb.DB_TYPE_BINARY_DOUBLE: Holds.DOUBLE,
    oracledb.DB_TYPE_BINARY_FLOAT: Holds.SINGLE,
}


class Oracle(SqlEngine):
    """Answers of one transaction that reads only, and sees one state of the data. Empty texts are null there."""

    driver = "oracle+oracledb"
    errors = oracledb.Error
    computes = frozenset({Holds.DOUBLE, Holds.DECIMAL})  # the text of a BINARY_FLOAT has too many digits
    sets_at_once = 100

    def prepare(self, connection: Connection) -> None:
        connection.exec_driver_sql("SET TRANSACTION READ ONLY")

    def holds(self, kind: Any) -> Holds:
        return _HOLDS.get(kind, Holds.OTHER)

    def double(self, field: Field) -> Expression:
        cell = self.column(field)
        text = func.to_char(cell) if field.holds is Holds.DECIMAL else cell
        return func.to_binary_double(text, type_=Double())

    def number(self, value: float) -> Expression:
        return literal_column(f"{float(value)!r}d", Double())

    def no_number(self, value: Expression) -> Expression:
        return value.op("IS")(literal_column("NAN"))
