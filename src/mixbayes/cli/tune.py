"""`mixbayes tune`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from mixbayes.cli.doubts import tell_doubts
from mixbayes.cli.options import names_in, settings_in
from mixbayes.cli.output import refuse_unwritable, write_whole
from mixbayes.cli.progress import Talk
from mixbayes.cli.reading import USUAL, read, reads_tables
from mixbayes.cli.report_file import Report, ReportFile
from mixbayes.cli.tune_parameter import Values
from mixbayes.cli.tune_pareto import METHOD, tune_pareto
from mixbayes.cli.tune_search import Asked, Classifier, Rules, drawn, show, written
from mixbayes.cli.tune_sizes import METHOD as TUNED
from mixbayes.cli.tune_sizes import PARAMETER, Sizes
from mixbayes.cli.workers import Jobs, Workers, spread
from mixbayes.extras import refuse_without
from mixbayes.local_methods.name_sets import NameSets, read_name_sets
from mixbayes.local_methods.tables import Nominal, Table
from mixbayes.protocol.errors import BadData, Unsupported
from mixbayes.tables.columns import Columns
from mixbayes.tables.method_table import as_command_error, as_table, class_column, numeric_names
from mixbayes.tables.sources.how import How

if TYPE_CHECKING:
    from mixbayes.local_methods.dmpd.tradeoff import AnonymityTradeoff

EXAMPLES = """Examples:

mixbayes tune patients.csv --method class-wise-condensation --search rule

mixbayes tune patients.csv --method class-wise-condensation --search exhaustive -t 30 --jobs 4 --plot sizes.png

mixbayes tune patients.csv --method microaggregation --parameter k --from 3 --to 100 --set confidential=income

mixbayes tune patients.csv --method sap --parameter p --classifier naive-bayes

mixbayes tune patients.csv --method dmpd --objective pareto --plot front.png

mixbayes tune patients.csv --method sap --parameter p --search exhaustive --workers tls://scheduler.example:8786
"""

VALUES = "any method with --parameter"
PARETO = f"--method {METHOD} without --parameter"
SIZES = f"--method {TUNED}"
OPTIONS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "search": ("--search", (SIZES, VALUES)),
    "threshold": ("--threshold", (SIZES,)),
    "gap": ("--gap", (SIZES, VALUES)),
    "most_sizes": ("--most-sizes", (SIZES, VALUES)),
    "low": ("--from", (VALUES,)),
    "high": ("--to", (VALUES,)),
    "settings": ("--set", (VALUES,)),
    "objective": ("--objective", (PARETO,)),
    "identifiers": ("--quasi-identifiers", (PARETO,)),
    "population": ("--population", (PARETO,)),
    "generations": ("--generations", (PARETO,)),
}
"""Options that not all kinds of tuning know: how each is written, and which kinds know it."""


class Search(StrEnum):
    RULE = "rule"
    EXHAUSTIVE = "exhaustive"


class Objective(StrEnum):
    PARETO = "pareto"


@reads_tables
def tune(
    context: typer.Context,
    source: Annotated[str, typer.Argument(metavar="IN", help="The table to be protected, in memory as a whole.")],
    method: Annotated[
        str, typer.Option(metavar="METHOD", help=f"What is tuned: {TUNED}, {METHOD}, or others with --parameter.")
    ],
    parameter: Annotated[
        str | None,
        typer.Option(metavar="P", help="What is looked for: k, leaf_size, min_group, p, rank or sparsity."),
    ] = None,
    search: Annotated[Search, typer.Option(help="A few values by rule, or many at equal distances.")] = Search.RULE,
    objective: Annotated[
        Objective | None, typer.Option(help="For dmpd: anonymity against accuracy, at all levels.")
    ] = None,
    threshold: Annotated[
        int, typer.Option("--threshold", "-t", metavar="N", help=f"For {TUNED}: the smallest group size.")
    ] = 20,
    low: Annotated[
        float | None, typer.Option("--from", metavar="X", help="With --parameter: its smallest value.")
    ] = None,
    high: Annotated[
        float | None, typer.Option("--to", metavar="X", help="With --parameter: its largest value.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="With --parameter: another of the method; repeatable."),
    ] = None,
    gap: Annotated[
        float,
        typer.Option(
            metavar="SHARE", min=0.0, max=1.0, help="The loss, in shares of the accuracy, that privacy is worth."
        ),
    ] = 0.05,
    most_sizes: Annotated[
        int, typer.Option(metavar="N", min=2, help="How many values an exhaustive search tries.")
    ] = 100,
    classifier: Annotated[
        Classifier | None,
        typer.Option(help="What is trained on the release. Default: nearest-neighbour; for dmpd naive-bayes."),
    ] = None,
    identifiers: Annotated[
        str,
        typer.Option(
            "--quasi-identifiers",
            metavar="A,B",
            help="For dmpd: what outsiders may know. Default: all. A slash divides what several outsiders know.",
        ),
    ] = "",
    population: Annotated[int, typer.Option(metavar="N", min=2, help="For dmpd: partitions in a generation.")] = 50,
    generations: Annotated[int, typer.Option(metavar="N", min=0, help="For dmpd: how many generations.")] = 100,
    repeats: Annotated[
        int, typer.Option(metavar="N", min=1, help="How often each value is tried, or the search is run.")
    ] = 3,
    jobs: Jobs = 1,
    workers: Workers = None,
    class_col: Annotated[
        str | None, typer.Option("--class-column", metavar="COLUMN", help="Default: `class`, if there is one.")
    ] = None,
    nominal: Annotated[
        str, typer.Option(metavar="A,B", help="Columns of numbers that are names, not measurements.")
    ] = "",
    numeric: Annotated[str, typer.Option(metavar="C,D", help="Columns that must be numbers.")] = "",
    plot: Annotated[Path | None, typer.Option(metavar="OUT.png", help="Draw accuracy and privacy.")] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="The same seed tries the same releases.")] = 0,
    report: Report = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    how: How = USUAL,
) -> None:
    """Look for the value of a parameter with the most privacy at nearly the best accuracy, by Kim's rules.

    For class-wise condensation that is the group size. For dmpd without --parameter it is what each level k costs.
    """
    kind = _kind(method, parameter)
    _refuse_options(context, kind)
    rules = Rules(search.value, gap, most_sizes, classifier, repeats, seed)
    others = settings_in(settings or [])
    if plot:
        _refuse_plot(plot)
    with as_command_error():
        sought = Values(method, str(parameter), others, low, high, rules) if kind == VALUES else Sizes(threshold, rules)
    page = ReportFile(report) if report else None
    with Talk() as talk:
        columns = read(source, how, talk)
    tell_doubts([columns], names_in(nominal), names_in(numeric))
    table, labels = _read(columns, class_col, names_in(nominal), names_in(numeric))
    if kind == PARETO:
        tradeoff = _tradeoff(classifier, read_name_sets(identifiers), population, generations, repeats, seed)
        with spread(jobs, workers), columns.named_in_errors():
            tune_pareto(tradeoff, table, labels, plot=plot, report=page, as_json=as_json)
        return
    begun = perf_counter()
    with spread(jobs, workers), Talk() as talk, columns.named_in_errors(), as_command_error():
        sought.fit(table, labels, progress=talk)
    seconds = perf_counter() - begun
    found = sought.found(Asked(source, table.rows, class_col, nominal, numeric))
    if plot:
        write_whole(plot, drawn(found))
    if page:
        page.write(written(found))
    if as_json:
        typer.echo(json.dumps({**sought.document(), "seconds": round(seconds, 3)}, indent=2))
    else:
        show(found)


def _kind(method: str, parameter: str | None) -> str:
    """Which of the three kinds of tuning is meant."""
    from mixbayes.local_methods.tuning.tunable import TUNABLE  # slow to import

    if method not in TUNABLE:
        raise Unsupported(f"There is nothing to tune of {method!r}. --method can be {', '.join(TUNABLE)}.")
    if method == TUNED and parameter in (None, PARAMETER):
        return SIZES
    if method == METHOD and parameter is None:
        return PARETO
    if parameter is None:
        raise Unsupported(f"Say what is to be looked for: --parameter {' or '.join(TUNABLE[method])}.")
    return VALUES


def _refuse_options(context: typer.Context, kind: str) -> None:
    """Refuse what this kind of tuning knows nothing of."""
    for owners in dict.fromkeys(owners for _, owners in OPTIONS.values()):
        given = [word for name, (word, own) in OPTIONS.items() if own == owners and _given(context, name)]
        if given and kind not in owners:
            raise Unsupported(f"{', '.join(given)}: only {' or '.join(owners)} has it. Leave it out.")


def _given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _tradeoff(
    classifier: Classifier | None,
    identifiers: NameSets,
    population: int,
    generations: int,
    repeats: int,
    seed: int,
) -> AnonymityTradeoff:
    from mixbayes.local_methods.dmpd.tradeoff import AnonymityTradeoff  # slow to import

    inducer = (classifier or Classifier.NAIVE_BAYES).value
    if inducer not in (Classifier.NAIVE_BAYES, Classifier.TREE):
        raise Unsupported(f"--classifier {inducer}: for {METHOD} it can be naive-bayes or tree.")
    return AnonymityTradeoff(
        runs=repeats,
        quasi_identifiers=identifiers or None,
        inducer=inducer,
        population=population,
        generations=generations,
        random_state=seed,
    )


def _refuse_plot(path: Path) -> None:
    if path.suffix.lower() != ".png":
        raise Unsupported(f"--plot {path}: the picture is a PNG; give it a name that ends so.")
    refuse_unwritable(path)
    refuse_without("matplotlib")


def _read(
    columns: Columns, class_col: str | None, nominal: list[str], numeric: list[str]
) -> tuple[Table, Nominal | None]:
    label = class_column(columns, class_col)
    if label is None:
        raise BadData(f"{columns.source} has no column `class`. Name it with --class-column.")
    table = as_table(columns, numeric_names([columns], {*nominal, label}, numeric))
    classes = table.column(label)
    attributes = table.select([at for at, name in enumerate(table.names) if name != label])
    return attributes, classes if isinstance(classes, Nominal) else None
