"""Spark's SQL, as SQLAlchemy renders it."""

from __future__ import annotations

from typing import Any

from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.sql.compiler import GenericTypeCompiler, IdentifierPreparer, SQLCompiler


class _Names(IdentifierPreparer):
    def __init__(self, dialect: DefaultDialect) -> None:
        super().__init__(dialect, initial_quote="`", escape_quote="`")


class _Types(GenericTypeCompiler):
    def visit_VARCHAR(self, type_: Any, **kw: Any) -> str:
        return "STRING"


class _Statements(SQLCompiler):
    def render_literal_value(self, value: Any, type_: Any) -> str:
        """Texts of Spark's own: a backslash says how to take the character after it."""
        if isinstance(value, str):
            escaped = value.replace("\\", "\\\\").replace("'", "\\'")
            return f"'{escaped}'"
        return super().render_literal_value(value, type_)


class SparkDialect(DefaultDialect):
    """What differs from the standard in the statements that are asked of Spark."""

    name = "spark"
    supports_statement_cache = True
    type_compiler_cls = _Types
    statement_compiler = _Statements

    def __init__(self) -> None:
        super().__init__(paramstyle="named")
        self.identifier_preparer = _Names(self)
