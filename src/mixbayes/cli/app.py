"""The commands, each in a file of its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated

import typer

import mixbayes
from mixbayes.cli import (
    ask,
    audit,
    backup,
    bench,
    count_table,
    cuts,
    doctor,
    evaluate,
    federation,
    inspect_table,
    keys,
    measure,
    members,
    model,
    nodes,
    pinning,
    protect,
    reproduce,
    simulate,
    study,
    tune,
)
from mixbayes.cli.help import Command

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _add(name: str, command: Callable[..., None], examples: str) -> None:
    """In the list of commands its docstring's first paragraph is shown whole, which otherwise is cut off."""
    paragraph = (inspect.getdoc(command) or "").split("\n\n")[0]
    app.command(cls=Command, name=name, epilog=examples, short_help=" ".join(paragraph.split()))(command)


_add("simulate", simulate.simulate, simulate.EXAMPLES)
_add("bench", bench.bench, bench.EXAMPLES)
_add("inspect", inspect_table.inspect, inspect_table.EXAMPLES)
_add("count", count_table.count, count_table.EXAMPLES)
_add("protect", protect.protect, protect.EXAMPLES)
_add("measure", measure.measure, measure.EXAMPLES)
_add("tune", tune.tune, tune.EXAMPLES)
_add("reproduce", reproduce.reproduce, reproduce.EXAMPLES)
_add("study", study.study, study.EXAMPLES)
_add("mixer", nodes.mixer, nodes.MIXER_EXAMPLES)
_add("party", nodes.party, nodes.PARTY_EXAMPLES)
_add("classify", ask.classify, ask.CLASSIFY_EXAMPLES)
_add("evaluate", evaluate.evaluate, evaluate.EXAMPLES)
_add("model", model.model, model.EXAMPLES)
_add("status", ask.status, ask.STATUS_EXAMPLES)
_add("backup", backup.backup, backup.BACKUP_EXAMPLES)
_add("restore", backup.restore, backup.RESTORE_EXAMPLES)
_add("doctor", doctor.doctor, doctor.EXAMPLES)
federation.app.command(cls=Command, name="cuts", epilog=cuts.EXAMPLES)(cuts.cuts)
federation.app.command(cls=Command, name="add-party", epilog=members.ADD_EXAMPLES)(members.add_party)
federation.app.command(cls=Command, name="remove-party", epilog=members.REMOVE_EXAMPLES)(members.remove_party)
federation.app.command(cls=Command, name="replace-party", epilog=members.REPLACE_PARTY_EXAMPLES)(members.replace_party)
federation.app.command(cls=Command, name="replace-mixer", epilog=members.REPLACE_MIXER_EXAMPLES)(members.replace_mixer)
federation.app.command(cls=Command, name="pin", epilog=pinning.PIN_EXAMPLES)(pinning.pin)
federation.app.command(cls=Command, name="rotate-key", epilog=pinning.ROTATE_EXAMPLES)(pinning.rotate_key)
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
