"""The tables of a node: their owner, their version, and the steps from each version to the next."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mixbayes.node.disk import audit
from mixbayes.node.disk.sqlite import VERSION, too_old
from mixbayes.protocol.errors import LocalError, Unsupported
from mixbayes.transport.errors import BadState

APPLICATION = 0x6D786279  # "mxby" in the file's header
BACKUP = 0x6D786263  # "mxbc": a backup is no state, until it is put back


@dataclass(frozen=True)
class Schema:
    """The tables of one kind of node. Step i leads from version i to i + 1; a step that was released never changes."""

    kind: str
    steps: tuple[str, ...]

    @property
    def version(self) -> int:
        return len(self.steps)


_OWN = Schema(
    "node",
    (
        """
        CREATE TABLE about (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            kind TEXT NOT NULL,
            version INTEGER NOT NULL,
            owner TEXT NOT NULL,
            key TEXT NOT NULL
        ) STRICT;
        """
        + audit.TABLE,
        """
        CREATE TABLE given_head (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            entries INTEGER NOT NULL,
            round INTEGER NOT NULL,
            time REAL NOT NULL
        ) STRICT;
        CREATE TABLE noted_head (
            peer TEXT PRIMARY KEY,
            entries INTEGER NOT NULL,
            hash TEXT NOT NULL,
            round INTEGER NOT NULL,
            time REAL NOT NULL,
            flaw TEXT NOT NULL
        ) STRICT;
        CREATE TABLE witness (
            peer TEXT PRIMARY KEY,
            entries INTEGER NOT NULL,
            lost INTEGER NOT NULL,
            round INTEGER NOT NULL
        ) STRICT;
        """,
    ),
)


def settle(connection: sqlite3.Connection, path: Path, schema: Schema, owner: str, key: str) -> None:
    """Check the owner of the tables, or make them; then bring them up to date. The caller has the transaction."""
    _refuse_old_sqlite()
    if not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        _grow(connection, path, _OWN, 0)
        connection.execute("INSERT INTO about VALUES (1, ?, 0, ?, ?)", (schema.kind, owner, key))
    elif (application := connection.execute("PRAGMA application_id").fetchone()[0]) != APPLICATION:
        raise _no_state(path, application)
    else:
        _grow(connection, path, _OWN, connection.execute("PRAGMA user_version").fetchone()[0])
    connection.execute(f"PRAGMA user_version = {_OWN.version}")
    kind, version, whose, earlier_key = connection.execute("SELECT kind, version, owner, key FROM about").fetchone()
    _check_owner(path, kind, schema.kind, whose, owner)
    _check_key(path, earlier_key, key)
    _grow(connection, path, schema, version)
    connection.execute("UPDATE about SET version = ?, owner = ?", (schema.version, owner))
    _check_strict(connection, schema)


def _grow(connection: sqlite3.Connection, path: Path, schema: Schema, version: int) -> None:
    if version > schema.version:
        raise BadState(
            f"{path} was written by a newer mixbayes: its {schema.kind} tables have version {version}, and this "
            f"program knows {schema.version}. Install the newer version again."
        )
    for step in schema.steps[version:]:
        for statement in _statements(step):
            connection.execute(statement)


def _statements(script: str) -> Iterator[str]:
    """One by one, because sqlite3's `executescript` would end the transaction."""
    statement = ""
    *pieces, rest = script.split(";")
    for piece in pieces:
        statement += f"{piece};"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if (statement + rest).strip():
        raise LocalError(f"A statement of a schema has no end: {(statement + rest).strip()[:100]}")


def _no_state(path: Path, application: int) -> BadState:
    if application == BACKUP:
        return BadState(f"{path} is a backup. Move it elsewhere, and put it back with `mixbayes restore`.")
    return BadState(f"{path} was not made by a node. Give another --state folder.")


def _check_owner(path: Path, kind: str, due_kind: str, owner: str, due_owner: str) -> None:
    if (kind, node_of(owner)) != (due_kind, node_of(due_owner)):
        raise BadState(
            f"{path} holds the state of {owner} (a {kind}), not of {due_owner} (a {due_kind}). "
            "Give each node a --state folder of its own. A node keeps its folder when its agreement changes or gets "
            "another name: the ledgers of what was given away are in it."
        )


def node_of(owner: str) -> str:
    """`mixer a` of `mixer a of hearts`: an agreement may get another name, and the ledgers of its nodes go on."""
    return owner.partition(" of ")[0]


def _check_key(path: Path, key: str, due_key: str) -> None:
    if key != due_key:
        raise BadState(
            f"{path} was closed with another key: its fingerprint is {key}, that of the key given is {due_key}. "
            "Put the node's earlier key back, or begin with an empty --state folder and a new round."
        )


def _check_strict(connection: sqlite3.Connection, schema: Schema) -> None:
    tables = connection.execute("PRAGMA main.table_list").fetchall()
    loose = [name for _, name, kind, _, _, strict in tables if kind == "table" and not strict and name[:7] != "sqlite_"]
    if loose:
        raise LocalError(f"Tables of {schema.kind} are not STRICT: {', '.join(loose)}.")


def _refuse_old_sqlite() -> None:
    if too_old():
        raise Unsupported(f"This Python carries SQLite {VERSION}; a node needs 3.37 or newer. Use a newer Python.")
