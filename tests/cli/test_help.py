"""Help as a terminal of 80 columns shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from mixbayes.cli.app import app

WIDTH = 80
TYPE = re.compile(
    r"\b(TEXT|INTEGER|FLOAT|PATH|RANGE|BOOLEAN)\b|x[<>]=|<=x|<[^>]*\b(bool|date|datetime|float|int|path|range|str)\b"
)
"""As click or typer show one where nobody has said in words what is to be typed."""


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


@pytest.mark.parametrize("command", COMMANDS)
def test_no_type_of_python_is_shown(shown: str, command: str) -> None:
    assert [line for line in shown.splitlines() if TYPE.search(line)] == []


@pytest.mark.parametrize("command", ["mixbayes simulate"])
def test_what_an_option_takes_is_said_in_words(shown: str, command: str) -> None:
    text = " ".join(shown.split())
    assert text.startswith("Usage: mixbayes simulate [OPTIONS] [TABLE]... ")
    assert "Arguments: TABLE None: an example table" in text
    assert "--hospitals N Over how many hospitals one table is split. [at least 2]" in text
    assert "[default: (0.3, of large tables fewer rows); 0.0 to 0.9]" in text
    assert "--protocol <shares|paillier>" in text


def test_there_are_commands_in_groups() -> None:
    assert {"mixbayes simulate", "mixbayes federation new", "mixbayes audit show"} <= set(COMMANDS)
