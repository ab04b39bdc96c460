"""The database of a node: whole writes, whoever kills it, and words for whatever is wrong with its folder."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mixbayes.node.disk.audit import Entry, append, verify
from mixbayes.node.disk.database import Database, Fault, Moment
from mixbayes.node.disk.schema import Schema
from mixbayes.node.disk.sealing import Seal, fingerprint, place
from mixbayes.protocol.errors import LocalError
from mixbayes.transport.errors import BadState

FIRST = """
CREATE TABLE parent (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TABLE child (
    number INTEGER PRIMARY KEY,
    parent TEXT REFERENCES parent,
    share BLOB
) STRICT;
"""
SECOND = "ALTER TABLE child ADD COLUMN colour TEXT NOT NULL DEFAULT 'red';"
SCHEMA = Schema("mixer", (FIRST,))
KEY = bytes(range(32))
OWNER = "mixer a of hearts"
NOBODY = 65534
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
PATIENCE = 60

WRITER = """
import sys
from pathlib import Path
from tests.node.disk.test_database import opened, put

with opened(Path(sys.argv[1])) as database:
    number = int(sys.argv[2])
    while True:
        put(database, number)
        print(number, flush=True)
        number += 1
"""
FILLER = """
import resource
import sys
from pathlib import Path
from mixbayes.transport.errors import BadState
from tests.node.disk.test_database import opened, put

resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
with opened(Path(sys.argv[1])) as database:
    try:
        for number in range(1, 1000):
            put(database, number, b"x" * 50_000)
            print(number, flush=True)
    except BadState as error:
        print(error, file=sys.stderr)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state"


def opened(folder: Path, schema: Schema = SCHEMA, key: bytes = KEY, owner: str = OWNER) -> Database:
    return Database.open(folder, schema, Seal(key), owner)


def put(database: Database, number: int, share: bytes = b"share") -> None:
    """A row and its audit entry."""
    with database.write() as connection:
        where = place("child", "share", number)
        connection.execute("INSERT INTO child VALUES (?, NULL, ?)", (number, database.seal.close(share, where)))
        append(
            connection, Entry(NOON, "mixer a", "party north", "contribute", f"child {number}", {"bytes": len(share)})
        )


def rows(database: Database) -> list[int]:
    with database.read() as connection:
        return [number for (number,) in connection.execute("SELECT number FROM child ORDER BY number")]


def check(folder: Path, numbers: list[int]) -> None:
    """These rows are there, each with its entry."""
    with opened(folder) as database:
        assert rows(database) == numbers
    verdict = verify(folder)
    assert verdict.sound
    assert verdict.count == len(numbers)


def child(program: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )


def test_what_was_written_is_there_after_a_restart(folder: Path) -> None:
    with opened(folder) as database:
        put(database, 1, b"a share")
    with opened(folder) as database, database.read() as connection:
        (sealed,) = connection.execute("SELECT share FROM child").fetchone()
        assert database.seal.open(sealed, place("child", "share", 1)) == b"a share"
    check(folder, [1])


def test_folder_and_files_are_for_their_owner_alone(folder: Path) -> None:
    old = os.umask(0)
    try:
        with opened(folder / "deeper") as database:
            put(database, 1)
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder / "deeper").iterdir()}
    finally:
        os.umask(old)
    assert stat.S_IMODE((folder / "deeper").stat().st_mode) == 0o700
    assert modes == dict.fromkeys(("lock", "state.sqlite", "state.sqlite-wal", "state.sqlite-shm"), 0o600)


def test_the_disk_has_a_write_before_it_counts(folder: Path) -> None:
    with opened(folder) as database, database.write() as connection:
        pragmas = ("journal_mode", "synchronous", "foreign_keys", "secure_delete")
        assert [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in pragmas] == ["wal", 2, 1, 1]


def test_a_slow_reader_holds_up_nobody_and_what_was_deleted_goes_with_the_next_write(folder: Path) -> None:
    log = folder / "state.sqlite-wal"
    with opened(folder) as database:
        with database.read() as reading:
            assert reading.execute("SELECT COUNT(*) FROM child").fetchone() == (0,)
            put(database, 1)
            database.empty_log()
            assert log.stat().st_size
        put(database, 2)
        assert not log.stat().st_size
        put(database, 3)
        assert log.stat().st_size


class Killed(BaseException):
    """Nobody catches it, as nobody catches a power cut."""


def killer(write: int, moment: Moment) -> Fault:
    """Ends it all at this commit's side."""
    passed: list[Moment] = []

    def fault(now: Moment) -> None:
        passed.append(now)
        if now == moment and passed.count(now) == write:
            raise Killed

    return fault


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("write", range(1, 6))
def test_a_node_killed_at_any_write_has_all_of_it_or_nothing(folder: Path, write: int, moment: Moment) -> None:
    with Database.open(folder, SCHEMA, Seal(KEY), OWNER, killer(write, moment)) as database:
        for number in range(1, write):
            put(database, number)
        with pytest.raises(Killed):
            put(database, write)
    check(folder, list(range(1, write + (moment == "after"))))


def test_a_write_that_raises_leaves_nothing_and_the_next_one_works(folder: Path) -> None:
    with opened(folder) as database:
        put(database, 1)
        for mistake in (1, 1):
            with pytest.raises(sqlite3.IntegrityError):
                put(database, mistake)
        put(database, 2)
    check(folder, [1, 2])


def test_rows_refer_to_rows_that_exist(folder: Path) -> None:
    with (
        opened(folder) as database,
        pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"),
        database.write() as connection,
    ):
        connection.execute("INSERT INTO child VALUES (1, 'nobody', NULL)")


def test_mistakes_in_sql_stay_mistakes(folder: Path) -> None:
    with (
        opened(folder) as database,
        pytest.raises(sqlite3.OperationalError, match="no such table"),
        database.read() as connection,
    ):
        connection.execute("SELECT * FROM missing")


def test_reading_does_not_write(folder: Path) -> None:
    with (
        opened(folder) as database,
        pytest.raises(BadState, match="cannot be written"),
        database.read() as connection,
    ):
        connection.execute("INSERT INTO child VALUES (1, NULL, NULL)")


def test_a_process_that_is_killed_while_it_writes_loses_nothing_it_had_said(folder: Path) -> None:
    last = 0
    for lines in (5, 40, 150):
        with child(WRITER, folder, last + 1) as process:
            assert process.stdout
            said = [int(process.stdout.readline()) for _ in range(lines)]
            process.send_signal(signal.SIGKILL)
            said += [int(line) for line in process.stdout if line.endswith("\n")]
            assert process.wait(PATIENCE) == -signal.SIGKILL
        with opened(folder) as database:
            kept = rows(database)
        assert kept == list(range(1, len(kept) + 1))
        assert said[-1] <= len(kept) <= said[-1] + 1  # one that was committed, and not said any more
        check(folder, kept)
        last = len(kept)


def test_eight_threads_write_one_after_the_other_and_read_what_was_committed(folder: Path) -> None:
    writers, each = 8, 15
    writing = threading.Event()
    writing.set()

    def write(number: int) -> None:
        for step in range(each):
            put(database, 1 + number * each + step)

    def watch() -> int:
        seen = 0
        while writing.is_set():
            with database.read() as connection:
                before = connection.execute("SELECT count(*) FROM child").fetchone()
                entries = connection.execute("SELECT count(*) FROM audit").fetchone()
                assert before == entries
                assert seen <= before[0]
                seen = before[0]
        return seen

    with opened(folder) as database, ThreadPoolExecutor(writers + 2) as pool:
        watching = [pool.submit(watch) for _ in range(2)]
        for done in [pool.submit(write, number) for number in range(writers)]:
            done.result(PATIENCE)
        writing.clear()
        for watched in watching:
            watched.result(PATIENCE)
    check(folder, list(range(1, writers * each + 1)))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="this system does not list a process's files there")
def test_readers_share_few_connections(folder: Path) -> None:
    def files() -> int:
        return len([path for path in Path("/proc/self/fd").iterdir() if path.exists() and path.samefile(database_file)])

    database_file = folder / "state.sqlite"
    with opened(folder) as database:
        for _ in range(50):
            thread = threading.Thread(target=rows, args=(database,))
            thread.start()
            thread.join()
        assert files() == 2  # who writes, and who reads
        with database.read(), database.read():
            assert files() == 3
    assert files() == 0
    assert sorted(path.name for path in folder.iterdir()) == ["lock", "state.sqlite"]


def test_a_write_inside_a_write_is_a_mistake_and_not_a_deadlock(folder: Path) -> None:
    with (
        opened(folder) as database,
        pytest.raises(LocalError, match="inside another"),
        database.write(),
        database.write(),
    ):
        pass


def test_a_read_inside_a_write_sees_what_was_committed(folder: Path) -> None:
    with opened(folder) as database:
        put(database, 1)
        with database.write() as connection:
            connection.execute("DELETE FROM child")
            assert rows(database) == [1]
        assert rows(database) == []


def test_a_closed_database_says_so(folder: Path) -> None:
    database = opened(folder)
    with database.read() as connection:
        database.close()
        assert connection.execute("SELECT count(*) FROM child").fetchone() == (0,)
    database.close()
    assert sorted(path.name for path in folder.iterdir()) == ["lock", "state.sqlite"]
    with pytest.raises(LocalError, match="closed"):
        put(database, 1)
    with pytest.raises(LocalError, match="closed"):
        rows(database)


def test_two_processes_never_share_a_folder(folder: Path) -> None:
    with child(WRITER, folder, 1) as process:
        assert process.stdout
        process.stdout.readline()
        with pytest.raises(BadState, match=f"in use by {OWNER}, process {process.pid}. Stop that process"):
            opened(folder)
        process.kill()
        process.wait(PATIENCE)
    opened(folder).close()


def test_one_process_does_not_open_a_folder_twice(folder: Path) -> None:
    with opened(folder), pytest.raises(BadState, match=f"process {os.getpid()}"):
        opened(folder)
    opened(folder).close()


def test_a_refused_folder_is_free_again(folder: Path) -> None:
    opened(folder).close()
    with pytest.raises(BadState):
        opened(folder, owner="somebody else")
    opened(folder).close()


def test_another_key_is_noticed_at_the_start(folder: Path) -> None:
    opened(folder).close()
    with pytest.raises(BadState, match="another key") as caught:
        opened(folder, key=bytes(32))
    assert fingerprint(KEY) in str(caught.value)
    assert fingerprint(bytes(32)) in str(caught.value)
    check(folder, [])


@pytest.mark.parametrize(("schema", "owner"), [(SCHEMA, "mixer b of hearts"), (Schema("party", ()), OWNER)])
def test_another_nodes_folder_is_refused(folder: Path, schema: Schema, owner: str) -> None:
    opened(folder).close()
    with pytest.raises(BadState, match="holds the state of mixer a of hearts") as caught:
        opened(folder, schema=schema, owner=owner)
    assert owner in str(caught.value)


def test_a_renamed_agreement_keeps_the_folder_and_all_ledgers_in_it(folder: Path) -> None:
    with opened(folder) as database:
        put(database, 1)
    with opened(folder, owner="mixer a of lungs") as database:
        put(database, 2)
    check(folder, [1, 2])


def test_an_older_schema_is_brought_up_to_date_and_a_newer_one_refused(folder: Path) -> None:
    with opened(folder) as database:
        put(database, 1)
    newer = Schema("mixer", (FIRST, SECOND))
    with opened(folder, newer) as database, database.read() as connection:
        assert connection.execute("SELECT colour FROM child").fetchall() == [("red",)]
    opened(folder, newer).close()
    with pytest.raises(BadState, match="newer mixbayes: its mixer tables have version 2, and this program knows 1"):
        opened(folder)


def test_a_newer_layout_of_the_nodes_own_tables_is_refused(folder: Path) -> None:
    opened(folder).close()
    with closing(sqlite3.connect(folder / "state.sqlite")) as connection:
        connection.execute("PRAGMA user_version = 3")
    with pytest.raises(BadState, match="newer mixbayes: its node tables have version 3"):
        opened(folder)


def test_a_step_that_fails_leaves_the_older_schema(folder: Path) -> None:
    opened(folder).close()
    with pytest.raises(sqlite3.OperationalError):
        opened(folder, Schema("mixer", (FIRST, SECOND + "DROP TABLE missing;")))
    with opened(folder) as database, database.read() as connection:
        assert "colour" not in [name for _, name, *_ in connection.execute("PRAGMA table_info(child)")]


def test_a_folder_left_before_its_tables_were_made_is_used(folder: Path) -> None:
    folder.mkdir()
    (folder / "state.sqlite").touch()
    opened(folder).close()
    check(folder, [])


@pytest.mark.parametrize("step", ["CREATE TABLE loose (a);", "CREATE TABLE unfinished (a) STRICT"])
def test_a_careless_schema_is_a_mistake(folder: Path, step: str) -> None:
    with pytest.raises(LocalError):
        opened(folder, Schema("mixer", (step,)))


def test_another_programs_database_is_refused(folder: Path) -> None:
    folder.mkdir()
    with closing(sqlite3.connect(folder / "state.sqlite")) as connection:
        connection.execute("CREATE TABLE about (a)")
    with pytest.raises(BadState, match="not made by a node"):
        opened(folder)


def large(folder: Path) -> Path:
    with opened(folder) as database:
        for number in range(1, 30):
            put(database, number, bytes(2000))
    return folder / "state.sqlite"


@pytest.mark.parametrize("page", [0, 1, 2, 5, 10, -1])
def test_a_damaged_page_is_noticed_at_the_start(folder: Path, page: int) -> None:
    file = large(folder)
    content = bytearray(file.read_bytes())
    start = page * 4096 if page >= 0 else len(content) - 4096
    content[start : start + 4096] = b"\xa5" * 4096
    file.write_bytes(content)
    with pytest.raises(BadState, match=r"state.sqlite: .*damaged"):
        opened(folder)


@pytest.mark.parametrize("kept", [600, 4096, 20_000])
def test_a_file_cut_short_is_noticed_at_the_start(folder: Path, kept: int) -> None:
    os.truncate(large(folder), kept)
    with pytest.raises(BadState, match=r"state.sqlite: .*damaged"):
        opened(folder)


def test_a_file_that_is_no_database_is_named(folder: Path) -> None:
    folder.mkdir()
    (folder / "state.sqlite").write_text("Dear diary, " * 1000)
    with pytest.raises(BadState, match=r"state.sqlite: it is no database"):
        opened(folder)


def test_a_row_put_at_another_place_does_not_open(folder: Path) -> None:
    with opened(folder) as database:
        put(database, 1)
        put(database, 2)
        with database.write() as connection:
            connection.execute("UPDATE child SET share = (SELECT share FROM child WHERE number = 1) WHERE number = 2")
            (sealed,) = connection.execute("SELECT share FROM child WHERE number = 2").fetchone()
        with pytest.raises(BadState, match=r"child.share\[2\]"):
            database.seal.open(sealed, place("child", "share", 2))


def test_a_full_disk_is_said_and_nothing_is_half_written(folder: Path) -> None:
    with opened(folder) as database:
        put(database, 1)
        with database.write() as connection:
            connection.execute("PRAGMA max_page_count = 20")
        with pytest.raises(BadState, match=r"state.sqlite: the disk is full. Make room"):
            put(database, 2, bytes(100_000))
        assert rows(database) == [1]
        with database.write() as connection:
            connection.execute("PRAGMA max_page_count = 1000")
        put(database, 2, bytes(100_000))
    check(folder, [1, 2])


def test_a_disk_that_takes_no_more_is_said_and_what_was_there_stays(folder: Path) -> None:
    with child(FILLER, folder) as process:
        out, err = process.communicate(timeout=PATIENCE)
    said = list(map(int, out.split()))
    assert len(said) > 3
    assert f"{folder}/state.sqlite: the disk" in err
    assert "Traceback" not in err
    check(folder, said)


@contextmanager
def without_privileges() -> Iterator[Path]:
    """A folder of somebody who is not root, because root may write everywhere."""
    with tempfile.TemporaryDirectory() as parent:
        owned = Path(parent, "owned")
        owned.mkdir()
        if os.geteuid():
            yield owned
            return
        Path(parent).chmod(0o755)
        os.chown(owned, NOBODY, NOBODY)
        os.seteuid(NOBODY)
        try:
            yield owned
        finally:
            os.seteuid(0)
            shutil.rmtree(owned)


def test_a_read_only_folder_is_named() -> None:
    with without_privileges() as owned:
        owned.chmod(0o500)
        with pytest.raises(BadState, match=r"cannot hold a node's state: Permission denied\. Give one"):
            opened(owned)
        with pytest.raises(BadState, match="cannot hold a node's state: Permission denied"):
            opened(owned / "deeper")


def test_a_read_only_file_is_named() -> None:
    with without_privileges() as owned:
        opened(owned / "state").close()
        (owned / "state" / "state.sqlite").chmod(0o400)
        with pytest.raises(BadState, match=r"state.sqlite cannot be written: Permission denied"):
            opened(owned / "state")


def test_a_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "state").touch()
    with pytest.raises(BadState, match="cannot hold a node's state"):
        opened(tmp_path / "state")
    with pytest.raises(BadState, match="cannot hold a node's state"):
        opened(tmp_path / "state" / "deeper")


def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    with opened(tmp_path / "a?b#c %20 ü'") as database:
        put(database, 1)
    check(tmp_path / "a?b#c %20 ü'", [1])


def test_a_relative_folder_stays_the_same_when_the_process_moves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with opened(Path("state")) as database:
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        put(database, 1)
        assert rows(database) == [1]
    check(tmp_path / "state", [1])
