"""`mixbayes backup` and `mixbayes restore` as an operator types them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mixbayes.node.disk import audit
from mixbayes.node.disk.sqlite import FILE
from tests.cli.in_process import Done, command
from tests.mixers.three_hospitals import Clock, rounds_in


@pytest.fixture
def state(tmp_path: Path) -> Path:
    with rounds_in(tmp_path / "a", Clock()):
        return tmp_path / "a"


class Typed:
    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.backup = command("backup", monkeypatch, capsys)
        self.restore = command("restore", monkeypatch, capsys)


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    return Typed(monkeypatch, capsys)


def refused(done: Done, why: str) -> None:
    assert done.code != 0
    assert why in done.err


def test_a_backup_says_what_to_note_and_a_restore_what_follows(typed: Typed, state: Path, tmp_path: Path) -> None:
    verdict = audit.verify(state)
    done = typed.backup("--state", state, "-o", tmp_path / "a.backup")
    assert done.code == 0, done.err
    assert f"{verdict.count} entries, head {verdict.head}" in done.err
    done = typed.restore(tmp_path / "a.backup", "--state", tmp_path / "new")
    assert done.code == 0, done.err
    assert "mixbayes round close" in done.err
    assert audit.verify(tmp_path / "new").count == verdict.count + 1


def test_a_backup_is_for_this_user_alone_and_leaves_nothing_beside_it(
    typed: Typed, state: Path, tmp_path: Path
) -> None:
    (tmp_path / "backups").mkdir()
    assert typed.backup("--state", state, "-o", tmp_path / "backups" / "a").code == 0
    assert [file.name for file in (tmp_path / "backups").iterdir()] == ["a"]
    assert (tmp_path / "backups" / "a").stat().st_mode & 0o777 == 0o600


def test_a_backup_that_is_there_is_replaced_only_if_that_is_said(typed: Typed, state: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.backup"
    out.write_text("yesterday's")
    refused(typed.backup("--state", state, "-o", out), "stays as it is")
    assert out.read_text() == "yesterday's"
    assert typed.backup("--state", state, "-o", out, "--overwrite").code == 0
    assert out.read_bytes().startswith(b"SQLite format 3")


def test_what_is_no_state_folder_is_not_backed_up(typed: Typed, tmp_path: Path) -> None:
    refused(typed.backup("--state", tmp_path, "-o", tmp_path / "file"), "is no state folder")
    assert not (tmp_path / "file").exists()


def test_an_older_backup_than_was_noted_is_refused(typed: Typed, state: Path, tmp_path: Path) -> None:
    typed.backup("--state", state, "-o", tmp_path / "a.backup")
    count = audit.verify(state).count
    refused(
        typed.restore(tmp_path / "a.backup", "--state", tmp_path / "new", "--entries", count + 1),
        f"{count} entries in its audit trail, and {count + 1} were noted",
    )
    assert not (tmp_path / "new" / FILE).exists()
    assert typed.restore(tmp_path / "a.backup", "--state", tmp_path / "new", "--entries", count).code == 0


def test_a_state_that_is_there_stays(typed: Typed, state: Path, tmp_path: Path) -> None:
    typed.backup("--state", state, "-o", tmp_path / "a.backup")
    before = (state / FILE).read_bytes()
    refused(typed.restore(tmp_path / "a.backup", "--state", state), "already")
    assert (state / FILE).read_bytes() == before


def test_the_trail_in_a_backup_is_shown(
    typed: Typed, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed.backup("--state", state, "-o", tmp_path / "a.backup")
    done = command("audit", monkeypatch, capsys)("show", "--state", tmp_path / "a.backup")
    assert "opened  round 1" in done.out
