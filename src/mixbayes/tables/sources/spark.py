"""Tables of a Spark session, counted on its cluster: `spark:catalog.table`, or `spark:` with a query."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

import numpy as np
from sqlalchemy import BigInteger, Double, cast, func, literal_column
from sqlalchemy.sql.elements import quoted_name
from sqlalchemy.sql.selectable import FromClause

from mixbayes.protocol.attributes.elsewhere import Arithmetic
from mixbayes.protocol.errors import BadData, Unsupported
from mixbayes.tables.columns import named_in_errors
from mixbayes.tables.sources import statements
from mixbayes.tables.sources.database import DatabaseSource
from mixbayes.tables.sources.engine import CHUNK, Ask, Engine, Expression, Field, Holds, Rows, Statement
from mixbayes.tables.sources.how import How
from mixbayes.tables.sources.query import read_query
from mixbayes.tables.sources.spark_session import sentences, session
from mixbayes.tables.sources.spark_sql import SparkDialect

_HOLDS = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), Holds.WHOLE),
    "double": Holds.DOUBLE,
    "float": Holds.SINGLE,
    "decimal": Holds.DECIMAL,
    **dict.fromkeys(("string", "char", "varchar"), Holds.TEXT),
    "timestamp": Holds.MOMENT,
    **dict.fromkeys(("boolean", "date", "time", "timestamp_ntz", "void"), Holds.OTHER),
}
"""By the first word of a type. Types that are not here have no text."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PART = re.compile(r"`((?:[^`]|``)+)`|([^`.]+)")


@dataclass(frozen=True)
class SparkField(Field):
    """A column, with its type as Spark writes it."""

    kind: str


class Spark(Engine):
    """A session, classic or by Spark Connect."""

    dialect = SparkDialect()
    # Java's text of a number of 32 bits is not always the shortest: such columns are counted by their values.
    computes = frozenset({Holds.WHOLE, Holds.DOUBLE, Holds.DECIMAL})
    sets_at_once = 8
    numbers_at_once = 8  # with more sums Spark gives up on compiling the statement

    def __init__(self) -> None:
        self._session = session()

    def fields(self, relation: FromClause) -> tuple[Field, ...]:
        with sentences():
            schema = self._session.sql(self.render(statements.nothing(relation))).schema
            return tuple(_field(field.name, field.dataType.simpleString()) for field in schema.fields)

    def tables(self) -> tuple[tuple[str | None, str], ...]:
        with sentences():
            return tuple((None, table.name) for table in self._session.catalog.listTables())

    @contextmanager
    def reading(self) -> Iterator[Ask]:
        with sentences():
            yield self._answer

    def column(self, field: Field) -> Expression:
        if isinstance(field, SparkField) and _word(field.kind) not in _HOLDS:
            raise BadData(f"Column {field.name!r} holds {field.kind}, which has no text. Remove it.")
        return super().column(field)

    def alike(self, field: Field) -> Expression:
        cell = self.column(field)
        if field.holds is Holds.TEXT:
            return func.collate(cell, literal_column("'UTF8_BINARY'")) if _collated(field) else cell
        # As a time it would come in the time zone of this machine.
        return func.unix_micros(cell, type_=BigInteger()) if field.holds is Holds.MOMENT else cell

    def value(self, field: Field, value: Any) -> Any:
        if value is None:
            return None
        if field.holds is Holds.SINGLE:
            return np.float32(value)
        return _EPOCH + timedelta(microseconds=value) if field.holds is Holds.MOMENT else value

    def no_number(self, value: Expression) -> Expression:
        return func.isnan(value)

    def number(self, value: float) -> Expression:
        return literal_column(f"{float(value)!r}D", Double())

    def floor(self, value: Expression) -> Expression:
        return cast(func.floor(value), Double)

    def nearest(self, value: Expression, by: Arithmetic) -> Expression:
        return func.rint(value, type_=Double())

    def _answer(self, statement: Statement) -> Iterator[Rows]:
        rows = self._session.sql(self.render(statement)).toLocalIterator(prefetchPartitions=True)
        while chunk := list(islice(rows, CHUNK)):
            yield chunk


def spark_table(address: str, how: How) -> DatabaseSource:
    """The table or view after `spark:`, or the query that `how` has."""
    name = address.removeprefix("spark:").removeprefix("//") or how.table or ""
    if bool(name) == bool(how.query) or (how.table and how.table != name):
        raise Unsupported(f"{address}: name one table, as spark:catalog.schema.table, or say spark: with --query.")
    relation = statements.of_query(read_query(how.query)) if how.query else statements.of_table(_quoted(name))
    title = f"{address} (query {how.query})" if how.query else f"spark:{name}"
    with named_in_errors(title):
        return DatabaseSource(title, Spark(), relation, how)


def _quoted(name: str) -> quoted_name:
    """A name of up to several parts, as a user writes it, as Spark's SQL does."""
    parts = [(quoted or plain.replace("`", "``")) for quoted, plain in _PART.findall(name)]
    quoted = ".".join(f"`{part}`" for part in parts)
    if quoted.replace("`", "") != name.replace("`", ""):
        raise Unsupported(f"spark:{name}: this is no table's name. Write spark:catalog.schema.table.")
    return quoted_name(quoted, quote=False)


def _field(name: str, kind: str) -> SparkField:
    return SparkField(name, _HOLDS.get(_word(kind), Holds.OTHER), kind)


def _word(kind: str) -> str:
    return re.split(r"\W", kind, maxsplit=1)[0]


def _collated(field: Field) -> bool:
    return isinstance(field, SparkField) and " collate " in field.kind.lower()
