"""`mixbayes tune`."""

from __future__ import annotations

import io
import json
import shlex
from dataclasses import dataclass
from enum import StrEnum
from math import ceil, isnan
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as Shown
from rich.text import Text

from mixbayes.cli.doubts import tell_doubts
from mixbayes.cli.options import names_in
from mixbayes.cli.output import refuse_unwritable, write_whole
from mixbayes.cli.progress import Talk
from mixbayes.cli.report_file import Report, ReportFile
from mixbayes.cli.tune_pareto import METHOD, tune_pareto
from mixbayes.local_methods.name_sets import NameSets, read_name_sets
from mixbayes.local_methods.tables import Nominal, Table
from mixbayes.protocol.errors import BadData, Unsupported
from mixbayes.report.figures import many
from mixbayes.tables.columns import Columns
from mixbayes.tables.files import read_table
from mixbayes.tables.method_table import as_command_error, as_table, class_column, numeric_names

if TYPE_CHECKING:
    from mixbayes.local_methods.condensation.group_search import GroupSizeSearch, Tried
    from mixbayes.local_methods.dmpd.tradeoff import AnonymityTradeoff
    from mixbayes.report.page import Page

EXAMPLES = """Examples:

mixbayes tune patients.csv --method class-wise-condensation --search rule

mixbayes tune patients.csv --method class-wise-condensation --search exhaustive -t 30 --jobs 4 --plot sizes.png

mixbayes tune patients.csv --method dmpd --objective pareto --plot front.png
"""

TUNED = "class-wise-condensation"
ONLY = {
    TUNED: {"search": "--search", "threshold": "--threshold", "gap": "--gap", "most_sizes": "--most-sizes"},
    METHOD: {
        "objective": "--objective",
        "identifiers": "--quasi-identifiers",
        "population": "--population",
        "generations": "--generations",
    },
}
"""The options that the other method knows nothing of."""


class Search(StrEnum):
    RULE = "rule"
    EXHAUSTIVE = "exhaustive"


class Objective(StrEnum):
    PARETO = "pareto"


class Classifier(StrEnum):
    NEAREST_NEIGHBOUR = "nearest-neighbour"
    NAIVE_BAYES = "naive-bayes"
    TREE = "tree"
    SVM = "svm"


def tune(
    context: typer.Context,
    source: Annotated[Path, typer.Argument(metavar="IN", help="The table to be protected.")],
    method: Annotated[str, typer.Option(metavar="METHOD", help=f"What is tuned: {TUNED} or {METHOD}.")],
    search: Annotated[Search, typer.Option(help="A few sizes by rule, or many at equal distances.")] = Search.RULE,
    objective: Annotated[
        Objective | None, typer.Option(help="For dmpd: anonymity against accuracy, at all levels.")
    ] = None,
    threshold: Annotated[int, typer.Option("--threshold", "-t", metavar="N", help="The smallest group size.")] = 20,
    gap: Annotated[
        float,
        typer.Option(
            metavar="SHARE", min=0.0, max=1.0, help="The loss, in shares of the accuracy, that privacy is worth."
        ),
    ] = 0.05,
    most_sizes: Annotated[
        int, typer.Option(metavar="N", min=2, help="How many sizes an exhaustive search tries.")
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
        int, typer.Option(metavar="N", min=1, help="How often each size is tried, or the search is run.")
    ] = 3,
    jobs: Annotated[
        int, typer.Option(metavar="N", help="Processes that try sizes at the same time; -1 for all cores.")
    ] = 1,
    class_col: Annotated[
        str | None, typer.Option("--class-column", metavar="COLUMN", help="Default: `class`, if there is one.")
    ] = None,
    nominal: Annotated[str, typer.Option(metavar="A,B", help="Columns of numbers that are names.")] = "",
    numeric: Annotated[str, typer.Option(metavar="C,D", help="Columns that must be numbers.")] = "",
    plot: Annotated[Path | None, typer.Option(metavar="OUT.png", help="Draw accuracy and privacy.")] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="The same seed tries the same releases.")] = 0,
    report: Report = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Look for the group size with the most privacy at nearly the best accuracy, or for what each level k costs."""
    from mixbayes.local_methods.condensation.group_search import GroupSizeSearch  # slow to import

    _refuse_options(context, method, jobs)
    if plot:
        _refuse_plot(plot)
    page = ReportFile(report) if report else None
    columns = read_table(source)
    tell_doubts([columns], names_in(nominal), names_in(numeric))
    table, labels = _read(columns, class_col, names_in(nominal), names_in(numeric))
    if method == METHOD:
        tradeoff = _tradeoff(classifier, read_name_sets(identifiers), population, generations, repeats, jobs, seed)
        with columns.named_in_errors():
            tune_pareto(tradeoff, table, labels, plot=plot, report=page, as_json=as_json)
        return
    looked = GroupSizeSearch(
        t=threshold,
        search=search.value,
        accuracy_gap=gap,
        most_sizes=most_sizes,
        classifier=None if classifier in (None, Classifier.NEAREST_NEIGHBOUR) else classifier.value,
        repeats=repeats,
        n_jobs=jobs,
        random_state=seed,
    )
    begun = perf_counter()
    with Talk() as talk, columns.named_in_errors(), as_command_error():
        looked.fit(table, labels, progress=talk)
    seconds = perf_counter() - begun
    _tell(looked, seconds, plot, page, as_json, _Next(source, table.rows, class_col, nominal, numeric))


@dataclass(frozen=True)
class _Next:
    """What the command was about, for the one that releases the table."""

    source: Path
    rows: int
    class_col: str | None
    nominal: str
    numeric: str

    def judged(self, looked: GroupSizeSearch) -> str:
        """What an accuracy is a mean of, so that chance is not taken for a gain."""
        asked = ceil(looked.test_share * self.rows)  # as scikit-learn rounds it
        points = 100 / (asked * looked.repeats)
        times = f", {looked.repeats} times" if looked.repeats > 1 else ""
        return f"Judged on {many(asked, 'row')}{times}: one answer is {points:.2g} points of accuracy."

    def line(self, looked: GroupSizeSearch) -> str:
        """What is typed to release the table with the size that was found."""
        given = (("--class-column", self.class_col), ("--nominal", self.nominal), ("--numeric", self.numeric))
        named = [word for option, value in given if value for word in (option, value)]
        setting = f"k={looked.best_.group_size}"
        words = [str(self.source), "OUT", "--method", TUNED, "--set", setting, *named]
        return shlex.join(["mixbayes", "protect", *words])


def _refuse_options(context: typer.Context, method: str, jobs: int) -> None:
    if method not in ONLY:
        raise Unsupported(f"There is nothing to tune of {method!r}. --method can be {TUNED} or {METHOD}.")
    for owner, options in ONLY.items():
        given = [option for name, option in options.items() if _given(context, name)]
        if given and owner != method:
            raise Unsupported(f"{', '.join(given)}: only --method {owner} has it. Leave it out.")
    if jobs == 0:
        raise Unsupported("--jobs 0: there is nobody to do it. Say how many processes, or -1 for all cores.")


def _given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _tell(
    looked: GroupSizeSearch, seconds: float, plot: Path | None, page: ReportFile | None, as_json: bool, then: _Next
) -> None:
    """What was found, in every way that was asked for."""
    if plot:
        write_whole(plot, _drawn(looked))
    if page:
        page.write(_page(looked, then))
    if as_json:
        typer.echo(json.dumps(_document(looked, seconds), indent=2))
    else:
        _show(looked, then)


def _tradeoff(
    classifier: Classifier | None,
    identifiers: NameSets,
    population: int,
    generations: int,
    repeats: int,
    jobs: int,
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
        n_jobs=jobs,
        random_state=seed,
    )


def _refuse_plot(path: Path) -> None:
    if path.suffix.lower() != ".png":
        raise Unsupported(f"--plot {path}: the picture is a PNG; give it a name that ends so.")
    refuse_unwritable(path)


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


def _document(looked: GroupSizeSearch, seconds: float) -> dict[str, Any]:
    return {
        "method": TUNED,
        "search": looked.search,
        "threshold": looked.t,
        "approximate_gcd": looked.approximate_gcd_,
        "best": _plain(looked.best_),
        "tried": [_plain(tried) for tried in looked.tried_],
        "seconds": round(seconds, 3),
    }


def _plain(tried: Tried) -> dict[str, Any]:
    privacy = None if isnan(tried.privacy) else tried.privacy
    return {"group_size": tried.group_size, "accuracy": tried.accuracy, "privacy": privacy}


def _show(looked: GroupSizeSearch, then: _Next) -> None:
    """The sizes for people, on stdout."""
    console = Console(highlight=False)
    table = Shown("group size", "accuracy", "privacy", "", title=f"{len(looked.tried_)} sizes tried")
    for tried in looked.tried_:
        privacy = "none" if isnan(tried.privacy) else f"{tried.privacy:.4f}"
        mark = "chosen" if tried is looked.best_ else ""
        table.add_row(str(tried.group_size), f"{tried.accuracy:.2%}", privacy, mark)
    console.print(table)
    most = "most privacy" if not isnan(looked.best_.privacy) else "largest"
    for told in (
        f"Group size {looked.best_.group_size}: the {most} among sizes within {looked.accuracy_gap:.0%} of the best "
        f"accuracy; without a search it would be {looked.approximate_gcd_}.",
        then.judged(looked),
        f"Next: {then.line(looked)}",
    ):
        console.print(Text(told), soft_wrap=True)


def _page(looked: GroupSizeSearch, then: _Next) -> Page:
    from mixbayes.report.tuned import Point, Tuning, tuned  # slow to import

    return tuned(
        Tuning(
            method=TUNED,
            found=f"Groups of {looked.best_.group_size} give the most privacy among the sizes that lose at most "
            f"{looked.accuracy_gap:.0%} of the best accuracy; without a search the size would be "
            f"{looked.approximate_gcd_}.",
            how=f"{len(looked.tried_)} sizes were tried ({looked.search} search), and judged on "
            f"{looked.test_share:.0%} of the rows, which are never condensed. {then.judged(looked)}",
            privacy="width of the 95% interval, in ranges",
            points=[
                Point(
                    f"{one.group_size}",
                    one.accuracy,
                    None if isnan(one.privacy) else one.privacy,
                    one.group_size,
                    one is looked.best_,
                )
                for one in looked.tried_
            ],
            setting="group size",
        )
    )


def _drawn(looked: GroupSizeSearch) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # slow to import, and needs no display
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    canvas = FigureCanvasAgg(figure)
    sizes = [tried.group_size for tried in looked.tried_]
    left = figure.add_subplot()
    right = left.twinx()
    left.plot(sizes, [tried.accuracy for tried in looked.tried_], "o-", color="tab:blue")
    right.plot(sizes, [tried.privacy for tried in looked.tried_], "s--", color="tab:orange")
    left.axvline(looked.best_.group_size, color="gray", linestyle=":")
    left.set_xlabel(f"group size (found: {looked.best_.group_size})")
    left.set_ylabel("accuracy", color="tab:blue")
    right.set_ylabel("privacy: 95 % interval in ranges", color="tab:orange")
    file = io.BytesIO()
    canvas.print_figure(file, format="png")
    return file.getvalue()
