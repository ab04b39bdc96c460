"""`mixbayes reproduce`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as Shown
from rich.text import Text

from mixbayes.cli.progress import Talk
from mixbayes.cli.tenths import Tenths
from mixbayes.cli.workers import Jobs, Workers, spread
from mixbayes.protocol.errors import BadData, Unsupported

if TYPE_CHECKING:
    from mixbayes.research.reproduction.experiment import Experiment, Laboratory, Row
    from mixbayes.research.reproduction.public_tables import PublicTable
    from mixbayes.research.reproduction.run import Done

EXAMPLES = """Examples:

mixbayes reproduce --list --data-dir tables

mixbayes reproduce roy-table-4.1

mixbayes reproduce kim-table-2 li-xi-table-1 --data-dir tables --quick

mixbayes reproduce --data-dir tables --json

mixbayes reproduce --data-dir tables --workers tcp://127.0.0.1:8786
"""
WIDTH = 150
"""Of tables where there is no terminal."""


def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Experiments, as --list names them. Default: all.")
    ] = None,
    data_dir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Holds the public tables, one CSV each.", exists=True, file_okay=False),
    ] = None,
    list_only: Annotated[
        bool, typer.Option("--list", help="Name the experiments, the tables that each needs, and what is there.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer repetitions; the output says what is left out.")
    ] = False,
    jobs: Jobs = 1,
    workers: Workers = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Run the papers' experiments on public tables, and print published and measured figures side by side.

    Seeds are fixed: the same tables give the same figures, but for seconds. A table that is not in DIR is named, with
    where it comes from, and what rests on it alone is skipped. So is what a table turns out to be of no use for, and
    the exit code is 6 in the end. All experiments at full length take hours; what is done is printed part by part, and
    Ctrl-C stops it.
    """
    from mixbayes.research.reproduction.registry import chosen  # slow to import

    experiments = chosen(names or [])
    if list_only:
        _list(experiments, data_dir, as_json)
        return
    _refuse_nowhere(experiments, data_dir)
    with spread(jobs, workers):
        _reproduce(experiments, data_dir, quick, as_json)


def _refuse_nowhere(experiments: Sequence[Experiment], folder: Path | None) -> None:
    """Without a folder only what rests on no table can be asked for."""
    needing = [experiment.name for experiment in experiments if experiment.tables]
    if folder is None and needing:
        raise Unsupported(f"{needing[0]} needs public tables. Say with --data-dir where they are; --list names them.")


def _reproduce(experiments: Sequence[Experiment], folder: Path | None, quick: bool, as_json: bool) -> None:
    from mixbayes.research.reproduction.experiment import Laboratory
    from mixbayes.research.reproduction.run import run_all, runs_at_all

    documents = []
    with Talk() as talk:
        lab = Laboratory(folder, quick, Tenths(talk))
        for experiment, parts in run_all(experiments, lab):
            if as_json:
                documents.append(_document(experiment, parts, lab))
            else:
                _tell(experiment, parts, lab)
    if as_json:
        typer.echo(json.dumps({"quick": quick, "experiments": documents}, indent=2))
    if not runs_at_all(experiments, lab):
        absent = dict.fromkeys(table.file for experiment in experiments for table in experiment.tables)
        raise BadData(
            f"Nothing could be run: {folder} has none of {', '.join(absent)}. --list says where they are from."
        )
    if lab.unusable:
        raise BadData("\n".join(f"{why} Not run: {'; '.join(parts)}." for why, parts in lab.unusable.items()))


def _tell(experiment: Experiment, parts: Iterator[Done], lab: Laboratory) -> None:
    """Every part for people, on stdout, as soon as it is done."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=WIDTH)
    console.print(Text(f"{experiment.name}   {experiment.title}", "bold"), soft_wrap=True)
    console.print(Text(experiment.paper), soft_wrap=True)
    if lab.quick and experiment.quick:
        console.print(Text(f"Quick: {experiment.quick}."), soft_wrap=True)
    for done in parts:
        _show(console, done, lab.folder)
    console.print(Text(_reason(experiment) + "\n"), soft_wrap=True)


def _reason(experiment: Experiment) -> str:
    return f"Where they differ: {experiment.reason}. See {experiment.deviations}."


def _show(console: Console, done: Done, folder: Path | None) -> None:
    for table in done.missing:
        console.print(Text(f"\n{done.title}: skipped. {_absent(table, folder)}"), soft_wrap=True)
    if done.unusable:
        console.print(Text(f"\n{done.title}: skipped. {done.unusable}"), soft_wrap=True)
    for at, (columns, rows) in enumerate(_alike(done.rows)):
        console.print(_table("" if at else done.title, columns, rows))
    for row in done.rows:
        if row.note:
            console.print(Text(f"{row.what}: {row.note}."), soft_wrap=True)


def _absent(table: PublicTable, folder: Path | None) -> str:
    return f"{table.file} is not in {folder}. {table.remedy()}"


def _alike(rows: Sequence[Row]) -> list[tuple[tuple[str, ...], list[Row]]]:
    """Rows one below the other in one table, as far as its columns have room for them."""
    together: list[tuple[tuple[str, ...], list[Row]]] = []
    for row in rows:
        columns, above = together[-1] if together else ((), [])
        own = _columns(row)
        if above and (set(own) <= set(columns) or set(columns) <= set(own)):
            together[-1] = max(columns, own, key=len), [*above, row]
        else:
            together.append((own, [row]))
    return together


def _columns(row: Row) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*row.published, *row.measured)))


def _table(title: str, columns: Sequence[str], rows: Sequence[Row]) -> Shown:
    """Two lines for each row, or one if nothing is published."""
    shown = Shown("", "", *columns, title=title or None, title_justify="left")
    for column in shown.columns[2:]:
        column.justify = "right"
    for row in rows:
        for line in _lines(row, columns):
            shown.add_row(*map(Text, line))
    return shown


def _lines(row: Row, columns: Sequence[str]) -> Iterator[list[str]]:
    title = row.what
    for whose, figures in (("published", row.published), ("measured", row.measured)):
        if figures:
            yield [title, whose, *(_figure(figures.get(column, "")) for column in columns)]
            title = ""


def _figure(figure: float | int | str) -> str:
    return f"{figure:.4g}" if isinstance(figure, float) else str(figure)


def _document(experiment: Experiment, parts: Iterator[Done], lab: Laboratory) -> dict[str, Any]:
    return {
        "name": experiment.name,
        "title": experiment.title,
        "paper": experiment.paper,
        "reason": experiment.reason,
        "deviations": experiment.deviations,
        "left_out": experiment.quick if lab.quick else "",
        "parts": [_part_document(done) for done in parts],
    }


def _part_document(done: Done) -> dict[str, Any]:
    return {
        "title": done.title,
        "missing": [{"file": table.file, "remedy": table.remedy()} for table in done.missing],
        "unusable": done.unusable,
        "rows": [asdict(row) for row in done.rows],
        "seconds": round(done.seconds, 3),
    }


def _list(experiments: Sequence[Experiment], folder: Path | None, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"experiments": [_listed(each, folder) for each in experiments]}, indent=2))
        return
    for experiment in experiments:
        typer.echo(f"{experiment.name}   {experiment.title}")
        for state, there in (("there", True), ("missing", False)):
            files = [table.file for table in experiment.tables if bool(table.file_in(folder)) is there]
            if files:
                typer.echo(f"    {state + ':':9}{', '.join(files)}")
    tables = {table.file: table for experiment in experiments for table in experiment.tables}
    missing = [table for table in tables.values() if not table.file_in(folder)]
    typer.echo(f"\n{len(tables) - len(missing)} of {len(tables)} tables are there.")
    for table in missing:
        typer.echo(f"{table.file} is missing. {table.remedy()}")


def _listed(experiment: Experiment, folder: Path | None) -> dict[str, Any]:
    return {
        "name": experiment.name,
        "title": experiment.title,
        "paper": experiment.paper,
        "tables": [
            {"file": table.file, "data_set": table.data_set, "present": table.file_in(folder) is not None}
            for table in experiment.tables
        ],
    }
