"""The commands, each in a file of its own."""

from __future__ import annotations

from typing import Annotated

import typer

import mixbayes
from mixbayes.cli import (
    ask,
    audit,
    bench,
    doctor,
    federation,
    keys,
    measure,
    nodes,
    protect,
    reproduce,
    simulate,
    study,
    tune,
)

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(name="simulate", epilog=simulate.EXAMPLES)(simulate.simulate)
app.command(name="bench", epilog=bench.EXAMPLES)(bench.bench)
app.command(name="protect", epilog=protect.EXAMPLES)(protect.protect)
app.command(name="measure", epilog=measure.EXAMPLES)(measure.measure)
app.command(name="tune", epilog=tune.EXAMPLES)(tune.tune)
app.command(name="reproduce", epilog=reproduce.EXAMPLES)(reproduce.reproduce)
app.command(name="study", epilog=study.EXAMPLES)(study.study)
app.command(name="mixer", epilog=nodes.MIXER_EXAMPLES)(nodes.mixer)
app.command(name="party", epilog=nodes.PARTY_EXAMPLES)(nodes.party)
app.command(name="classify", epilog=ask.CLASSIFY_EXAMPLES)(ask.classify)
app.command(name="status", epilog=ask.STATUS_EXAMPLES)(ask.status)
app.command(name="doctor", epilog=doctor.EXAMPLES)(doctor.doctor)
app.add_typer(ask.rounds, name="round")
app.add_typer(audit.app, name="audit")
app.add_typer(federation.app, name="federation")
app.add_typer(keys.app, name="keys")


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
