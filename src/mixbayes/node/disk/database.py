"""The database of a node: one file, one process at a time, and every write whole and on the disk before it counts."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Literal

from mixbayes.node.disk.folder import locked
from mixbayes.node.disk.schema import Schema, settle
from mixbayes.node.disk.sealing import Seal
from mixbayes.node.disk.sqlite import FILE, PATIENCE_SECONDS, complaint, connect, explained
from mixbayes.protocol.errors import LocalError
from mixbayes.transport.errors import BadState

Moment = Literal["before", "after"]
"""Before or after a commit. A power cut has a different outcome at each."""
Fault = Callable[[Moment], None]


class Database:
    """Made by `open`; used from any thread."""

    def __init__(self, folder: Path, seal: Seal, writer: sqlite3.Connection, held: ExitStack, fault: Fault) -> None:
        self.folder = folder
        self.seal = seal
        self._path = folder / FILE
        self._writer = writer
        self._held = held
        self._fault = fault
        self._turn = threading.Lock()
        self._writing: int | None = None
        self._readers: list[sqlite3.Connection] = []
        self._shelf = threading.Lock()
        self._closed = False
        self._log_holds = False
        """Whether the write-ahead log still holds deleted values, because a reader kept it from being emptied."""

    @classmethod
    def open(cls, folder: Path, schema: Schema, seal: Seal, owner: str, fault: Fault = lambda _: None) -> Database:
        """The database in the folder, made where there is none. `fault` is called around every commit, for tests."""
        folder = folder.absolute()  # the process may move
        with ExitStack() as opening:
            opening.enter_context(locked(folder, owner))
            path = folder / FILE
            opening.enter_context(explained(path))
            _touch(path)
            writer = opening.enter_context(closing(_writer(path)))
            with _transaction(writer):
                settle(writer, path, schema, owner, seal.fingerprint)
            return cls(folder, seal, writer, opening.pop_all(), fault)

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One transaction, alone: when the block ends it is on the disk as a whole; when it raises, nothing is."""
        with self._alone(), explained(self._path):
            self._refuse_closed()
            with _transaction(self._writer):
                yield self._writer
                self._fault("before")
            self._fault("after")
            if self._log_holds:
                self._empty_log()

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """What was last committed, unchanged to the end of the block, whoever writes meanwhile."""
        with explained(self._path), self._reader() as connection, _rolled_back(connection):
            yield connection

    def empty_log(self) -> None:
        """Remove deleted values from the write-ahead log. If a reader needs the log now, the next write tries again."""
        with self._alone(), explained(self._path):
            self._empty_log()

    def _empty_log(self) -> None:
        self._writer.execute("PRAGMA busy_timeout = 100")
        self._log_holds = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] != 0
        self._writer.execute(f"PRAGMA busy_timeout = {1000 * PATIENCE_SECONDS}")

    def close(self) -> None:
        """Wait for the last write, close the file and release the folder. A second call does nothing."""
        with self._alone():
            with self._shelf:
                self._closed = True
                for connection in self._readers:
                    connection.close()
                self._readers.clear()
            self._held.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if self._writing == threading.get_ident():
            raise LocalError(f"A write to {self._path} began inside another.")
        if not self._turn.acquire(timeout=PATIENCE_SECONDS):
            raise BadState(f"{self._path}: a write has gone on for {PATIENCE_SECONDS} s. Look at the disk.")
        try:
            self._writing = threading.get_ident()
            yield
        finally:
            self._writing = None
            self._turn.release()

    @contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        """A connection that nobody else uses meanwhile. There are as many as the most readers at one time."""
        with self._shelf:
            self._refuse_closed()
            connection = self._readers.pop() if self._readers else _watcher(self._path)
        try:
            yield connection
        finally:
            with self._shelf:
                if self._closed:
                    connection.close()
                else:
                    self._readers.append(connection)

    def _refuse_closed(self) -> None:
        if self._closed:
            raise LocalError(f"{self._path} was used after it had been closed.")


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


@contextmanager
def _rolled_back(connection: sqlite3.Connection) -> Iterator[None]:
    try:
        connection.execute("BEGIN")
        yield
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _touch(path: Path) -> None:
    """SQLite gives a new file, and those it puts beside it, the mode of this one."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise BadState(f"{path} cannot be written: {error.strerror}. Change its owner or mode.") from None


def _writer(path: Path) -> sqlite3.Connection:
    connection = connect(path, "mode=rw")
    with ExitStack() as opening:
        opening.callback(connection.close)
        mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise BadState(f"{path}: its file system cannot keep a write-ahead log. Give a folder on a local disk.")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")
        if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise complaint(path, sqlite3.SQLITE_CORRUPT)
        opening.pop_all()
    return connection


def _watcher(path: Path) -> sqlite3.Connection:
    connection = connect(path, "mode=rw")  # with mode=ro SQLite would not clean up after the last reader
    connection.execute("PRAGMA query_only = ON")
    return connection
