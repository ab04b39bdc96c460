"""`mixbayes measure`."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Annotated

import typer

from mixbayes.cli.doubts import tell_doubts
from mixbayes.cli.measure_document import document
from mixbayes.cli.measure_text import notes, show
from mixbayes.cli.options import names_in
from mixbayes.cli.progress import Talk
from mixbayes.cli.reading import USUAL, read, reads_tables
from mixbayes.cli.report_file import Report, ReportFile
from mixbayes.local_methods.measures.disclosure import Unknown
from mixbayes.protocol.errors import Unsupported
from mixbayes.tables.columns import Columns
from mixbayes.tables.method_table import as_command_error, as_table, class_column, numeric_names, sensitive_column
from mixbayes.tables.sources.how import How

if TYPE_CHECKING:
    from mixbayes.local_methods.measures.comparison import Comparison
    from mixbayes.report.page import Page

EXAMPLES = """Examples:

mixbayes measure patients.csv released.csv

mixbayes measure patients.csv released.csv --test later.csv --json

mixbayes measure patients.csv released.csv --holdout strangers.csv

mixbayes measure patients.csv released.csv --report report

mixbayes measure patients.csv released.csv --quasi-identifiers age,sex,zip --unknown no-match

mixbayes measure patients.csv released.csv --sensitive disease --quasi-identifiers age,sex,zip

mixbayes measure patients.csv released.csv --repeats 5 --clusters 2..6 --report report
"""

MOST_CLUSTERINGS = 20


@reads_tables
def measure(
    original: Annotated[str, typer.Argument(metavar="ORIGINAL", help="The table as it was.")],
    released: Annotated[str, typer.Argument(metavar="RELEASED", help="The table made from it.")],
    test: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="Judge classifiers on these rows. Default: cross-validation of ORIGINAL."),
    ] = None,
    holdout: Annotated[
        str | None,
        typer.Option(
            metavar="TABLE", help="People of the same kind who were not in ORIGINAL: for membership and inference."
        ),
    ] = None,
    class_col: Annotated[
        str | None, typer.Option("--class-column", metavar="COLUMN", help="Default: `class`, if there is one.")
    ] = None,
    nominal: Annotated[
        str, typer.Option(metavar="A,B", help="Columns of numbers that are names, not measurements.")
    ] = "",
    numeric: Annotated[str, typer.Option(metavar="C,D", help="Columns that must be numbers.")] = "",
    quasi_identifiers: Annotated[
        str, typer.Option(metavar="A,B", help="What an attacker may know. Default: everything but the class.")
    ] = "",
    sensitive: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="What is to be hidden (l-diversity, t-closeness). Default: the class."),
    ] = None,
    unknown: Annotated[
        Unknown, typer.Option(help="What a missing cell is to an attacker who asks about it.")
    ] = Unknown.WILDCARD,
    clusters: Annotated[
        str, typer.Option(metavar="N", help="How many: a number, 2..6 or 2,4,8. Default: as many as classes, else 4.")
    ] = "",
    repeats: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            help="How often the five folds are drawn: from 2 on quartiles and a test, in N times the time.",
        ),
    ] = 1,
    tolerance: Annotated[
        float,
        typer.Option(
            metavar="SHARE", min=0.0, max=1.0, help="The loss, in shares of the accuracy, with which utility is kept."
        ),
    ] = 0.02,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Of queries, folds and clusters.")] = 0,
    report: Report = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    how: How = USUAL,
) -> None:
    """Measure what a release gives away, and what it is still good for.

    Row i of RELEASED is taken for row i of ORIGINAL: what is compared row by row says little of a release whose rows
    were shuffled, such as that of condensation. A measure that the two tables do not have is null.
    """
    from mixbayes.local_methods.measures.comparison import compare  # slow to import

    sought = _numbers(clusters)
    page = ReportFile(report) if report else None
    with Talk() as talk:
        whole = [read(address, how, talk) for address in (original, released, *filter(None, (test, holdout)))]
    label = class_column(whole[0], class_col)
    hidden = sensitive_column(whole[0], sensitive, label)
    numbers = numeric_names(whole, {*names_in(nominal), *([label] if label else [])}, names_in(numeric))
    tables = [as_table(columns, numbers) for columns in whole]
    tell_doubts(whole, names_in(nominal), names_in(numeric))
    with Talk() as talk, whole[0].named_in_errors(), as_command_error():
        found = compare(
            tables[0],
            tables[1],
            class_column=label,
            sensitive=hidden,
            test=tables[2] if test else None,
            holdout=tables[-1] if holdout else None,
            quasi_identifiers=names_in(quasi_identifiers) or None,
            clusters=sought,
            unknown=unknown,
            repeats=repeats,
            tolerance=tolerance,
            seed=seed,
            progress=talk,
        )
    if page:
        page.write(_page(found, whole[0], whole[1], label))
    if as_json:
        typer.echo(json.dumps(document(found), indent=2))
    else:
        show(found, _left_out(whole[0], whole[1]))


def _numbers(listed: str) -> list[int]:
    """What `2..6` or `2,4,8` says; none, if nothing is said."""
    parts = names_in(listed)
    read = [re.fullmatch(r"(\d{1,6})(?:\.\.(\d{1,6}))?", part, re.ASCII) for part in parts]
    spans = [range(int(one[1]), int(one[2] or one[1]) + 1) for one in read if one]
    found = list(dict.fromkeys(number for span in spans for number in span[: MOST_CLUSTERINGS + 1]))
    if None in read or not all(spans) or 0 in found or len(found) > MOST_CLUSTERINGS:
        raise Unsupported(
            f"--clusters {listed}: say a number from 1 on, a range such as 2..6, or a list such as 2,4,8; at most "
            f"{MOST_CLUSTERINGS} numbers."
        )
    return found


def _page(found: Comparison, original: Columns, released: Columns, label: str | None) -> Page:
    from mixbayes.report.measured import measured_release  # slow to import
    from mixbayes.report.release import Release

    shared = [name for name in original.names if name in released.names and name != label]
    told = [*notes(found), *filter(None, [_left_out(original, released)])]
    return measured_release(Release(found, (original.rows, released.rows), len(shared), told))


def _left_out(original: Columns, released: Columns) -> str:
    """Which columns only one of the tables has."""
    gone = [name for name in original.names if name not in released.names]
    new = [name for name in released.names if name not in original.names]
    sentences = [
        *([f"Not in the release, and not measured: {', '.join(gone)}."] if gone else []),
        *([f"Not in the original, and not measured: {', '.join(new)}."] if new else []),
    ]
    return " ".join(sentences)
