"""A backup of a state folder: it is made beside a node at work, holds nothing that answers, and is put back once."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mixbayes.node.disk import audit
from mixbayes.node.disk.asked import Charged
from mixbayes.node.disk.backup import RESTORED, Backup, back_up, look_into, put_back
from mixbayes.node.disk.database import Database
from mixbayes.node.disk.datastore import COMPUTING_PARTY, HOSPITAL, Datastore, RoundTables
from mixbayes.node.disk.schema import Schema
from mixbayes.node.disk.sealing import Seal
from mixbayes.node.disk.sqlite import FILE
from mixbayes.node.rounds.rounds import Rounds
from mixbayes.node.rounds.state import CLOSED, SERVING
from mixbayes.parties.with_mixers.contributing import Messages, Outbox
from mixbayes.privacy.coins import Coins
from mixbayes.privacy.loss import Release
from mixbayes.transport.errors import BadState
from tests.mixers.three_hospitals import NOISE, Clock, agreement
from tests.node.disk.test_earlier_versions import put_back as put_back_dump

MADE = datetime(2026, 11, 20, 4, 12, 44, tzinfo=UTC)
LATER = MADE + timedelta(days=9)
RUN, ID, QUESTION = b"r" * 16, b"i" * 16, b"q" * 16
SECRETS = b"a model", b"a message", b"an answer", b"noisy counts", b"a recipe's model", b"rows aside"
OPEN_TO_ALL = {
    ("audit", "hash"),
    ("contribution", "id"),
    ("contribution", "digest"),
    ("contribution", "message"),
    ("counted", "digest"),
    ("last_question", "id"),
    ("noise", "seed"),
    ("outbox", "id"),
    ("outbox", "message"),
    ("own_release", "id"),
    ("question", "id"),
    ("round", "run"),
    ("round", "model"),
    ("round", "counts"),
}
"""The columns of bytes that a backup may have: ids, hashes and tags; and those that are empty in it."""
EMPTIED = {("noise", "seed"), ("outbox", "message"), ("round", "model"), ("round", "counts")}
WITHOUT_ROWS = {"answer", "aside", "draw", "recipe_model"}


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Rounds]:
    """A mixer whose round serves, with something in every table."""
    with Database.open(tmp_path / "a", COMPUTING_PARTY, Seal(bytes(32)), "mixer a of heart") as database:
        rounds = Rounds(database, agreement(NOISE), "mixer a", Clock())
        for name in ("north", "south", "west"):
            rounds.hold(1, name, name.encode().ljust(16), SECRETS[1])
        chosen = rounds.current().sealed_set
        rounds.seal(1, chosen)
        rounds.charge_noise(1, chosen).notes["coins"] = b"shares of coins"
        rounds.keep_model(1, RUN, SECRETS[0], [], SECRETS[3])
        rounds.serve(1, RUN)
        with rounds.datastore.write() as tables:
            fill(tables)
        assert rounds.current().state is SERVING
        yield rounds


def fill(tables: RoundTables) -> None:
    tables.put_recipe_model(1, "north", "weight 2", RUN, SECRETS[4])
    tables.put_aside(1, "north", ID, SECRETS[5])
    tables.charge_noise("f" * 64, 1, "", Release(Coins((40,), 2), 3, 12), b"s" * 32)
    tables.asked.add_question(QUESTION, 0, Charged("north", 1, 1, 5, 1))
    tables.asked.put_spent(1, "north", 1, 5)
    tables.asked.add_answer(QUESTION, 0, SECRETS[2])
    tables.asked.put_last(1, QUESTION)
    tables.put_best("f" * 64, "weight 2")


def backed_up(folder: Path, out: Path) -> Backup:
    out.touch()
    return back_up(folder, out, MADE)


def opened(folder: Path, schema: Schema = COMPUTING_PARTY, title: str = "mixer a") -> Database:
    return Database.open(folder, schema, Seal(bytes(32)), f"{title} of heart")


def test_what_a_mixer_must_not_forget_comes_back_and_nothing_that_answers(serving: Rounds, tmp_path: Path) -> None:
    backed_up(tmp_path / "a", tmp_path / "file")
    put_back(tmp_path / "file", tmp_path / "new", LATER)
    with opened(tmp_path / "new") as database:
        again = Rounds(database, serving.federation, "mixer a", Clock())
        now = again.current()
        assert (now.number, now.state) == (1, CLOSED)
        assert "backup" in now.reason
        assert again.last_sealed() == 1
        assert again.budget_of(1, "north") == serving.budget_of(1, "north")
        with serving.datastore.read() as tables:
            charged = tables.releases()
        assert len(charged) == 2
        with again.datastore.read() as tables:
            assert tables.releases() == charged
            assert tables.asked.question(QUESTION)
            assert tables.best("f" * 64) == "weight 2"
            assert tables.model(1) is None
            assert tables.asked.answers(QUESTION) == []


def columns_of_bytes(file: Path) -> set[tuple[str, str]]:
    query = """SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c
               WHERE t.type = 'table' AND c.type = 'BLOB'"""
    with closing(sqlite3.connect(file)) as connection:
        return set(connection.execute(query))


def test_every_column_of_bytes_is_an_id_or_empty(serving: Rounds, tmp_path: Path) -> None:
    """A table that comes later has to say here whether a backup holds it."""
    backed_up(tmp_path / "a", tmp_path / "file")
    there = columns_of_bytes(tmp_path / "file")
    assert {(table, column) for table, column in there if table not in WITHOUT_ROWS} <= OPEN_TO_ALL
    with closing(sqlite3.connect(tmp_path / "file")) as connection:
        for table, column in EMPTIED & there:
            assert connection.execute(f"SELECT COUNT({column}) FROM {table}").fetchone() == (0,), column
        for table in WITHOUT_ROWS:
            assert connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone() == (0,), table
        assert connection.execute("SELECT COUNT(*) FROM contribution WHERE message <> x''").fetchone() == (0,)


def sealed_values(folder: Path) -> list[bytes]:
    """The encrypted values in a state folder."""
    queries = [
        "SELECT model FROM round",
        "SELECT counts FROM round",
        "SELECT share FROM answer",
        "SELECT share FROM aside",
        "SELECT model FROM recipe_model",
        "SELECT seed FROM noise WHERE seed NOT NULL",
    ]
    with closing(sqlite3.connect(folder / FILE)) as connection:
        return [value for query in queries for (value,) in connection.execute(query)]


def test_nothing_that_was_left_out_stays_between_the_pages_of_the_file(serving: Rounds, tmp_path: Path) -> None:
    values = sealed_values(tmp_path / "a")
    assert len(values) == 6
    backed_up(tmp_path / "a", tmp_path / "file")
    content = (tmp_path / "file").read_bytes()
    assert [value for value in values if value in content] == []


def test_a_backup_beside_a_node_at_work_has_what_was_committed_last(serving: Rounds, tmp_path: Path) -> None:
    before = audit.verify(tmp_path / "a")
    found = backed_up(tmp_path / "a", tmp_path / "file")
    assert (found.kind, found.owner, found.made, found.round) == (COMPUTING_PARTY.kind, "mixer a of heart", MADE, 1)
    assert found.trail == before
    serving.close(1, "party north")  # the node goes on
    assert audit.verify(tmp_path / "a").count == before.count + 1


def test_the_trail_goes_on_and_says_that_it_was_restored(serving: Rounds, tmp_path: Path) -> None:
    found = backed_up(tmp_path / "a", tmp_path / "file")
    put_back(tmp_path / "file", tmp_path / "new", LATER)
    verdict = audit.verify(tmp_path / "new", found.trail.head, found.trail.count)
    assert verdict.sound
    *_, last = audit.entries(tmp_path / "new")
    assert (last.entry.verb, last.entry.actor, last.entry.time) == (RESTORED, "mixer a", LATER)
    assert last.entry.details == {
        "entries": found.trail.count,
        "head": found.trail.head,
        "backup of": "2026-11-20T04:12:44.000000Z",
    }


def test_a_trail_is_read_and_checked_in_the_backup_itself(serving: Rounds, tmp_path: Path) -> None:
    found = backed_up(tmp_path / "a", tmp_path / "file")
    assert audit.verify(tmp_path / "file", found.trail.head, found.trail.count).sound


def test_a_hospital_comes_back_with_its_ledgers_and_sends_nothing_of_before(tmp_path: Path) -> None:
    with Database.open(tmp_path / "north", HOSPITAL, Seal(bytes(32)), "party north of heart") as database:
        outbox = Outbox(database, "party north", "d" * 64, Clock(), 4)
        outbox.due(1, lambda: Messages(ID, b"share for a", b"share for b", b"counts"))
        backed_up(tmp_path / "north", tmp_path / "file")
    put_back(tmp_path / "file", tmp_path / "new", LATER)
    with opened(tmp_path / "new", HOSPITAL, "party north") as database:
        outbox = Outbox(database, "party north", "d" * 64, Clock(), 4)
        assert outbox.due(1, lambda: pytest.fail("a second contribution to the same round")) == {}
        with outbox._datastore.read() as tables:
            assert tables.same_counted("d" * 64, 1, b"counts"), "it may still evaluate"


def test_no_node_starts_with_a_backup_that_was_not_restored(serving: Rounds, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    backed_up(tmp_path / "a", tmp_path / "new" / FILE)
    with pytest.raises(BadState, match="mixbayes restore"):
        opened(tmp_path / "new")


def test_a_copy_of_a_state_folder_is_no_backup(serving: Rounds, tmp_path: Path) -> None:
    shutil.copy(tmp_path / "a" / FILE, tmp_path / "copy")
    with pytest.raises(BadState, match="no backup"):
        put_back(tmp_path / "copy", tmp_path / "new", LATER)
    assert not (tmp_path / "new" / FILE).exists()


def test_a_state_that_is_there_is_not_replaced(serving: Rounds, tmp_path: Path) -> None:
    backed_up(tmp_path / "a", tmp_path / "file")
    with pytest.raises(BadState, match="already"):
        put_back(tmp_path / "file", tmp_path / "a", LATER)


def test_a_folder_that_a_node_has_is_not_touched(serving: Rounds, tmp_path: Path) -> None:
    backed_up(tmp_path / "a", tmp_path / "file")
    with opened(tmp_path / "new") as database:
        (tmp_path / "new" / FILE).unlink()
        with pytest.raises(BadState, match="in use"):
            put_back(tmp_path / "file", tmp_path / "new", LATER)
        database.close()


def test_a_backup_with_a_broken_trail_is_refused(serving: Rounds, tmp_path: Path) -> None:
    backed_up(tmp_path / "a", tmp_path / "file")
    with closing(sqlite3.connect(tmp_path / "file")) as connection, connection:
        connection.execute("DROP TRIGGER audit_stays")
        connection.execute("UPDATE audit SET record = replace(record, 'north', 'south') WHERE number = 2")
    with pytest.raises(BadState, match="breaks at record 2"):
        put_back(tmp_path / "file", tmp_path / "new", LATER)


def test_a_damaged_backup_is_refused(serving: Rounds, tmp_path: Path) -> None:
    backed_up(tmp_path / "a", tmp_path / "file")
    content = (tmp_path / "file").read_bytes()
    (tmp_path / "file").write_bytes(content[: len(content) // 2])
    with pytest.raises(BadState, match=r"(damaged|no database).* Give another backup\.$"):
        look_into(tmp_path / "file")


def test_a_folder_of_an_earlier_version_is_backed_up_with_that_version(tmp_path: Path) -> None:
    folder = put_back_dump(tmp_path / "a", "mixer-protocol-1")
    with pytest.raises(BadState, match="version"):
        backed_up(folder, tmp_path / "file")


def test_nobody_else_may_read_what_was_put_back(serving: Rounds, tmp_path: Path) -> None:
    backed_up(tmp_path / "a", tmp_path / "file")
    put_back(tmp_path / "file", tmp_path / "new", LATER)
    assert (tmp_path / "new" / FILE).stat().st_mode & 0o777 == 0o600


def test_the_tables_after_a_restore_are_those_of_any_node(serving: Rounds, tmp_path: Path) -> None:
    backed_up(tmp_path / "a", tmp_path / "file")
    put_back(tmp_path / "file", tmp_path / "new", LATER)
    with opened(tmp_path / "new") as database:
        Datastore(database, RoundTables, "mixer a", Clock())
    assert columns_of_bytes(tmp_path / "new" / FILE) == columns_of_bytes(tmp_path / "a" / FILE)


def test_the_new_name_is_on_the_disk_when_putting_back_has_ended(
    serving: Rounds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a power cut may leave an empty folder, in which a node would begin anew without its ledgers."""
    backed_up(tmp_path / "a", tmp_path / "file")
    done: list[str] = []
    rename, synchronise = os.replace, os.fsync

    def replaced(source: Path, target: Path) -> None:
        rename(source, target)
        done.append(f"{Path(target).name} renamed")

    def synchronised(handle: int) -> None:
        synchronise(handle)
        done.append(f"{os.readlink(f'/proc/self/fd/{handle}')} synchronised")

    monkeypatch.setattr(os, "replace", replaced)
    monkeypatch.setattr(os, "fsync", synchronised)
    put_back(tmp_path / "file", tmp_path / "new", LATER)
    assert done[-2:] == [f"{FILE} renamed", f"{tmp_path / 'new'} synchronised"]
