"""The command line as a whole."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import mixbayes
from mixbayes.cli.commands import COMMANDS
from mixbayes.cli.group import Group


class _Everything(Group):
    def __init__(self, **given: Any) -> None:
        super().__init__(COMMANDS, **given)


app = typer.Typer(
    cls=_Everything,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(mixbayes.__version__)
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Naive Bayes trained and asked across hospitals, without anyone pooling a table."""
