"""Groups of commands whose modules are imported when a command is called, and not to list it."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from mixbayes.cli.help import Command


@dataclass(frozen=True)
class Listed:
    """A command as the list of commands knows it."""

    where: str
    """MODULE:FUNCTION in `mixbayes.cli`."""
    summary: str
    """The first paragraph of the function's docstring; a test compares them."""
    examples: str = "EXAMPLES"
    """The name of the examples in that module."""
    computes: bool = True
    """Whether it may multiply matrices. If not, OpenBLAS starts no threads for it: they spin until they have work."""

    def made(self, name: str) -> Any:
        if not self.computes and "numpy" not in sys.modules:
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        module, _, function = self.where.partition(":")
        with _nothing_collected():
            found = import_module(f"mixbayes.cli.{module}")
        single = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        single.command(cls=Command, name=name, epilog=getattr(found, self.examples))(getattr(found, function))
        return typer.main.get_command(single)


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """What an import makes stays, so that looking for garbage among it is time lost."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@dataclass(frozen=True)
class ListedGroup:
    """A group of commands as the list of commands knows it."""

    summary: str
    commands: Mapping[str, Listed]

    def made(self, name: str) -> Any:
        return Group(self.commands, name=name, help=self.summary, no_args_is_help=True, rich_markup_mode=None)


Entry = Listed | ListedGroup


class Group(TyperGroup):
    """A group that makes a command when it is asked for it."""

    def __init__(self, listed: Mapping[str, Entry], **given: Any) -> None:
        super().__init__(**given)
        self._listed = listed
        self.commands: Any = _Made(listed)

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self._listed)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in self._listed.items()])


class _Made(Mapping[str, Any]):
    """The commands of this list, each made when it is looked up."""

    def __init__(self, listed: Mapping[str, Entry]) -> None:
        self._listed = listed

    def __getitem__(self, name: str) -> Any:
        return self._listed[name].made(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._listed)

    def __len__(self) -> int:
        return len(self._listed)
