"""Databases that SQLAlchemy connects to."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

from sqlalchemy import URL, Connection, create_engine, inspect
from sqlalchemy.exc import InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import NullPool
from sqlalchemy.sql.selectable import FromClause

from mixbayes.protocol.errors import BadData
from mixbayes.tables.sources import statements
from mixbayes.tables.sources.engine import CHUNK, Ask, Engine, Field, Holds, Rows, Statement, Table
from mixbayes.tables.sources.source import SourceAway

PASSWORD = "MIXBAYES_DATABASE_PASSWORD"
"""The variable of the environment that holds it, for databases whose drivers have no place of their own for it."""


class SqlEngine(Engine):
    """A database. What differs between them is in a class each."""

    driver: ClassVar[str]
    """SQLAlchemy's name for the database and the package that connects."""
    arguments: ClassVar[Mapping[str, Any]] = {}
    """For the driver, on connecting."""
    options: ClassVar[Mapping[str, Any]] = {}
    """For SQLAlchemy, of every connection."""

    errors: ClassVar[type[Exception]] = SQLAlchemyError
    """What the driver raises where SQLAlchemy does not call it."""

    def __init__(self, url: URL) -> None:
        made = create_engine(
            self.address(url), poolclass=NullPool, hide_parameters=True, connect_args=dict(self.arguments)
        )
        self._engine = made.execution_options(**self.options)
        self.dialect = self._engine.dialect

    def address(self, url: URL) -> URL:
        """The URL as SQLAlchemy takes it."""
        return url.set(drivername=self.driver, password=os.environ.get(PASSWORD))

    @contextmanager
    def reading(self) -> Iterator[Ask]:
        with self._connected() as connection:
            yield lambda statement: self.answer(connection, statement)

    def fields(self, relation: FromClause) -> tuple[Field, ...]:
        with self._connected() as connection:
            return self.described(connection, relation)

    def tables(self) -> tuple[Table, ...]:
        with self._connected() as connection:
            known = inspect(connection)
            return tuple((None, name) for name in (*known.get_table_names(), *known.get_view_names()))

    def described(self, connection: Connection, relation: FromClause) -> tuple[Field, ...]:
        """The columns, as the driver describes an answer without rows."""
        with connection.execute(statements.nothing(relation)) as result:
            described = result.cursor.description if result.cursor else ()
            return tuple(Field(str(name), self.holds(kind)) for name, kind, *_ in described)

    def holds(self, kind: Any) -> Holds:
        """What the driver's code for a type means."""
        return Holds.OTHER

    def prepare(self, connection: Connection) -> None:
        """Make the connection one for reading, where its options do not."""

    def answer(self, connection: Connection, statement: Statement) -> Iterator[Rows]:
        """The answer in chunks, none of which the driver keeps."""
        with connection.execution_options(stream_results=True).execute(statement) as result:
            yield from result.partitions(CHUNK)

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        with self._sentences(), self._connection() as connection:
            self.prepare(connection)
            yield connection

    def _connection(self) -> Connection:
        try:
            return self._engine.connect()
        except (OperationalError, InterfaceError) as error:
            raise SourceAway(
                f"the database cannot be reached: {_said(error)}. Check its address, that it runs, and that this user "
                "may connect."
            ) from None

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        """What a driver says is said without its statement."""
        try:
            yield
        except (SQLAlchemyError, self.errors) as error:
            if getattr(error, "connection_invalidated", False):
                raise SourceAway(f"the database has gone: {_said(error)}. Try again when it is back.") from None
            raise BadData(f"the database says: {_said(error)}.") from None


def _said(error: Exception) -> str:
    """The first line of what the driver says."""
    said = str(getattr(error, "orig", None) or error).strip().splitlines() or [type(error).__name__]
    return said[0].rstrip(".")
