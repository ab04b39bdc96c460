"""--report DIR: where the page goes, and what it says of the command that made it."""

from __future__ import annotations

import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

import mixbayes
from mixbayes.cli.output import refuse_unwritable, write_private
from mixbayes.protocol.errors import BadData

if TYPE_CHECKING:
    from mixbayes.report.page import Page

FILE = "report.html"

Report = Annotated[
    Path | None,
    typer.Option("--report", metavar="DIR", help="Write a page with pictures and numbers to DIR/report.html."),
]


class ReportFile:
    """A folder for the page, looked at before the work begins."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self._begun = datetime.now(UTC)
        try:
            _refuse_folder(folder)
        except OSError as error:
            raise BadData(f"{folder} cannot be the folder of a report: {error.strerror}.") from None
        if folder.is_dir():
            refuse_unwritable(self.path)

    def write(self, page: Page) -> None:
        """Make the folder if need be, and replace the page that was there."""
        from mixbayes.report.page import Run, built  # slow to import

        content = built(page, Run(told_command(sys.argv[1:]), mixbayes.__version__, self._begun))
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadData(f"{self.path.parent} cannot be made: {error.strerror}.") from None
        write_private(self.path, content)
        typer.echo(f"The report is {self.path}.", err=True)


def _refuse_folder(folder: Path) -> None:
    """Say before long work that no page can be there. One that looks writable need not be, so it is tried."""
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise BadData(f"{folder} cannot be made: {there} is no folder.")
    with TemporaryDirectory(dir=there):
        pass


def told_command(words: list[str]) -> str:
    """The command without the folders of this machine: of a path that begins at the root or above here, its name."""
    return shlex.join(["mixbayes", *map(_told, words)])


def _told(word: str) -> str:
    option, sign, value = word.partition("=") if word.startswith("-") else ("", "", word)
    if value.startswith(("/", "~", "../")):
        value = Path(value).name
    return option + sign + value
