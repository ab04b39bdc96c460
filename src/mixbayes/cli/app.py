"""The commands, each in a file of its own."""

from __future__ import annotations

from typing import Annotated

import typer

import mixbayes
from mixbayes.cli import bench, simulate

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(name="simulate", epilog=simulate.EXAMPLES)(simulate.simulate)
app.command(name="bench", epilog=bench.EXAMPLES)(bench.bench)


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
