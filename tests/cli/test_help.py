"""Help as a terminal of 80 columns shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from mixbayes.cli.app import app

WIDTH = 80


def commands(at: Any, path: tuple[str, ...] = ("mixbayes",)) -> Iterator[tuple[str, Any]]:
    """Every command, and every group of commands, by how it is called."""
    yield " ".join(path), at
    for name, below in getattr(at, "commands", {}).items():
        yield from commands(below, (*path, name))


COMMANDS = dict(commands(typer.main.get_command(app)))


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str) -> str:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    with pytest.raises(SystemExit):
        COMMANDS["mixbayes"].main([*command.split()[1:], "-h"], prog_name="mixbayes")
    return capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_is_cut_off(shown: str, command: str) -> None:
    assert max(map(len, shown.splitlines())) <= WIDTH
    assert "…" not in shown
    assert not re.search(r"\w\.\.\.$", shown, re.MULTILINE)
    options = [
        name for one in COMMANDS[command].params for name in [*one.opts, *one.secondary_opts] if name.startswith("-")
    ]
    assert [name for name in options if not re.search(rf"(^|\s){name}\b", shown)] == []


def test_there_are_commands_in_groups() -> None:
    assert {"mixbayes simulate", "mixbayes federation new", "mixbayes audit show"} <= set(COMMANDS)
