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

from mixbayes.cli.options import Transfers
from mixbayes.cli.slow_link import Delay, Rate, slow_link
from mixbayes.protocol.errors import Unsupported
from mixbayes.simulation.bench import Result, measure
from mixbayes.simulation.bench_nodes import NodeResult, measure_nodes
from mixbayes.simulation.bench_slow_links import SlowResult, measure_slow_links
from mixbayes.simulation.slow_link import SlowLink

EXAMPLES = """Examples:

mixbayes bench

mixbayes bench --repeats 3 --json

mixbayes bench --nodes

mixbayes bench --nodes --delay 25 --rate 100
"""
AnyResult = Result | NodeResult | SlowResult


def bench(
    repeats: Annotated[int, typer.Option(metavar="N", min=1, help="Runs of every task; the median counts.")] = 7,
    nodes: Annotated[bool, typer.Option("--nodes", help="Ask the real nodes, over gRPC with TLS, instead.")] = False,
    delay: Delay = None,
    rate: Rate = None,
    transfers: Annotated[
        Transfers, typer.Option(help="With --delay: how the mixers make oblivious transfers.")
    ] = Transfers.SILENT,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Measure the building blocks and whole jobs on this machine: 13 attributes of 10 values, or 30 Gaussian ones.

    With --nodes and --delay, all that nodes say to mixers passes a proxy that delays and throttles it.
    """
    link = slow_link(delay, rate)
    if link and not nodes:
        raise Unsupported("--delay is for links between real nodes: add --nodes.")
    talk = Console(stderr=True, highlight=False)
    results = []
    for result in _measured(repeats, link, transfers, nodes=nodes):
        talk.print(f"measured: {result.task}", markup=False)
        results.append(result)
    if as_json:
        typer.echo(json.dumps([asdict(result) for result in results], indent=2))
    else:
        _show([result for result in results if isinstance(result, Result)])
        _show_nodes([result for result in results if isinstance(result, NodeResult)])
        _show_slow([result for result in results if isinstance(result, SlowResult)])


def _measured(repeats: int, link: SlowLink | None, transfers: Transfers, *, nodes: bool) -> Iterator[AnyResult]:
    if link:
        yield from measure_slow_links(link, repeats, transfers.value)
    elif nodes:
        yield from measure_nodes(repeats)
    else:
        yield from measure(repeats)


def _show_nodes(results: list[NodeResult]) -> None:
    if not results:
        return
    table = Table("task", "as it comes, ms", "made ahead, ms", title="two mixers and a hospital, gRPC with TLS")
    for column in table.columns[1:]:
        column.justify = "right"
    for result in results:
        table.add_row(result.task, f"{1000 * result.seconds:.1f}", f"{1000 * result.seconds_warm:.1f}")
    Console(highlight=False, width=None if sys.stdout.isatty() else 120).print(table)


def _show_slow(results: list[SlowResult]) -> None:
    if not results:
        return
    one = results[0]
    title = f"{one.delay_ms:g} ms one way, {one.mbit:g} Mbit/s each way, {one.transfers} transfers"
    table = Table("task", "seconds", "MB", "bytes a row", "made ahead, s", "MB", "connecting too, s", "MB", title=title)
    for column in table.columns[1:]:
        column.justify = "right"
    for result in results:
        table.add_row(
            result.task,
            *_figures(result.seconds, result.bytes),
            f"{result.bytes / result.rows:,.0f}" if result.rows else "",
            *_figures(result.seconds_ahead, result.bytes_ahead),
            *_figures(result.seconds_new, result.bytes_new),
        )
    Console(highlight=False, width=None if sys.stdout.isatty() else 120).print(table)


def _figures(seconds: float | None, count: int | None) -> Iterator[str]:
    yield "" if seconds is None else f"{seconds:.2f}"
    yield "" if count is None else f"{count / 1e6:.2f}"


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
