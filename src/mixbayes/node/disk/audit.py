"""The audit trail: who asked what of whom, when, and how much left; every record is chained to the one before it.

A record's hash is SHA-256(hash before it || record), and the record is one line of JSON, so that anybody can check a
trail with a few lines of their own. Whoever can write to the file can also write a whole new chain: only a head noted
elsewhere shows that, and shows records missing at the end.

Nothing is ever removed. A trail grows with every question, by some hundred bytes; it is archived with its state folder.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from mixbayes.node.disk.sqlite import looking
from mixbayes.protocol.errors import LocalError
from mixbayes.transport.errors import BadState

TABLE = """
CREATE TABLE audit (number INTEGER PRIMARY KEY, record TEXT NOT NULL, hash BLOB NOT NULL) STRICT;
CREATE TRIGGER audit_keeps BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit trail only grows'); END;
CREATE TRIGGER audit_stays BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit trail only grows'); END;
"""
HASH_BYTES = 32
LONGEST_TEXT = 500
_ORIGIN = bytes(HASH_BYTES)
_PAGE = 1000
_TEXTS = ("node", "actor", "verb", "subject")


@dataclass(frozen=True)
class Entry:
    """Who (actor) did what (verb) to what (subject) at which node, when; details are sizes and digests, no values."""

    time: datetime
    node: str
    actor: str
    verb: str
    subject: str
    details: Mapping[str, int | str]

    def __post_init__(self) -> None:
        """Refuse what could carry more than a size or a digest."""
        if self.time.utcoffset() != timedelta(0):
            raise LocalError("The time of an audit entry is not in UTC.")
        for name in _TEXTS:
            _check_text(name, getattr(self, name))
        for name, value in self.details.items():
            _check_text("name of a detail", name)
            if type(value) is not int:
                _check_text(name, value)


@dataclass(frozen=True)
class Record:
    """An entry as the trail holds it."""

    number: int
    hash: str
    entry: Entry


@dataclass(frozen=True)
class Head:
    """The end of a trail at some time: how many records, and the hash of the last."""

    count: int
    hash: str


@dataclass(frozen=True)
class Break:
    """The first record at which a trail does not hold."""

    number: int
    reason: str


@dataclass(frozen=True)
class Verdict:
    """What a check found: the sound part's length and head, and what comes after it, if anything does."""

    count: int
    head: str
    broken: Break | None

    @property
    def sound(self) -> bool:
        return self.broken is None


def append(connection: sqlite3.Connection, entry: Entry) -> Head:
    """Put the entry at the end, in the transaction that does what it records."""
    if not connection.in_transaction:
        raise LocalError("An audit entry was written outside the transaction that it records.")
    last = connection.execute("SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1").fetchone()
    before, previous = last or (0, _ORIGIN)
    record = _record(before + 1, entry)
    digest = _chained(previous, record.encode())
    connection.execute("INSERT INTO audit (number, record, hash) VALUES (?, ?, ?)", (before + 1, record, digest))
    return Head(before + 1, digest.hex())


def entries(folder: Path) -> Iterator[Record]:
    """All records in their order, unchecked."""
    for number, record, digest in _rows(folder):
        try:
            yield Record(number, digest.hex(), _entry(record))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, LocalError):
            raise BadState(
                f"Record {number} of the audit trail in {folder} cannot be read. Run `mixbayes audit verify`."
            ) from None


def verify(folder: Path, head: str | None = None, count: int | None = None) -> Verdict:
    """Follow the chain to its end, and look for a head that was noted earlier, as record `count` if that is known."""
    good, digest, seen = 0, _ORIGIN, head in (None, _ORIGIN.hex())
    for number, record, claimed in _rows(folder):
        reason = _flaw(good + 1, digest, number, record, claimed)
        if reason:
            return Verdict(good, digest.hex(), Break(good + 1, reason))
        good, digest = number, claimed
        seen = seen or (digest.hex() == head and count in (None, good))
    if count is not None and good < count:
        lost = Break(good + 1, f"it is missing: the trail ends after {good} records, and {count} were noted")
        return Verdict(good, digest.hex(), lost)
    if not seen:
        return Verdict(good, digest.hex(), _unseen(good, count))
    return Verdict(good, digest.hex(), None)


def _unseen(good: int, count: int | None) -> Break:
    if count is not None:
        return Break(count, "its hash is not the one that was noted: the trail was written anew up to there or beyond")
    return Break(good + 1, "no record has the hash that was noted: the end was cut off, or the trail was written anew")


def _flaw(due: int, previous: bytes, number: Any, record: Any, claimed: Any) -> str | None:
    """Why a row is not record `due`, which follows the hash `previous`."""
    if number != due:
        return f"it is missing: after record {due - 1} comes record {number}"
    if not isinstance(record, bytes) or not isinstance(claimed, bytes):
        return "it is no record at all"
    inside = _number_inside(record)
    if inside != due:
        return "it is no record at all" if inside is None else f"it is record {inside}, put in another place"
    if _chained(previous, record) != claimed:
        return "it was changed, or does not follow the record before it"
    return None


def _number_inside(record: bytes) -> int | None:
    try:
        number = json.loads(record)["number"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return number if type(number) is int else None


def _rows(folder: Path) -> Iterator[tuple[Any, Any, Any]]:
    """Number, record and hash as they are found; the record as bytes, because damage need not be UTF-8."""
    first = -(1 << 63)
    while rows := _page(folder, first):
        yield from rows
        first = rows[-1][0] + 1


def _page(folder: Path, first: int) -> list[tuple[Any, Any, Any]]:
    """The next rows. Whoever reads slowly holds nothing meanwhile that the node waits for."""
    with looking(folder) as connection:
        connection.text_factory = bytes
        try:
            return connection.execute(
                "SELECT number, record, hash FROM audit WHERE number >= ? ORDER BY number LIMIT ?", (first, _PAGE)
            ).fetchall()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
                raise
            raise BadState(f"{folder} holds no audit trail. Give the folder that a node got as --state.") from None


def _record(number: int, entry: Entry) -> str:
    """The one way to write an entry: JSON with sorted keys, without spaces, in ASCII."""
    fields = {name: getattr(entry, name) for name in _TEXTS}
    fields |= {"number": number, "time": utc_text(entry.time), "details": dict(entry.details)}
    return json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def _entry(record: bytes) -> Entry:
    fields = json.loads(record)
    texts = {name: fields[name] for name in _TEXTS}
    return Entry(time=datetime.fromisoformat(fields["time"]), details=fields["details"], **texts)


def utc_text(time: datetime) -> str:
    """As a trail has it, e.g. `2026-03-01T07:30:00.000000Z`."""
    return time.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _chained(previous: bytes, record: bytes) -> bytes:
    return hashlib.sha256(previous + record).digest()


def _check_text(name: str, text: object) -> None:
    if type(text) is not str or len(text) > LONGEST_TEXT:
        raise LocalError(f"The {name} of an audit entry is neither a number nor a text of {LONGEST_TEXT} characters.")
