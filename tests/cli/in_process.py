"""A command of `mixbayes` run in the process of the test."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from mixbayes.cli import run_command

PLAIN = {"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The one JSON document on stdout."""
        assert self.code == 0, self.err
        read: dict[str, Any] = json.loads(self.out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
        return read


Command = Callable[..., Done]


def command(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs the command of this name with arguments."""
    for variable, value in PLAIN.items():
        monkeypatch.setenv(variable, value)

    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["mixbayes", name, *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            run_command()
        told = capsys.readouterr()
        return Done(int(ended.value.code or 0), told.out, told.err)

    return run
