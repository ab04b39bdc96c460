"""MySQL and MariaDB, through pymysql."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pymysql
from pymysql.constants import FIELD_TYPE
from sqlalchemy import LargeBinary, String, cast, func, literal_column

from mixbayes.tables.sources.engine import Expression, Field, Holds
from mixbayes.tables.sources.sql_engine import SqlEngine

_HOLDS = {
    **dict.fromkeys(
        (FIELD_TYPE.TINY, FIELD_TYPE.SHORT, FIELD_TYPE.LONG, FIELD_TYPE.INT24, FIELD_TYPE.LONGLONG), Holds.WHOLE
    ),
    **dict.fromkeys((FIELD_TYPE.VARCHAR, FIELD_TYPE.VAR_STRING, FIELD_TYPE.STRING, FIELD_TYPE.BLOB), Holds.TEXT),
    **dict.fromkeys((FIELD_TYPE.DECIMAL, FIELD_TYPE.NEWDECIMAL), Holds.DECIMAL),
    FIELD_TYPE.FLOAT: Holds.SINGLE,
    FIELD_TYPE.DOUBLE: Holds.DOUBLE,
}


class MySql(SqlEngine):
    """It groups texts without regard to case, and fetches them as bytes, which it does not."""

    driver = "mysql+pymysql"
    arguments: ClassVar[Mapping[str, Any]] = {"init_command": "SET SESSION TRANSACTION READ ONLY", "charset": "utf8mb4"}
    options: ClassVar[Mapping[str, Any]] = {"isolation_level": "REPEATABLE READ"}
    errors = pymysql.Error

    def holds(self, kind: Any) -> Holds:
        return _HOLDS.get(kind, Holds.OTHER)

    def alike(self, field: Field) -> Expression:
        cell = self.column(field)
        if field.holds is not Holds.TEXT:
            return cell
        return cast(func.convert(cell.op("USING")(literal_column("utf8mb4"))), LargeBinary)

    def value(self, field: Field, value: Any) -> Any:
        return value.decode() if isinstance(value, bytes) and field.holds is Holds.TEXT else value

    def double(self, field: Field) -> Expression:
        cell = self.column(field)
        number = cast(cell, String(64)) if field.holds is Holds.SINGLE else cell
        return number.op("+")(self.number(0.0))  # CAST knows DOUBLE only in newer versions
