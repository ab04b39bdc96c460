"""`mixbayes tune --method dmpd`: what each level of anonymity costs in accuracy."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table as Shown

from mixbayes.cli.output import write_whole
from mixbayes.cli.progress import Talk
from mixbayes.cli.report_file import ReportFile
from mixbayes.cli.tenths import Tenths
from mixbayes.local_methods.dmpd.attainment import Fall
from mixbayes.local_methods.tables import Codes, Floats, Nominal, Table
from mixbayes.tables.method_table import as_command_error

if TYPE_CHECKING:
    from mixbayes.local_methods.dmpd.tradeoff import AnonymityTradeoff
    from mixbayes.report.page import Page

METHOD = "dmpd"
OBJECTIVE = "pareto"
SURFACES = {"best": "tab:green", "median": "tab:blue", "worst": "tab:red"}
WIDTHS = (6.0, 3.5, 1.0)
"""Where surfaces lie on one another, all are seen."""


def tune_pareto(
    search: AnonymityTradeoff,
    table: Table,
    labels: Nominal | None,
    *,
    plot: Path | None,
    report: ReportFile | None,
    as_json: bool,
) -> None:
    """Search, and tell what was found in every way that was asked for."""
    begun = perf_counter()
    with Talk() as talk, as_command_error():
        search.fit(table, labels, progress=Tenths(talk))
    seconds = perf_counter() - begun
    if plot:
        write_whole(plot, _drawn(search))
    if report:
        report.write(_page(search))
    if as_json:
        typer.echo(json.dumps(_document(search, table.rows, seconds), indent=2))
    else:
        _show(search)


def _document(search: AnonymityTradeoff, rows: int, seconds: float) -> dict[str, Any]:
    surfaces = search.attainment_
    return {
        "method": METHOD,
        "objective": OBJECTIVE,
        "inducer": search.inducer,
        "rows": rows,
        "runs": search.runs,
        "front": [asdict(one) for one in search.front_],
        "attainment": {
            "anonymity": surfaces.levels.tolist(),
            **{name: _attained(getattr(surfaces, name).tolist()) for name in SURFACES},
        },
        "falls": [asdict(fall) for fall in search.falls_],
        "seconds": round(seconds, 3),
    }


def _attained(accuracies: Sequence[float]) -> list[float | None]:
    return [accuracy if isfinite(accuracy) else None for accuracy in accuracies]


def _show(search: AnonymityTradeoff) -> None:
    """The front for people, on stdout."""
    console = Console(highlight=False)
    table = Shown("k up to", "accuracy", "lost to the best", "projections", "left out", title="What anonymity costs")
    best = search.front_[0].accuracy
    for one in search.front_:
        lost = f"{best - one.accuracy:.2%}"
        table.add_row(
            f"{one.anonymity:,}", f"{one.accuracy:.2%}", lost, str(len(one.projections)), str(len(one.left_out))
        )
    console.print(table)
    for fall in search.falls_:
        console.print(f"Above k = {fall.above:,} the accuracy falls from {fall.before:.2%} to {fall.after:.2%}.")
    if search.runs > 1:
        console.print(f"The falls are those of the median of {search.runs} runs, the table is the best of all.")


def _page(search: AnonymityTradeoff) -> Page:
    from mixbayes.report.tuned import Point, Tuning, tuned  # slow to import

    worst = max(search.falls_, key=lambda fall: fall.before - fall.after, default=None)
    return tuned(
        Tuning(
            method=METHOD,
            found="Accuracy does not fall at any level."
            if worst is None
            else f"Accuracy falls most above k = {worst.above}: from {worst.before:.2%} to {worst.after:.2%}.",
            how=f"A genetic search for both anonymity and accuracy was run {_times(search.runs)}; shown is what no "
            f"other partition that was seen surpasses in both. Accuracy is over {search.folds} folds; numbers were cut "
            "into intervals beforehand, which flatters it.",
            privacy="rows that share the rarest combination",
            points=[Point(f"k = {one.anonymity}", one.accuracy, one.anonymity) for one in search.front_],
        )
    )


def _drawn(search: AnonymityTradeoff) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # slow to import, and needs no display
    from matplotlib.figure import Figure
    from matplotlib.ticker import PercentFormatter, StrMethodFormatter

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for name, label, colour, width in _surfaces(search.runs):
        levels, accuracies = _from_one(search.attainment_.levels, getattr(search.attainment_, name))
        axes.step(levels, accuracies, where="pre", label=label, color=colour, linewidth=width)
    for fall in _large(search.falls_):
        place = (fall.above, fall.before)
        axes.annotate(f"k = {fall.above:,}", place, textcoords="offset points", xytext=(3, 3), fontsize="small")
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.set_xlabel("anonymity: rows that share the rarest combination")
    axes.set_ylabel("accuracy")
    axes.set_title(f"{_whose(search.runs)} falls above the k that is written there", fontsize="medium")
    axes.legend()
    file = io.BytesIO()
    canvas.print_figure(file, format="png")
    return file.getvalue()


def _surfaces(runs: int) -> Iterator[tuple[str, str, str, float]]:
    """Name, what it is called, colour and width; of one run they are the same, and one is enough."""
    if runs == 1:
        yield "median", "the one run", SURFACES["median"], WIDTHS[-1]
        return
    for (name, colour), width in zip(SURFACES.items(), WIDTHS, strict=True):
        yield name, f"{name} of {runs} runs", colour, width


def _times(runs: int) -> str:
    return "once" if runs == 1 else f"{runs} times"


def _whose(runs: int) -> str:
    return "Accuracy" if runs == 1 else "The median"


def _from_one(levels: Codes, accuracies: Floats) -> tuple[Codes, Floats]:
    """The surface from k = 1 on; below the lowest level that came up it is what it is there."""
    from_one = np.append(1, levels), np.append(accuracies[:1], accuracies)
    return from_one[0], np.where(np.isfinite(from_one[1]), from_one[1], np.nan)


def _large(falls: Sequence[Fall]) -> list[Fall]:
    """Those that the eye sees: of at least a twentieth of the whole fall."""
    whole = sum(fall.before - fall.after for fall in falls)
    return [fall for fall in falls if fall.before - fall.after >= whole / 20]
