"""`mixbayes audit` as its users have it."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mixbayes.cli import main
from mixbayes.node.disk.audit import Entry, append
from mixbayes.node.disk.database import Database
from mixbayes.node.disk.schema import Schema
from mixbayes.node.disk.sealing import Seal

ENTRIES = [
    Entry(datetime(2026, 3, 1, 12, tzinfo=UTC), "mixer a", "party north", "contribute", "round 1", {"bytes": 2048}),
    Entry(datetime(2026, 3, 1, 13, tzinfo=UTC), "mixer a", "party south", "contribute", "round 1", {"bytes": 4096}),
    Entry(datetime(2026, 3, 2, 9, tzinfo=UTC), "mixer a", "party north", "ask", "question 7", {"rows": 20, "to": "x"}),
]


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command, in this process."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")

    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["mixbayes", "audit", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return Done(int(ended.value.code or 0), said.out, said.err)

    return run


@pytest.fixture
def state(tmp_path: Path) -> Path:
    with open_database(tmp_path / "state") as database:
        for entry in ENTRIES:
            with database.write() as connection:
                append(connection, entry)
    return tmp_path / "state"


def open_database(folder: Path) -> Database:
    return Database.open(folder, Schema("mixer", ()), Seal(bytes(32)), "mixer a")


def documents(done: Done) -> list[dict[str, Any]]:
    assert (done.code, done.err) == (0, "")
    records: list[dict[str, Any]] = json.loads(done.out)
    return records


def tamper(state: Path, *statements: str) -> None:
    with closing(sqlite3.connect(state / "state.sqlite")) as connection, connection:
        for trigger in ("audit_keeps", "audit_stays"):
            connection.execute(f"DROP TRIGGER {trigger}")
        for statement in statements:
            connection.execute(statement)


def test_show_prints_a_line_for_each_record(run: Run, state: Path) -> None:
    done = run("show", "--state", state)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "1  2026-03-01 12:00:00 +00:00  party north  contribute  round 1  bytes=2048",
        "2  2026-03-01 13:00:00 +00:00  party south  contribute  round 1  bytes=4096",
        "3  2026-03-02 09:00:00 +00:00  party north  ask  question 7  rows=20  to=x",
    ]


def test_show_prints_one_document(run: Run, state: Path) -> None:
    records = documents(run("show", "--state", state, "--json"))
    assert [record["number"] for record in records] == [1, 2, 3]
    assert set(records[0]) == {"number", "hash", "time", "node", "actor", "verb", "subject", "details"}
    assert records[2]["details"] == {"rows": 20, "to": "x"}
    assert records[2]["time"] == "2026-03-02T09:00:00.000000+00:00"


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        (["--since", "2026-03-02"], [3]),
        (["--since", "2026-03-01T13:00:00"], [2, 3]),
        (["--since", "2026-03-01T14:30:00+01:00"], [3]),
        (["--since", "2026-03-01T14:00:00+01:00"], [2, 3]),
        (["--verb", "contribute"], [1, 2]),
        (["--actor", "party north"], [1, 3]),
        (["--actor", "party north", "--verb", "ask"], [3]),
        ([], [1, 2, 3]),
    ],
)
def test_show_selects(run: Run, state: Path, options: list[str], numbers: list[int]) -> None:
    records = documents(run("show", "--state", state, "--json", *options))
    assert [record["number"] for record in records] == numbers


def test_show_says_that_nothing_fits(run: Run, state: Path) -> None:
    said = "No record matches.\n"
    assert run("show", "--state", state, "--verb", "north") == Done(0, "", said)
    assert run("show", "--state", state, "--verb", "north", "--json") == Done(0, "[]\n", said)


def test_show_names_the_actors_where_none_is_called_so(run: Run, state: Path) -> None:
    there = ", ".join(sorted({record["actor"] for record in documents(run("show", "--state", state, "--json"))}))
    assert "party north" in there
    said = f"No record matches. These have records: {there}.\n"
    assert run("show", "--state", state, "--actor", "north") == Done(0, "", said)


def test_verify_prints_count_and_head(run: Run, state: Path) -> None:
    head = documents(run("show", "--state", state, "--json"))[-1]["hash"]
    done = run("verify", "--state", state)
    assert (done.code, done.out, done.err) == (0, f"3 records\nhead {head}\n", "")
    done = run("verify", "--state", state, "--json", "--head", head.upper(), "--count", 3)
    assert done.code == 0
    assert json.loads(done.out) == {"sound": True, "count": 3, "head": head, "broken": None, "witnessed": {}}


def test_both_work_beside_the_running_node(run: Run, state: Path) -> None:
    with open_database(state) as database:
        with database.write() as connection:
            append(connection, ENTRIES[0])
        assert len(documents(run("show", "--state", state, "--json"))) == 4
        assert run("verify", "--state", state).out.startswith("4 records\n")


def test_verify_says_where_a_trail_breaks(run: Run, state: Path) -> None:
    tamper(state, "UPDATE audit SET record = replace(record, '4096', '4095') WHERE number = 2")
    first = documents(run("show", "--state", state, "--json"))[0]["hash"]
    done = run("verify", "--state", state)
    assert (done.code, done.out) == (1, f"1 records\nhead {first}\n")
    assert f"The audit trail in {state} breaks at record 2: it was changed" in done.err
    assert "[E121]" in done.err
    done = run("verify", "--state", state, "--json")
    assert done.code == 1
    assert json.loads(done.out)["broken"]["number"] == 2


def test_verify_sees_a_lost_end_with_a_noted_head_alone(run: Run, state: Path) -> None:
    head = json.loads(run("verify", "--state", state, "--json").out)["head"]
    tamper(state, "DELETE FROM audit WHERE number = 3")
    assert run("verify", "--state", state).code == 0
    done = run("verify", "--state", state, "--head", head, "--count", 3)
    assert (done.code, "breaks at record 3: it is missing" in done.err) == (1, True)
    assert run("verify", "--state", state, "--head", head).code == 1


def test_show_lets_no_record_write_to_the_terminal(run: Run, state: Path) -> None:
    tamper(state, r"UPDATE audit SET record = replace(record, 'question 7', '\u001b[2J\n') WHERE number = 3")
    done = run("show", "--state", state)
    assert "\x1b" not in done.out
    assert len(done.out.splitlines()) == 3


def test_show_names_a_record_it_cannot_read(run: Run, state: Path) -> None:
    tamper(state, "UPDATE audit SET record = 'nothing' WHERE number = 2")
    done = run("show", "--state", state)
    assert done.code == 1
    assert "Record 2 of the audit trail" in done.err
    assert "audit verify" in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["show"],
        ["verify"],
        ["show", "--state", ".", "--since", "yesterday"],
        ["verify", "--state", ".", "--head", "abc"],
        ["verify", "--state", ".", "--count", "0"],
    ],
)
def test_wrong_usage_ends_with_2(run: Run, arguments: list[str]) -> None:
    done = run(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err


@pytest.mark.parametrize("verb", ["show", "verify"])
def test_a_folder_without_state_is_named(run: Run, tmp_path: Path, verb: str) -> None:
    done = run(verb, "--state", tmp_path / "nothing")
    assert (done.code, done.out) == (1, "")
    assert f"{tmp_path / 'nothing'} is no state folder" in done.err


def test_help_says_what_only_a_noted_head_shows(run: Run) -> None:
    words = " ".join(run("verify", "-h").out.split())
    assert "A trail alone cannot show that its end was cut off" in words
    assert "--head" in words
    assert "mixbayes audit verify --state" in words
