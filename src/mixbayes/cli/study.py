"""`mixbayes study`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mixbayes.cli.doubts import tell_doubts
from mixbayes.cli.output import refuse_unwritable, write_whole
from mixbayes.cli.progress import Talk
from mixbayes.cli.workers import Jobs, Workers, spread
from mixbayes.extras import refuse_without
from mixbayes.protocol.errors import BadData

EXAMPLES = """Examples:

mixbayes study --data-dir data

mixbayes study --data-dir data --out docs

mixbayes study --data-dir data --quick --json

mixbayes study --data-dir data --workers tcp://127.0.0.1:8786
"""


def study(
    data_dir: Annotated[
        Path, typer.Option(metavar="DIR", help="Has cleveland.csv, hungarian.csv, switzerland.csv and va.csv.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write four-hospitals.md there, its picture and its measurements."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A few seconds, to try it; figures that say nothing.")] = False,
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, help="Of folds and methods; never the protocol's randomness.")
    ] = 0,
    jobs: Jobs = 1,
    workers: Workers = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of the text.")] = False,
) -> None:
    """Show what four hospitals gain by joining, and what each protection costs and gives away; takes minutes.

    The tables are UCI 'Heart Disease', processed.*.data, with a header and the class absent or present: what is missing
    in DIR is told, with what to do.
    """
    from mixbayes.research.study.document import NAME, document  # slow to import
    from mixbayes.research.study.figure import figure
    from mixbayes.research.study.hospitals import read_hospitals
    from mixbayes.research.study.results import as_json as measurements
    from mixbayes.research.study.study import QUICK_PLAN, Plan
    from mixbayes.research.study.study import study as run_study

    files = [out / f"{NAME}.{kind}" for kind in ("md", "json", "svg")] if out else []
    tables = read_hospitals(data_dir)
    tell_doubts(list(tables.values()))
    if out:
        refuse_without("matplotlib")
        _make(out)
    for file in files:
        refuse_unwritable(file)
    with spread(jobs, workers), Talk() as talk:
        results = run_study(tables, QUICK_PLAN if quick else Plan(), seed, talk)
    text, measured = document(results), measurements(results)
    contents: list[str | bytes] = [text, measured, figure(results)] if files else []
    for file, content in zip(files, contents, strict=True):
        write_whole(file, content)
    typer.echo(measured if as_json else text, nl=False)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadData(f"{folder} cannot be made: {error.strerror}.") from None
