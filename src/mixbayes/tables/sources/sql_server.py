"""Microsoft's SQL Server, through pymssql."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sqlalchemy import NVARCHAR, Connection, cast, func, literal_column, null, select
from sqlalchemy.sql.selectable import FromClause

from mixbayes.tables.sources import statements
from mixbayes.tables.sources.engine import Expression, Field, Holds
from mixbayes.tables.sources.sql_engine import SqlEngine

_HOLDS = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), Holds.WHOLE),
    **dict.fromkeys(("char", "varchar", "nchar", "nvarchar"), Holds.TEXT),
    **dict.fromkeys(("decimal", "numeric"), Holds.DECIMAL),
    "float": Holds.DOUBLE,
    "real": Holds.SINGLE,
}


class SqlServer(SqlEngine):
    """It groups texts without regard to case, and to blanks at their end, unless it is told."""

    driver = "mssql+pymssql"
    arguments: ClassVar[Mapping[str, Any]] = {"read_only": True, "appname": "mixbayes"}
    computes = frozenset({Holds.WHOLE, Holds.DOUBLE, Holds.DECIMAL})  # a real's text has too few digits
    sets_at_once = 15  # at most 32 expressions in all

    def described(self, connection: Connection, relation: FromClause) -> tuple[Field, ...]:
        # The driver's codes tell no float from an integer.
        asked = func.sys.dm_exec_describe_first_result_set(self.render(statements.nothing(relation)), null(), 0)
        answer = asked.table_valued("name", "system_type_name", "column_ordinal", "is_hidden").alias("described")
        shown = select(answer.c.name, answer.c.system_type_name).where(answer.c.is_hidden == 0)
        found = connection.execute(shown.order_by(answer.c.column_ordinal)).all()
        return tuple(Field(str(name), self.holds(kind)) for name, kind in found)

    def holds(self, kind: Any) -> Holds:
        return _HOLDS.get(re.sub(r"\(.*", "", str(kind)), Holds.OTHER)

    def many(self) -> Expression:
        return func.count_big(literal_column("*"))

    def alike(self, field: Field) -> Expression:
        cell = self.column(field)
        return cast(cell, NVARCHAR).collate("Latin1_General_100_BIN2") if field.holds is Holds.TEXT else cell

    def apart(self, field: Field) -> Expression | None:
        return func.datalength(self.column(field)) if field.holds is Holds.TEXT else None

    def value(self, field: Field, value: Any) -> Any:
        return np.float32(value) if field.holds is Holds.SINGLE and value is not None else value
