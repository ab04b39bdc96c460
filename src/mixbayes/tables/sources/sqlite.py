"""SQLite."""

from __future__ import annotations

from urllib.parse import quote

from sqlalchemy import URL

from mixbayes.protocol.errors import Unsupported
from mixbayes.tables.sources.engine import Expression, Field
from mixbayes.tables.sources.sql_engine import SqlEngine


class Sqlite(SqlEngine):
    """A file, opened for reading only. Its columns have no types that bind, so that every value is looked at here."""

    driver = "sqlite+pysqlite"

    def address(self, url: URL) -> URL:
        if not url.database or url.host:
            raise Unsupported("Write sqlite:///FILE, with a fourth slash if the path begins with one.")
        return URL.create(self.driver, database=f"file:{quote(url.database)}", query={"mode": "ro", "uri": "true"})

    def alike(self, field: Field) -> Expression:
        return self.column(field).collate("BINARY")
