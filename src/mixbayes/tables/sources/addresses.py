"""From a database's address, and what is wanted of it, to a source."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.sql.selectable import FromClause

from mixbayes.extras import naming_extras
from mixbayes.protocol.errors import BadData, Unsupported
from mixbayes.tables.sources import statements
from mixbayes.tables.sources.database import DatabaseSource
from mixbayes.tables.sources.engine import Engine, Table
from mixbayes.tables.sources.how import How
from mixbayes.tables.sources.query import read_query
from mixbayes.tables.sources.sql_engine import PASSWORD

SERVERS: Mapping[str, tuple[str, str]] = {
    "postgres": ("postgresql", "PostgreSql"),
    "postgresql": ("postgresql", "PostgreSql"),
    "sqlite": ("sqlite", "Sqlite"),
    "mssql": ("sql_server", "SqlServer"),
    "oracle": ("oracle", "Oracle"),
    "mysql": ("mysql", "MySql"),
    "mariadb": ("mysql", "MySql"),
}
"""The module and class of each, which import their drivers."""
SECRETS = ("password", "passwd", "pwd", "sslpassword")
"""Settings that no address may have."""
MOST_LISTED = 20


def database(scheme: str, address: str, how: How) -> DatabaseSource:
    """The table or query that `how` names, at this address."""
    with naming_extras():
        engine = _engine(scheme, address)
    wanted, relation = _wanted(engine, how)
    return DatabaseSource(f"{address} ({wanted})", engine, relation, how)


def _engine(scheme: str, address: str) -> Engine:
    if scheme == "duckdb":
        from mixbayes.tables.sources.duckdb_file import DuckDbFile  # with a package of its own

        return DuckDbFile(address.removeprefix("duckdb:").removeprefix("//"))
    module, name = SERVERS[scheme]
    url = _url(scheme, address)
    made: Engine = getattr(import_module(f"mixbayes.tables.sources.{module}"), name)(url)
    return made


def _url(scheme: str, address: str) -> URL:
    """The address, which holds no secret; what is wrong with it is said without it, as it may hold one."""
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        raise Unsupported(f"This is no database's address. Write {scheme}://host/database.") from None
    if url.password is not None or any(key.lower() in SECRETS for key in url.query):
        raise Unsupported(
            "An address with a password is refused, because others can read it. Leave the password out, and put it "
            f"where the driver looks: for PostgreSQL in PGPASSFILE or a service file, for others in {PASSWORD}."
        )
    return url


def _wanted(engine: Engine, how: How) -> tuple[str, FromClause]:
    if how.query and how.table:
        raise Unsupported("Give --table or --query, not both.")
    if how.query:
        return f"query {how.query}", statements.of_query(read_query(how.query))
    schema, name = _named(how.table, engine) if how.table else _only(engine)
    return f"table {name}", statements.of_table(name, schema)


def _only(engine: Engine) -> Table:
    tables = engine.tables()
    if len(tables) != 1:
        raise BadData(f"{said_of(tables)} Name one by --table, or a query by --query.")
    return tables[0]


def _named(wanted: str, engine: Engine) -> Table:
    """A table as the user writes it: as it is listed, else as SCHEMA.NAME."""
    for table in engine.tables():
        if wanted in (table[1], f"{table[0]}.{table[1]}"):
            return table
    schema, dot, name = wanted.partition(".")
    return (schema, name) if dot else (None, wanted)


def said_of(tables: tuple[Table, ...]) -> str:
    """A sentence on what the database has."""
    if not tables:
        return "it has no tables that this user sees."
    names = ", ".join(repr(f"{schema}.{name}" if schema else name) for schema, name in tables[:MOST_LISTED])
    return f"it has {len(tables)} tables: {names}{', …' if len(tables) > MOST_LISTED else ''}."
