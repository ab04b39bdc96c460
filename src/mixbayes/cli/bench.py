"""`mixbayes bench`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from mixbayes.simulation.bench import Result, measure
from mixbayes.simulation.bench_nodes import NodeResult, measure_nodes

EXAMPLES = """Examples:

mixbayes bench

mixbayes bench --repeats 3 --json

mixbayes bench --nodes
"""


def bench(
    repeats: Annotated[int, typer.Option(metavar="N", min=1, help="Runs of every task; the median counts.")] = 7,
    nodes: Annotated[bool, typer.Option("--nodes", help="Ask the real nodes, over gRPC with TLS, instead.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Measure the building blocks and whole jobs on this machine: 13 attributes of 10 values, or 30 Gaussian ones."""
    talk = Console(stderr=True, highlight=False)
    measured: Iterator[NodeResult | Result] = measure_nodes(repeats) if nodes else measure(repeats)
    results = []
    for result in measured:
        talk.print(f"measured: {result.task}", markup=False)
        results.append(result)
    if as_json:
        typer.echo(json.dumps([asdict(result) for result in results], indent=2))
    else:
        _show([result for result in results if isinstance(result, Result)])
        _show_nodes([result for result in results if isinstance(result, NodeResult)])


def _show_nodes(results: list[NodeResult]) -> None:
    if not results:
        return
    table = Table("task", "as it comes, ms", "made ahead, ms", title="two mixers and a hospital, gRPC with TLS")
    for column in table.columns[1:]:
        column.justify = "right"
    for result in results:
        table.add_row(result.task, f"{1000 * result.seconds:.1f}", f"{1000 * result.seconds_warm:.1f}")
    Console(highlight=False, width=None if sys.stdout.isatty() else 120).print(table)


def _show(results: list[Result]) -> None:
    if not results:
        return
    table = Table("task", "all, ms", "online, ms", "MB", "bytes a piece", "rounds", "peak MB")
    for column in table.columns[1:]:
        column.justify = "right"
    for result in results:
        table.add_row(
            result.task,
            f"{1000 * result.seconds:.1f}",
            f"{1000 * result.seconds_online:.1f}" if result.seconds_online else "",
            f"{result.bytes / 1e6:.2f}",
            f"{result.bytes / result.size:,.0f}",
            str(result.rounds),
            f"{result.peak_megabytes:.0f}",
        )
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    console.print(table)
    transfers = results[0]
    console.print(f"Random transfers: {2 * transfers.size / transfers.seconds / 1e6:.1f} million a second and party.")
