"""SQLite."""

from __future__ import annotations

from sqlalchemy import URL

from mixbayes.tables.sources.engine import Expression, Field
from mixbayes.tables.sources.sql_engine import SqlEngine


class Sqlite(SqlEngine):
    """A file, opened for reading only. Its columns have no types that bind, so that every value is looked at here."""

    driver = "sqlite+pysqlite"

    def address(self, url: URL) -> URL:
        return url.set(drivername=self.driver, database=f"file:{url.database}", query={"mode": "ro", "uri": "true"})

    def alike(self, field: Field) -> Expression:
        return self.column(field).collate("BINARY")
