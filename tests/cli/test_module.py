"""`python -m mixbayes` is the same command."""

from __future__ import annotations

import subprocess
import sys

import pytest

import mixbayes


def python_m(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mixbayes", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_it_runs_commands() -> None:
    done = python_m("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{mixbayes.__version__}\n", "")


def test_it_shows_how_it_was_called() -> None:
    done = python_m("federation", "show", "--help")
    assert done.returncode == 0
    assert done.stdout.split()[:6] == ["Usage:", "python", "-m", "mixbayes", "federation", "show"]


@pytest.mark.parametrize(("words", "code"), [(("federation", "show", "nowhere.toml"), 6), (("nothing",), 2)])
def test_its_exit_codes_are_those_of_the_command(words: tuple[str, ...], code: int) -> None:
    done = python_m(*words)
    assert (done.returncode, done.stdout) == (code, "")
    assert "Traceback" not in done.stderr
