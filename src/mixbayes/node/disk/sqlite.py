"""SQLite as a node uses it: where its file lies, how it is opened, and its errors in words."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from mixbayes.transport.errors import BadState

FILE = "state.sqlite"
VERSION = sqlite3.sqlite_version
_OLDEST = (3, 37, 0)  # STRICT tables
PATIENCE_SECONDS = 30
"""How long a statement or a write waits for another."""

_RESTORE = "Put this folder aside and take part in a new round with an empty one"
_REASONS = {
    sqlite3.SQLITE_PERM: ("this user may not use it", "Change its owner"),
    sqlite3.SQLITE_BUSY: ("another program holds it", "End that program, or wait for it"),
    sqlite3.SQLITE_LOCKED: ("another program holds it", "End that program, or wait for it"),
    sqlite3.SQLITE_NOMEM: ("there is no memory left", "End other programs"),
    sqlite3.SQLITE_READONLY: ("it cannot be written", "Change its owner or mode, or give another folder"),
    sqlite3.SQLITE_IOERR: ("the disk does not read or write", "Look at the disk; nothing half-written was kept"),
    sqlite3.SQLITE_CORRUPT: ("it is damaged", _RESTORE),
    sqlite3.SQLITE_FULL: ("the disk is full", "Make room; nothing half-written was kept"),
    sqlite3.SQLITE_CANTOPEN: ("it cannot be opened", "Change its owner or mode, or give another folder"),
    sqlite3.SQLITE_NOTADB: ("it is no database, or its beginning is damaged", _RESTORE),
}


def too_old() -> bool:
    """Whether this Python carries a SQLite without STRICT tables."""
    return sqlite3.sqlite_version_info < _OLDEST


def connect(path: Path, how: str) -> sqlite3.Connection:
    """A connection for any thread, without transactions of its own making; `how` are SQLite's URI parameters."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{how}",
        uri=True,
        timeout=PATIENCE_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    return connection


@contextmanager
def explained(path: Path, remedy: str = "") -> Iterator[None]:
    """Turn what is wrong with the disk or the file into words; mistakes in SQL stay what they are.

    `remedy` is what to do if the file is not a node's state.
    """
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF  # the higher bits are details
        if code not in _REASONS:
            raise
        raise complaint(path, code, remedy) from error


def complaint(path: Path, code: int, remedy: str = "") -> BadState:
    """What SQLite's code means for whoever runs the node."""
    reason, usual = _REASONS[code]
    return BadState(f"{path}: {reason}. {remedy or usual}.")


@contextmanager
def looking(folder: Path) -> Iterator[sqlite3.Connection]:
    """A connection that only reads, beside a running node or on a copy, without key and lock. A backup is one file."""
    path = folder if folder.is_file() else folder / FILE
    if not path.is_file():
        raise BadState(f"{folder} is no state folder: it holds no {FILE}. Give the folder that a node got as --state.")
    # Without a journal nobody is at work there, and a file that is called immutable is read without leaving traces.
    beside = path.with_name(f"{path.name}-wal")
    with explained(path), closing(connect(path, "mode=ro" if beside.exists() else "mode=ro&immutable=1")) as connection:
        yield connection
