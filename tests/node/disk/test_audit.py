"""The audit trail: what is put there stays there, and whatever else happens to it is seen."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.node.disk.audit import TABLE, Break, Entry, Head, Record, append, entries, verify
from mixbayes.node.disk.database import Database
from mixbayes.node.disk.schema import Schema
from mixbayes.node.disk.sealing import Seal
from mixbayes.protocol.errors import LocalError
from mixbayes.transport.errors import BadState

LENGTH = 6
NOBODY = 65534
SCHEMA = Schema("mixer", ("CREATE TABLE thing (number INTEGER PRIMARY KEY) STRICT;",))
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)

Row = tuple[Any, Any, Any]


def entry(number: int) -> Entry:
    return Entry(
        time=NOON + timedelta(seconds=number),
        node="mixer a",
        actor="party north",
        verb="contribute",
        subject=f"round {number}",
        details={"bytes": 1000 + number, "digest": "ab" * 32},
    )


def opened(folder: Path) -> Database:
    return Database.open(folder, SCHEMA, Seal(bytes(32)), "mixer a")


def write(folder: Path, count: int) -> list[Head]:
    with opened(folder) as database:
        return [added(database, entry(number)) for number in range(1, count + 1)]


def added(database: Database, what: Entry) -> Head:
    with database.write() as connection:
        return append(connection, what)


@pytest.fixture(scope="module")
def trail() -> Iterator[Path]:
    """A trail that nobody changes; tests change copies of it."""
    with tempfile.TemporaryDirectory() as parent:
        write(Path(parent, "state"), LENGTH)
        yield Path(parent, "state")


@contextmanager
def forged(trail: Path, rows: Callable[[list[Row]], list[Row]], strict: str = "STRICT") -> Iterator[Path]:
    """A copy of the trail with other rows in it, as somebody writes them who has the file."""
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent, "state")
        shutil.copytree(trail, folder)
        with closing(sqlite3.connect(folder / "state.sqlite")) as connection, connection:
            connection.execute("PRAGMA synchronous = OFF")  # a test's disk need not last
            connection.execute("PRAGMA journal_mode = MEMORY")
            changed = rows(connection.execute("SELECT number, record, hash FROM audit ORDER BY number").fetchall())
            connection.execute("DROP TABLE audit")
            connection.execute(f"CREATE TABLE audit (number INTEGER PRIMARY KEY, record TEXT, hash BLOB) {strict}")
            connection.executemany("INSERT INTO audit VALUES (?, ?, ?)", changed)
        yield folder


def renumbered(rows: list[Row]) -> list[Row]:
    return [(number, *row[1:]) for number, row in enumerate(rows, start=1)]


def rechained(rows: list[Row]) -> list[Row]:
    """With hashes that fit."""
    previous, out = bytes(32), []
    for number, record, _ in rows:
        previous = hashlib.sha256(previous + record.encode()).digest()
        out.append((number, record, previous))
    return out


positions = st.integers(0, LENGTH - 1)


def test_what_was_appended_is_read_back(trail: Path) -> None:
    records = list(entries(trail))
    assert [record.entry for record in records] == [entry(number) for number in range(1, LENGTH + 1)]
    assert [record.number for record in records] == list(range(1, LENGTH + 1))
    verdict = verify(trail)
    assert verdict.sound
    assert (verdict.count, verdict.head) == (LENGTH, records[-1].hash)


def test_append_tells_the_new_head(tmp_path: Path) -> None:
    heads = write(tmp_path / "state", 3)
    assert [head.count for head in heads] == [1, 2, 3]
    assert verify(tmp_path / "state").head == heads[-1].hash


def test_a_trail_goes_on_after_the_node_was_started_again(tmp_path: Path) -> None:
    write(tmp_path / "state", 2)
    write(tmp_path / "state", 2)
    assert verify(tmp_path / "state").count == 4


def test_records_and_hashes_are_what_the_module_says(trail: Path) -> None:
    first = (
        '{"actor":"party north","details":{"bytes":1001,"digest":"' + "ab" * 32 + '"},"node":"mixer a","number":1,'
        '"subject":"round 1","time":"2026-03-01T12:00:01.000000Z","verb":"contribute"}'
    )
    with closing(sqlite3.connect(trail / "state.sqlite")) as connection:
        assert connection.execute("SELECT record FROM audit WHERE number = 1").fetchone() == (first,)
    assert next(iter(entries(trail))).hash == hashlib.sha256(bytes(32) + first.encode()).hexdigest()


def test_an_empty_trail_is_sound(tmp_path: Path) -> None:
    write(tmp_path / "state", 0)
    verdict = verify(tmp_path / "state")
    assert (verdict.count, verdict.head, verdict.broken) == (0, "0" * 64, None)
    assert verify(tmp_path / "state", head=verdict.head).sound
    assert list(entries(tmp_path / "state")) == []


def test_an_untouched_copy_is_sound(trail: Path) -> None:
    with forged(trail, lambda rows: rows) as folder:
        assert verify(folder) == verify(trail)


def broken_at(folder: Path) -> int:
    verdict = verify(folder)
    assert verdict.broken is not None
    assert verdict.count == verdict.broken.number - 1
    return verdict.broken.number


@given(positions, st.data())
def test_any_changed_character_is_found(trail: Path, at: int, data: st.DataObject) -> None:
    def change(rows: list[Row]) -> list[Row]:
        number, record, digest = rows[at]
        where = data.draw(st.integers(0, len(record) - 1))
        other = data.draw(st.characters(codec="utf-8", exclude_characters=record[where] + "\0"))
        rows[at] = (number, record[:where] + other + record[where + 1 :], digest)
        return rows

    with forged(trail, change) as folder:
        assert broken_at(folder) == at + 1


@given(positions, st.integers(0, 255))
def test_any_changed_bit_of_a_hash_is_found(trail: Path, at: int, bit: int) -> None:
    def change(rows: list[Row]) -> list[Row]:
        number, record, digest = rows[at]
        flipped = bytearray(digest)
        flipped[bit // 8] ^= 1 << bit % 8
        rows[at] = (number, record, bytes(flipped))
        return rows

    with forged(trail, change) as folder:
        assert broken_at(folder) == at + 1


@given(st.integers(0, LENGTH - 2), st.booleans())
def test_a_removed_record_is_found(trail: Path, at: int, close_the_gap: bool) -> None:
    def remove(rows: list[Row]) -> list[Row]:
        left = rows[:at] + rows[at + 1 :]
        return renumbered(left) if close_the_gap else left

    with forged(trail, remove) as folder:
        assert broken_at(folder) == at + 1


@given(positions, positions, st.booleans())
def test_exchanged_records_are_found(trail: Path, one: int, other: int, with_hash: bool) -> None:
    def swap(rows: list[Row]) -> list[Row]:
        (first, record, digest), (second, other_record, other_digest) = rows[one], rows[other]
        rows[one] = (first, other_record, other_digest if with_hash else digest)
        rows[other] = (second, record, digest if with_hash else other_digest)
        return rows

    with forged(trail, swap) as folder:
        if one == other:
            assert verify(folder).sound
        else:
            assert broken_at(folder) == min(one, other) + 1


def test_the_reason_says_what_lies_where_another_record_should(trail: Path) -> None:
    with forged(trail, lambda rows: renumbered([*rows[:2], *rows[3:]])) as folder:
        assert verify(folder).broken == Break(3, "it is record 4, put in another place")
    with forged(trail, lambda rows: [*rows[:2], *rows[3:]]) as folder:
        assert verify(folder).broken == Break(3, "it is missing: after record 2 comes record 4")


def test_a_record_that_is_no_text_any_more_is_found(trail: Path) -> None:
    with forged(trail, lambda rows: rows) as folder:
        with closing(sqlite3.connect(folder / "state.sqlite")) as connection, connection:
            connection.execute("UPDATE audit SET record = CAST(x'ff7b' AS TEXT) WHERE number = 4")
        assert broken_at(folder) == 4


@given(positions, positions)
def test_an_inserted_record_is_found_though_its_own_hash_fits(trail: Path, at: int, copied: int) -> None:
    def insert(rows: list[Row]) -> list[Row]:
        previous = rows[at - 1][2] if at else bytes(32)
        record = rows[copied][1].replace(f'"number":{copied + 1}', f'"number":{at + 1}').replace("north", "south")
        new = (0, record, hashlib.sha256(previous + record.encode()).digest())
        return renumbered([*rows[:at], new, *rows[at:]])

    with forged(trail, insert) as folder:
        assert broken_at(folder) == at + 2


@given(st.integers(-5, 0))
def test_a_record_put_before_the_first_is_found(trail: Path, number: int) -> None:
    with forged(trail, lambda rows: [(number, *rows[0][1:]), *rows]) as folder:
        assert broken_at(folder) == 1


@pytest.mark.parametrize("junk", [None, 7, 0.5, b"", "{}", "[]", "[" * 100_000, '{"number":true}', b"\xff\xfe"])
@pytest.mark.parametrize("column", [1, 2])
def test_what_is_no_record_is_found(trail: Path, junk: Any, column: int) -> None:
    def spoil(rows: list[Row]) -> list[Row]:
        rows[2] = tuple(junk if index == column else cell for index, cell in enumerate(rows[2]))
        return rows

    with forged(trail, spoil, strict="") as folder:
        assert broken_at(folder) == 3
        if column == 1:
            with pytest.raises(BadState, match=r"Record 3 .* verify"):
                list(entries(folder))


def test_a_lost_end_is_seen_against_a_noted_head(trail: Path) -> None:
    noted = verify(trail)
    with forged(trail, lambda rows: rows[:-2]) as folder:
        assert verify(folder).sound
        assert verify(folder, head=noted.head).broken
        lost = verify(folder, head=noted.head, count=noted.count).broken
        assert lost == Break(5, "it is missing: the trail ends after 4 records, and 6 were noted")
        assert verify(folder, count=noted.count).broken == lost


def test_a_trail_written_anew_is_seen_against_a_noted_head(trail: Path) -> None:
    noted = verify(trail)

    def anew(rows: list[Row]) -> list[Row]:
        rows[3] = (4, rows[3][1].replace("party north", "party south"), b"")
        return rechained(rows)

    with forged(trail, anew) as folder:
        assert verify(folder).sound
        assert verify(folder, head=noted.head).broken
        rewritten = verify(folder, head=noted.head, count=noted.count).broken
        assert rewritten is not None
        assert rewritten.number == noted.count


def test_every_earlier_head_is_found_in_a_trail_that_has_grown(trail: Path) -> None:
    for record in entries(trail):
        assert verify(trail, head=record.hash).sound
        assert verify(trail, head=record.hash, count=record.number).sound
        assert not verify(trail, head=record.hash, count=record.number % LENGTH + 1).sound


def test_entries_stand_or_fall_with_what_they_record(tmp_path: Path) -> None:
    def fail(database: Database) -> None:
        with database.write() as connection:
            append(connection, entry(1))
            raise ZeroDivisionError

    with opened(tmp_path / "state") as database:
        with pytest.raises(ZeroDivisionError):
            fail(database)
        added(database, entry(2))
    assert [record.entry for record in entries(tmp_path / "state")] == [entry(2)]
    assert verify(tmp_path / "state").sound


def test_an_entry_outside_a_transaction_is_a_mistake(tmp_path: Path) -> None:
    write(tmp_path / "state", 1)
    with (
        closing(sqlite3.connect(tmp_path / "state" / "state.sqlite", isolation_level=None)) as connection,
        pytest.raises(LocalError, match="transaction"),
    ):
        append(connection, entry(2))


@pytest.mark.parametrize("statement", ["DELETE FROM audit WHERE number = 1", "UPDATE audit SET record = ''"])
def test_the_program_itself_cannot_change_a_record(tmp_path: Path, statement: str) -> None:
    write(tmp_path / "state", 2)
    with (
        opened(tmp_path / "state") as database,
        pytest.raises(sqlite3.IntegrityError, match="only grows"),
        database.write() as connection,
    ):
        connection.execute(statement)
    assert verify(tmp_path / "state").count == 2


def test_reading_goes_on_beside_the_node(tmp_path: Path) -> None:
    with opened(tmp_path / "state") as database:
        head = added(database, entry(1))
        reading = entries(tmp_path / "state")
        assert next(reading) == Record(1, head.hash, entry(1))
        added(database, entry(2))
        assert verify(tmp_path / "state").count == 2
        assert [record.number for record in reading] == [2]


def test_a_copy_of_a_running_nodes_folder_is_read(tmp_path: Path) -> None:
    with opened(tmp_path / "state") as database:
        added(database, entry(1))
        shutil.copytree(tmp_path / "state", tmp_path / "copy")
    assert verify(tmp_path / "copy").count == 1


def test_reading_leaves_nothing_behind(trail: Path) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in trail.iterdir()}
    verify(trail)
    list(entries(trail))
    assert {path.name: path.stat().st_mtime_ns for path in trail.iterdir()} == before


def test_a_reader_needs_no_right_to_write(trail: Path) -> None:
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent, "state")
        shutil.copytree(trail, folder)
        for path in (Path(parent), *folder.iterdir(), folder):
            path.chmod(0o555 if path.is_dir() else 0o444)
        with without_privileges():
            assert verify(folder).count == LENGTH
        Path(parent).chmod(0o700)
        folder.chmod(0o700)


@contextmanager
def without_privileges() -> Iterator[None]:
    """Root may write everywhere, so the tests of modes are run as somebody else."""
    if os.geteuid():
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("read", [lambda folder: list(entries(folder)), verify])
def test_a_folder_without_a_trail_is_named(tmp_path: Path, read: Callable[[Path], object]) -> None:
    with pytest.raises(BadState, match=f"{tmp_path} is no state folder"):
        read(tmp_path)
    with closing(sqlite3.connect(tmp_path / "state.sqlite")) as connection:
        connection.execute("CREATE TABLE other (a)")
    with pytest.raises(BadState, match="no audit trail"):
        read(tmp_path)
    (tmp_path / "state.sqlite").write_text("this is no database at all" * 100)
    with pytest.raises(BadState, match="no database"):
        read(tmp_path)


@pytest.mark.parametrize(
    "details",
    [
        {"table": [1, 2]},
        {"share": b"\0"},
        {"mean": 0.5},
        {"cells": np.arange(3)},
        {"cell": np.int64(3)},
        {"ready": True},
        {"text": "x" * 501},
        {"x" * 501: 1},
    ],
)
def test_an_entry_takes_sizes_and_digests_alone(details: Any) -> None:
    with pytest.raises(LocalError):
        replace(entry(1), details=details)


@pytest.mark.parametrize("field", ["node", "actor", "verb", "subject"])
def test_an_entrys_texts_are_short(field: str) -> None:
    long: dict[str, Any] = {field: "x" * 501}
    with pytest.raises(LocalError, match=field):
        replace(entry(1), **long)


@pytest.mark.parametrize("time", [datetime(2026, 3, 1), datetime(2026, 3, 1, tzinfo=timezone(timedelta(hours=1)))])
def test_an_entrys_time_is_utc(time: datetime) -> None:
    with pytest.raises(LocalError, match="UTC"):
        replace(entry(1), time=time)


@given(st.text(max_size=40), st.dictionaries(st.text(max_size=9), st.integers(-(2**70), 2**70) | st.text(max_size=40)))
def test_any_words_come_back(subject: str, details: dict[str, int | str]) -> None:
    strange = replace(entry(1), subject=subject, details=details)
    with tempfile.TemporaryDirectory() as folder:
        with closing(sqlite3.connect(Path(folder, "state.sqlite"), isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = OFF")
            connection.executescript(f"BEGIN; {TABLE}")
            append(connection, strange)
            connection.execute("COMMIT")
        assert [record.entry for record in entries(Path(folder))] == [strange]
        assert verify(Path(folder)).sound
