"""`mixbayes measure`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as Shown
from rich.text import Text

from mixbayes.cli.doubts import tell_doubts
from mixbayes.cli.options import names_in
from mixbayes.cli.progress import Talk
from mixbayes.cli.report_file import Report, ReportFile
from mixbayes.local_methods.measures.disclosure import Unknown
from mixbayes.tables.columns import Columns
from mixbayes.tables.files import read_table
from mixbayes.tables.method_table import as_command_error, as_table, class_column, numeric_names

if TYPE_CHECKING:
    from mixbayes.local_methods.measures.comparison import Comparison
    from mixbayes.report.page import Page

EXAMPLES = """Examples:

mixbayes measure patients.csv released.csv

mixbayes measure patients.csv released.csv --test later.csv --json

mixbayes measure patients.csv released.csv --report report

mixbayes measure patients.csv released.csv --quasi-identifiers age,sex,zip --unknown no-match
"""

DISTORTION = (
    ("confidence_interval", "confidence interval", "width that holds 95 % of the differences, in ranges"),
    ("vd", "size of the change (VD)", "norm of the differences over that of the original"),
    ("rp", "ranks by which values move (RP)", "ranks by which a value moves"),
    ("rk", "values that keep their rank (RK)", "share of values that keep their rank"),
    ("cp", "ranks by which means move (CP)", "ranks by which the mean of an attribute moves"),
    ("ck", "means that keep their rank (CK)", "share of attributes whose mean keeps its rank"),
)
RISK = (
    ("k_anonymity", "k-anonymity", "rows with the rarest combination of quasi-identifiers"),
    ("reidentification", "re-identification (S1)", "mean over queries of one over the rows found"),
    ("attribute_disclosure", "attribute disclosure (S2)", "mean over queries of the commonest class's share of them"),
)
"""Key, name and what it is."""


def measure(
    original: Annotated[Path, typer.Argument(metavar="ORIGINAL", help="The table as it was.")],
    released: Annotated[Path, typer.Argument(metavar="RELEASED", help="The table made from it.")],
    test: Annotated[
        Path | None,
        typer.Option(metavar="TABLE", help="Judge classifiers on these rows. Default: cross-validation of ORIGINAL."),
    ] = None,
    class_col: Annotated[
        str | None, typer.Option("--class-column", metavar="COLUMN", help="Default: `class`, if there is one.")
    ] = None,
    nominal: Annotated[str, typer.Option(metavar="A,B", help="Columns of numbers that are names.")] = "",
    numeric: Annotated[str, typer.Option(metavar="C,D", help="Columns that must be numbers.")] = "",
    quasi_identifiers: Annotated[
        str, typer.Option(metavar="A,B", help="What an attacker may know. Default: everything but the class.")
    ] = "",
    unknown: Annotated[
        Unknown, typer.Option(help="What a missing cell is to an attacker who asks about it.")
    ] = Unknown.WILDCARD,
    clusters: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Default: as many as classes, else 4.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Of queries, folds and clusters.")] = 0,
    report: Report = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Measure what a release gives away, and what it is still good for.

    Row i of RELEASED is taken for row i of ORIGINAL. A measure that the two tables do not have is null.
    """
    from mixbayes.local_methods.measures.comparison import compare  # slow to import

    page = ReportFile(report) if report else None
    read = [read_table(path) for path in (original, released, *([test] if test else []))]
    label = class_column(read[0], class_col)
    numbers = numeric_names(read, {*names_in(nominal), *([label] if label else [])}, names_in(numeric))
    tables = [as_table(columns, numbers) for columns in read]
    tell_doubts(read, names_in(nominal), names_in(numeric))
    with Talk() as talk, read[0].named_in_errors(), as_command_error():
        found = compare(
            tables[0],
            tables[1],
            class_column=label,
            test=tables[2] if test else None,
            quasi_identifiers=names_in(quasi_identifiers) or None,
            clusters=clusters,
            unknown=unknown,
            seed=seed,
            progress=talk,
        )
    if page:
        page.write(_page(found, read[0], read[1], label))
    if as_json:
        typer.echo(json.dumps(document(found), indent=2))
    else:
        _show(found, _left_out(read[0], read[1]))


def _page(found: Comparison, original: Columns, released: Columns, label: str | None) -> Page:
    from mixbayes.report.measured import Release, measured_release  # slow to import

    shared = [name for name in original.names if name in released.names and name != label]
    notes = [*_notes(found), *filter(None, [_left_out(original, released)])]
    return measured_release(Release(found, (original.rows, released.rows), len(shared), notes))


def document(found: Comparison) -> dict[str, Any]:
    """The measures of the release, flat."""
    return {
        **{key: getattr(found, key) for key, _, _ in DISTORTION},
        **asdict(found.risk),
        "utility": None if found.utility is None else {name: asdict(each) for name, each in found.utility.items()},
        "clustering": None if found.clustering is None else asdict(found.clustering),
    }


def _show(found: Comparison, left_out: str) -> None:
    """The measures for people, on stdout."""
    console = Console(highlight=False)
    table = Shown("", "original", "released", "")
    for row in _rows(found):
        table.add_row(*map(Text, row))
    console.print(table)
    for note in filter(None, (*_notes(found), left_out)):
        console.print(Text(note), soft_wrap=True)


def _rows(found: Comparison) -> Iterator[tuple[str, str, str, str]]:
    """Name, of the original, of the release, and what it is or why it is not."""
    why = found.why_not
    for key, name, meaning in DISTORTION:
        yield name, "", figure(getattr(found, key)), why.get(key, meaning)
    for key, name, meaning in RISK:
        before, after = getattr(found.original_risk, key), getattr(found.risk, key)
        yield name, figure(before), figure(after), why.get(key, meaning)
    if not found.utility:
        yield "accuracy", "", figure(None), why["utility"]
    for classifier, accuracy in (found.utility or {}).items():
        yield classifier, figure(accuracy.original), figure(accuracy.released), "accuracy of what learned from it"
    if not found.clustering:
        yield "clusters", "", figure(None), why["clustering"]
        return
    moved, rand = found.clustering.misclassification_error, found.clustering.adjusted_rand
    yield "misclassification error", "", figure(moved), "differences of the sizes of matched clusters, per row"
    yield "adjusted Rand index", "", figure(rand), "1 for the same clusters, 0 for unrelated ones"


def _notes(found: Comparison) -> Iterator[str]:
    """What the figures are about."""
    match = "may hold what is asked for" if found.unknown is Unknown.WILDCARD else "matches no query"
    yield "Row i of the release is taken for row i of the original."
    yield f"Quasi-identifiers: {', '.join(found.quasi_identifiers)}."
    yield "k-anonymity: a missing cell equals a missing cell."
    if found.risk.k_anonymity == 1:
        yield "A k-anonymity of 1 is expected where rows are drawn anew, as by condensation: they are all different."
    yield f"S1 and S2: {found.queries} queries; a missing cell {match}."
    if found.clustering:
        yield f"Clusters: k-means with k = {found.clusters}."


def _left_out(original: Columns, released: Columns) -> str:
    """Which columns only one of the tables has."""
    gone = [name for name in original.names if name not in released.names]
    new = [name for name in released.names if name not in original.names]
    sentences = [
        *([f"Not in the release, and not measured: {', '.join(gone)}."] if gone else []),
        *([f"Not in the original, and not measured: {', '.join(new)}."] if new else []),
    ]
    return " ".join(sentences)


def figure(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
