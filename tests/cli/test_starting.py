"""Commands start fast because they import what they need and nothing else."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib import import_module
from typing import Any

import pytest

from mixbayes.cli.commands import COMMANDS
from mixbayes.cli.group import Listed, ListedGroup
from tests.services.helpers import Site

GROUPS = {"": COMMANDS} | {name: entry.commands for name, entry in COMMANDS.items() if isinstance(entry, ListedGroup)}
LISTED = {
    f"{group} {name}".strip(): one
    for group, entries in GROUPS.items()
    for name, one in entries.items()
    if isinstance(one, Listed)
}
SLOW = {"cryptography", "grpc", "google", "nacl", "numpy", "pandas", "pyarrow", "rich", "scipy", "sklearn", "structlog"}
NOT_FOR_STATUS = {
    "pandas",
    "pyarrow",
    "rich",
    "scipy",
    "sklearn",
    "structlog",
    "sqlite3",
    "sqlalchemy",
    "multiprocessing",
}
RUN = """
import sys
from mixbayes.cli import main
sys.argv[0] = "mixbayes"
try:
    main()
finally:
    print(*sys.modules, file=sys.stderr)
"""


def imported(*words: object) -> set[str]:
    """The modules that a process has imported once this command has ended in order."""
    command = [sys.executable, "-c", RUN, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split())


def packages(modules: set[str]) -> set[str]:
    return {module.partition(".")[0] for module in modules}


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["keys", "--help"], ["federation", "--help"]])
def test_a_list_of_commands_imports_no_command(words: list[str]) -> None:
    modules = imported(*words)
    assert packages(modules) & SLOW == set()
    assert {"mixbayes.cli." + one.where.partition(":")[0] for one in LISTED.values()} & modules == set()


def test_the_status_imports_no_arithmetic_of_questions_and_no_log(serving: Site) -> None:
    node = ("--federation", serving.file, "--name", "north", "--keys", serving.keys)
    modules = imported("status", *node)
    assert packages(modules) & NOT_FOR_STATUS == set()
    ours = {module for module in modules if module.startswith("mixbayes.")}
    unneeded = (
        "mixbayes.tables",
        "mixbayes.simulation",
        "mixbayes.local_methods",
        "mixbayes.mixers",
        "mixbayes.report",
    )
    assert [module for module in ours if module.startswith(unneeded)] == []


@pytest.mark.parametrize("command", ["keys fingerprint", "federation show", "audit verify", "round new"])
def test_help_imports_no_table_and_no_learning(command: str) -> None:
    modules = imported(*command.split(), "--help")
    assert packages(modules) & {"pandas", "pyarrow", "scipy", "sklearn", "sqlalchemy"} == set()


@pytest.mark.parametrize("name", LISTED)
def test_a_command_is_listed_with_the_first_paragraph_of_its_help(name: str) -> None:
    one = LISTED[name]
    module, _, function = one.where.partition(":")
    found: Any = inspect.unwrap(getattr(import_module(f"mixbayes.cli.{module}"), function))
    assert " ".join((inspect.getdoc(found) or "").split("\n\n")[0].split()) == one.summary
    assert getattr(import_module(f"mixbayes.cli.{module}"), one.examples).startswith("Examples:")
