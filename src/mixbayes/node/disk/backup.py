"""A backup of a node's state, and putting it back: the ledgers and the trail are in it, and nothing that answers.

A node that goes on from an old copy does not know what it has given away since. So a backup has no share, no model, no
answer and no seed of noise, and the round that was open is closed in it: whatever the backup's age, nobody can be
answered from it. A node that is put back takes part in the next round, with its ledgers and its audit trail.

The file is an SQLite database that no node opens, because its application id is another one.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from mixbayes.node.disk.audit import Entry, Verdict, append, utc_text, verify
from mixbayes.node.disk.datastore import COMPUTING_PARTY, HOSPITAL, About
from mixbayes.node.disk.folder import locked
from mixbayes.node.disk.schema import APPLICATION, BACKUP, node_of
from mixbayes.node.disk.sqlite import FILE, complaint, connect, explained, looking
from mixbayes.node.rounds.state import OVER, State
from mixbayes.transport.errors import BadState

RESTORED = "restored"
"""The verb of the entry with which the trail of a node goes on that was put back."""
_ANOTHER = "Give another backup"
_CLOSED_WHY = "the state folder was restored from a backup, which holds no open round"
_VERSIONS = {schema.kind: schema.version for schema in (COMPUTING_PARTY, HOSPITAL)}
_LEFT_OUT = {
    COMPUTING_PARTY.kind: (
        "UPDATE contribution SET message = x''",
        "UPDATE round SET model = NULL, counts = NULL",
        "DELETE FROM recipe_model",
        "DELETE FROM aside",
        "DELETE FROM answer",
        "UPDATE noise SET seed = NULL",
        "DELETE FROM draw",
    ),
    # What a hospital has not sent yet is not sent later either: its next contribution is made anew.
    HOSPITAL.kind: ("UPDATE outbox SET message = NULL, acknowledged = 1", "UPDATE noise SET seed = NULL"),
}


@dataclass(frozen=True)
class Backup:
    """What a backup says of itself."""

    kind: str
    owner: str
    """As in `mixer a of heart`."""
    made: datetime
    trail: Verdict
    """The length of its audit trail, and the hash of the last entry."""
    round: int
    """A computing party's last round, or the last one to which a hospital has contributed; 0 if there was none."""


def back_up(folder: Path, out: Path, now: datetime) -> Backup:
    """Write a backup of this state folder to an empty file that nobody else may read. The node may be at work."""
    with looking(folder) as running, explained(out), closing(connect(out, "mode=rw")) as copy:
        running.backup(copy)  # whatever was last committed, and nothing that is committed meanwhile
        copy.execute("PRAGMA journal_mode = DELETE")
        copy.execute("PRAGMA secure_delete = ON")
        _leave_out(copy, folder)
        copy.execute("CREATE TABLE backup (made TEXT NOT NULL) STRICT")
        copy.execute("INSERT INTO backup VALUES (?)", (utc_text(now),))
        copy.execute(f"PRAGMA application_id = {BACKUP}")
        copy.execute("VACUUM")
    return look_into(out)


def look_into(file: Path) -> Backup:
    """What a backup holds. Raises if it is none, or damaged."""
    with _opened(file) as copy:
        if copy.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise complaint(file, sqlite3.SQLITE_CORRUPT, _ANOTHER)
        kind, owner = copy.execute("SELECT kind, owner FROM about").fetchone()
        made = datetime.fromisoformat(copy.execute("SELECT made FROM backup").fetchone()[0])
        last = "SELECT MAX(number) FROM round" if kind == COMPUTING_PARTY.kind else "SELECT MAX(round) FROM outbox"
        return Backup(kind, owner, made, verify(file), copy.execute(last).fetchone()[0] or 0)


def put_back(file: Path, folder: Path, now: datetime) -> Backup:
    """Make the state folder anew from a backup. The trail goes on with an entry that says so."""
    found = look_into(file)
    _refuse_broken(file, found.trail)
    if (folder / FILE).exists():
        raise BadState(
            f"{folder} holds a node's state already. Stop the node, and move the folder away: if that state can still "
            "be read, it is newer than the backup and the better one."
        )
    with locked(folder, f"restore of {found.owner}"):
        draft = folder / f"{FILE}.restored"
        try:
            _copy(file, draft)
            _adopt(draft, found, now)
            os.replace(draft, folder / FILE)
        finally:
            draft.unlink(missing_ok=True)
        _settle_folder(folder)
    return found


@contextmanager
def _opened(file: Path) -> Iterator[sqlite3.Connection]:
    if not file.is_file():
        raise BadState(f"There is no file {file}. Give the one that `mixbayes backup` wrote.")
    with explained(file, _ANOTHER), closing(connect(file, "mode=ro&immutable=1")) as connection:
        if connection.execute("PRAGMA application_id").fetchone()[0] != BACKUP:
            raise BadState(
                f"{file} is no backup. Give a file that `mixbayes backup` wrote: a copy of a state folder may answer "
                "questions that were charged after it was made, and is not put back."
            )
        yield connection


def _leave_out(copy: sqlite3.Connection, folder: Path) -> None:
    """Delete what answers, and close the open round."""
    kind, version = copy.execute("SELECT kind, version FROM about").fetchone()
    if version != _VERSIONS.get(kind):
        raise BadState(
            f"{folder} was written by another version of mixbayes. Make the backup with the version that the node "
            "runs; after an upgrade, start the node once before."
        )
    for statement in _LEFT_OUT[kind]:
        copy.execute(statement)
    if kind == COMPUTING_PARTY.kind:
        over = [state.value for state in OVER]
        closed = (State.CLOSED.value, _CLOSED_WHY, *over)
        copy.execute("UPDATE round SET state = ?, reason = ? WHERE state NOT IN (?, ?)", closed)


def _refuse_broken(file: Path, trail: Verdict) -> None:
    if trail.broken:
        raise BadState(
            f"The audit trail in {file} breaks at record {trail.broken.number}: {trail.broken.reason}. Nothing was "
            "put back. Give another backup."
        )


def _copy(file: Path, draft: Path) -> None:
    os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600))
    with _opened(file) as source, explained(draft), closing(connect(draft, "mode=rw")) as copy:
        source.backup(copy)


def _adopt(draft: Path, found: Backup, now: datetime) -> None:
    """Turn the copy into a state that the node opens."""
    title = node_of(found.owner)
    about: About = {"entries": found.trail.count, "head": found.trail.head, "backup of": utc_text(found.made)}
    with explained(draft), closing(connect(draft, "mode=rw")) as copy:
        copy.execute("PRAGMA synchronous = FULL")
        copy.execute("BEGIN IMMEDIATE")
        append(copy, Entry(now.astimezone(UTC), title, title, RESTORED, "state folder", about))
        copy.execute("DROP TABLE backup")
        copy.execute("COMMIT")
        copy.execute(f"PRAGMA application_id = {APPLICATION}")


def _settle_folder(folder: Path) -> None:
    """Have the new name of the file on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
