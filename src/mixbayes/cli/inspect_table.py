"""`mixbayes inspect`: what is in a table, and what is doubtful about it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from time import perf_counter
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mixbayes.cli.options import Several, names_in, separators_in
from mixbayes.cli.progress import Talk
from mixbayes.cli.reading import TABLE, USUAL, opened, reads_tables, tell_unmet
from mixbayes.node.log import printable
from mixbayes.tables.inspection import Inspected, InspectedColumn, inspected
from mixbayes.tables.sources.how import How

EXAMPLES = """Examples:

mixbayes inspect patients.csv

mixbayes inspect 'export/*.csv' --delimiter ';' --decimal , --missing NA,-999

mixbayes inspect postgres://db.example.org/clinic --query training.sql --class-column outcome --json
"""


@reads_tables
def inspect(
    table: Annotated[str, typer.Argument(metavar="TABLE", help=TABLE)],
    class_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Default: `class`, else the last column.")
    ] = None,
    bins: Annotated[int | None, typer.Option(metavar="N", min=1, help="As if numbers were cut into N bins.")] = None,
    nominal: Annotated[
        str, typer.Option(metavar="A,B", help="Columns of numbers that are names, not measurements.")
    ] = "",
    numeric: Annotated[
        str, typer.Option(metavar="C,D", help="Columns of measurements that have few different numbers.")
    ] = "",
    several: Several = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    how: How = USUAL,
) -> None:
    """Look at every column of a table: what it counts as, what is in it, what is doubtful.

    Nothing leaves this machine. The table is counted where it is.
    """
    begun = perf_counter()
    source = opened(table, how)
    with Talk() as talk, source.named_in_errors():
        profile = source.profile(source.names, talk)
        found = inspected(
            profile, class_column, names_in(nominal), names_in(numeric), bins, separators_in(several or [])
        )
    tell_unmet(source)
    seconds = perf_counter() - begun
    if as_json:
        typer.echo(json.dumps(document(found) | {"seconds": round(seconds, 3)}, indent=2))
    else:
        _show(source.title, found)


def document(found: Inspected) -> dict[str, object]:
    """What --json prints, but for the time that it took."""
    return {
        "rows": found.rows,
        "class_column": {"name": found.class_column, "guessed": found.guessed},
        "doubts": found.doubts,
        "columns": [asdict(column) for column in found.columns],
    }


def _show(title: str, found: Inspected) -> None:
    console = Console(highlight=False)
    shown = Table("column", "counts as", "values", "missing", "range", "most frequent", title=f"{found.rows:,} rows")
    for column in found.columns:
        shown.add_row(*map(Text, _row(column)))
    console.print(Text(title))
    console.print(shown)
    guess = ", a guess; --class-column names another" if found.guessed else ""
    console.print(Text(f"What is predicted: {printable(found.class_column)}{guess}."))
    for doubt in _doubts(found):
        console.print(Text(f"- {printable(doubt)}."), soft_wrap=True)


def _row(column: InspectedColumn) -> tuple[str, ...]:
    bounds = "" if column.low is None else f"{column.low:g} to {column.high:g}"
    frequent = ", ".join(f"{value} ({times:,})" for value, times in column.most_frequent)
    values = f"{column.distinct:,}" if column.complete else f"over {column.distinct:,}"
    return printable(column.name), column.kind, values, f"{column.missing:,}", bounds, printable(frequent)


def _doubts(found: Inspected) -> Iterator[str]:
    yield from found.doubts
    yield from (f"column {column.name!r} {doubt}" for column in found.columns for doubt in column.doubts)
