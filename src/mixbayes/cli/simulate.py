"""`mixbayes simulate`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain, count
from pathlib import Path
from typing import Annotated

import typer

from mixbayes.agreement.agreement import MOST_FOLDS, Federation
from mixbayes.agreement.noise import USUAL_DELTA
from mixbayes.cli.doubts import tell_doubts, tell_predicted, tell_unknown
from mixbayes.cli.noise import (
    Delta,
    Epsilon,
    MaxRowsEach,
    MinRows,
    ReleaseOption,
    Releases,
    TotalDelta,
    TotalEpsilon,
    refuse_noise_for_nothing,
    tell_not_covered,
)
from mixbayes.cli.options import MostValues, Protocol, Several, names_in, separators_in, smoothing_text
from mixbayes.cli.output import labels_text, refuse_unwritable_labels, write_private
from mixbayes.cli.progress import Talk
from mixbayes.cli.reading import USUAL, is_file, read, reads_tables
from mixbayes.cli.recipes import USUAL_FOLDS, TestShare
from mixbayes.cli.report_file import Report, ReportFile
from mixbayes.cli.simulate_text import show
from mixbayes.cli.slow_link import Delay, Rate, slow_link
from mixbayes.node.log import printable
from mixbayes.parties.applications import BEST
from mixbayes.parties.own_patients import MOST_PADDED
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.several import USUAL_MOST
from mixbayes.protocol.errors import Unsupported
from mixbayes.simulation.cost import in_words, predicted
from mixbayes.simulation.outcome import Outcome
from mixbayes.simulation.plan import USUAL_HOLDOUT, usual_share
from mixbayes.simulation.run import simulate as run_simulation
from mixbayes.simulation.wishes import wishes
from mixbayes.tables.breast_cancer import breast_cancer
from mixbayes.tables.columns import Columns
from mixbayes.tables.sources.how import How

EXAMPLES = """Examples:

mixbayes simulate

mixbayes simulate patients.csv --bins 6 --hospitals 5 --holdout 0.2

mixbayes simulate north.csv south.csv --classify new.csv --labels labels.csv

mixbayes simulate north.csv south.csv --two-party --json

mixbayes simulate patients.csv --hospitals 5 --report report

mixbayes simulate patients.csv --bins 5 --epsilon 2

mixbayes simulate patients.csv --bins 5 --delay 25 --rate 100

mixbayes simulate north.csv south.csv west.csv --bins 5 --evaluate --report report

mixbayes simulate north.csv south.csv west.csv --bins 5 --recipe best

mixbayes simulate patients.csv --protect class-wise-condensation:t=20 --protect hospital-1=microaggregation:k=5
"""

_MANY_ROWS = (
    f"With noise every hospital asks about {MOST_PADDED:,} rows, its own and padding, to judge a classifier: so nobody "
    "learns how many it has. That takes time; --max-rows-each N makes them fewer."
)


@reads_tables
def simulate(
    tables: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TABLE",
            help="None: an example table of scikit-learn. One: split at random. Several: one for each hospital.",
        ),
    ] = None,
    hospitals: Annotated[
        int | None, typer.Option(metavar="N", min=2, help="Over how many hospitals one table is split.")
    ] = None,
    two_party: Annotated[bool, typer.Option("--two-party", help="Two hospitals alone, without mixers.")] = False,
    protocol: Annotated[Protocol, typer.Option(help="How the two computing parties work.")] = Protocol.SHARES,
    bins: Annotated[int | None, typer.Option(metavar="N", min=1, help="Cut numeric attributes into N bins.")] = None,
    smoothing: Annotated[
        str, typer.Option(metavar="NUMBER", callback=smoothing_text, help="Added to every count: 1, 0.5, 1/3.")
    ] = "1",
    max_rows: Annotated[
        int | None,
        typer.Option(metavar="ROWS", min=1, help="Most rows of a hospital; this sets the width of numbers."),
    ] = None,
    private: Annotated[
        bool,
        typer.Option(
            "--private-instances/--public-instances",
            help="Whether the mixers, or the other hospital, see the rows asked about.",
        ),
    ] = True,
    classify: Annotated[str | None, typer.Option(metavar="TABLE", help="Classify these rows.")] = None,
    holdout: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            min=0.0,
            max=0.9,
            help="Without --classify: the share of rows kept back to be classified.",
            show_default="0.3, of large tables fewer rows",
        ),
    ] = None,
    labels: Annotated[Path | None, typer.Option(metavar="OUT.csv", help="Write the labels there.")] = None,
    class_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Default: `class`, else the last column.")
    ] = None,
    nominal: Annotated[
        str, typer.Option(metavar="A,B", help="Columns of numbers that are names, not measurements.")
    ] = "",
    numeric: Annotated[
        str, typer.Option(metavar="C,D", help="Columns of measurements that have few different numbers.")
    ] = "",
    several: Several = None,
    most_values: MostValues = USUAL_MOST,
    protect: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]METHOD[:KEY=VALUE]...",
            help="What hospitals, or one of them, do to their tables before they are counted; repeatable.",
        ),
    ] = None,
    epsilon: Epsilon = None,
    delta: Delta = USUAL_DELTA,
    total_epsilon: TotalEpsilon = None,
    total_delta: TotalDelta = None,
    release: ReleaseOption = Releases.LABELS,
    min_rows: MinRows = 1,
    max_rows_each: MaxRowsEach = None,
    evaluate: Annotated[
        bool, typer.Option("--evaluate", help="Every hospital judges classifiers by its own patients.")
    ] = False,
    folds: Annotated[
        int | None,
        typer.Option(
            metavar="K",
            min=1,
            max=MOST_FOLDS,
            help="With --evaluate: parts into which hospitals divide their patients.",
            show_default=str(USUAL_FOLDS),
        ),
    ] = None,
    test_share: TestShare = 0.0,
    compare: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RECIPE",
            help="With --evaluate: compare this one with the own classifier; repeatable.",
            show_default="joint, with the own prior, with ten times the own patients",
        ),
    ] = None,
    recipe: Annotated[
        str,
        typer.Option(
            metavar="RECIPE",
            help="Every hospital asks about its own rows by it: joint, own, personal:weight=10:prior=own, or best, "
            "which its evaluation finds.",
            show_default="the first hospital asks about all rows, by joint",
        ),
    ] = "",
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, help="Seed for splitting the table; the protocol never uses it.")
    ] = 0,
    delay: Delay = None,
    rate: Rate = None,
    report: Report = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    how: How = USUAL,
) -> None:
    """Train and classify on this machine, every node in a process of its own, and compare with pooling."""
    refuse_noise_for_nothing(epsilon, total_epsilon, total_delta, release)
    link = slow_link(delay, rate)
    if link and two_party:
        raise Unsupported("--delay says what a federation with mixers costs: leave it out, or --two-party.")
    protections = _protections(protect or [])
    wishes(
        evaluate=evaluate,
        folds=folds,
        test_share=test_share,
        recipe=recipe,
        compare=compare or [],
        protocol=protocol.value,
        noise=epsilon is not None,
    )  # what does not go together is refused before any table is read
    if labels:
        refuse_unwritable_labels(labels)
        _refuse_to_overwrite(labels, [*(tables or []), *([classify] if classify else [])])
    page = ReportFile(report) if report else None
    with Talk() as talk:
        given = _tables(tables or [], how, talk)
        asked = read(classify, how, talk) if classify else None
    tell_doubts(list(given.values()), names_in(nominal), names_in(numeric), separators_in(several or []))
    tell_predicted(next(iter(given.values())), class_column)

    def agreed(dictionary: Dictionary) -> None:
        if epsilon is not None:
            tell_not_covered(dictionary, "the tables")
            if (evaluate or recipe == BEST) and (max_rows_each or dictionary.max_rows) >= MOST_PADDED:
                typer.echo(_MANY_ROWS, err=True)
        if asked:
            tell_unknown(dictionary, asked)

    def staged(federation: Federation) -> None:
        if link:
            typer.echo(in_words(link, predicted(federation, link, private=private), private=private), err=True)

    with Talk() as talk:
        outcome = run_simulation(
            given,
            hospitals=hospitals,
            two_party=two_party,
            protocol=protocol.value,
            bins=bins,
            smoothing=smoothing,
            max_rows=max_rows,
            private=private,
            classify=asked,
            holdout=holdout,
            class_column=class_column,
            nominal=names_in(nominal),
            numeric=names_in(numeric),
            several=separators_in(several or []),
            most_values=most_values,
            protect=protections,
            epsilon=epsilon,
            delta=delta,
            total_epsilon=total_epsilon,
            total_delta=total_delta,
            release=release.value,
            min_rows=min_rows,
            max_rows_each=max_rows_each,
            evaluate=evaluate,
            folds=folds,
            test_share=test_share,
            recipe=recipe,
            compare=compare or [],
            seed=seed,
            agreed=agreed,
            staged=staged,
            progress=talk,
        )
    if labels:
        write_private(labels, labels_text(outcome.labels))
        typer.echo(f"The labels are in {labels}.", err=True)
    elif asked:
        typer.echo("The labels are not kept; --labels OUT.csv writes them.", err=True)
    if holdout is None and not asked and usual_share(given) < USUAL_HOLDOUT:
        said = f"Of this large table only {outcome.instances:,} rows were classified; --holdout says how many."
        typer.echo(said, err=True)
    _warn_of_unchanged(outcome)
    _hand_out(outcome, page, as_json=as_json)


def _warn_of_unchanged(outcome: Outcome) -> None:
    """A simulation goes on where a hospital's node would refuse."""
    for one in outcome.hospitals:
        if one.changed and one.changed.hardly:
            refused = "" if one.changed.differing else ". `mixbayes party` refuses that without --even-if-unchanged"
            typer.echo(f"mixbayes: {printable(one.name)}, {one.protect}: {one.changed}{refused}.", err=True)


def _hand_out(outcome: Outcome, page: ReportFile | None, *, as_json: bool) -> None:
    """The page last: whatever keeps it from being written, the results are told."""
    if as_json:
        typer.echo(json.dumps(outcome.document(), indent=2))
    else:
        show(outcome)
    if page:
        from mixbayes.report.simulated import simulated

        documents = list((outcome.evaluation or {}).values())
        columns = documents[0]["columns"] if documents else []
        page.write(simulated(outcome, columns=columns, evaluation=documents))


def _tables(addresses: list[str], how: How, talk: Talk) -> dict[str, Columns]:
    """The hospitals' tables, named after their files; a name that is taken gets a number."""
    if not addresses:
        return {"breast-cancer": breast_cancer()}
    tables: dict[str, Columns] = {}
    stems = [Path(address).stem.encode(errors="replace").decode() for address in addresses]
    for address, stem in zip(addresses, stems, strict=True):
        names = (f"{stem}-{i}" for i in count(1)) if stems.count(stem) > 1 else chain([stem], _numbered(stem))
        name = next(name for name in names if name not in tables and (name == stem or name not in stems))
        tables[name] = read(address, how, talk)
    return tables


def _numbered(stem: str) -> Iterator[str]:
    return (f"{stem}-{i}" for i in count(2))


def _protections(given: list[str]) -> dict[str, str]:
    """By hospital, or under no name for all of them. An `=` before the first colon parts name and method."""
    found: dict[str, str] = {}
    for text in given:
        method, colon, settings = text.partition(":")
        name, sign, of_one = method.rpartition("=")
        if name in found:
            raise Unsupported(f"--protect {text}: {name or 'every hospital'} has a method already. Say it once.")
        found[name] = (of_one if sign else method) + colon + settings
    return found


def _refuse_to_overwrite(out: Path, addresses: list[str]) -> None:
    if any(out.exists() and is_file(address) and out.samefile(address) for address in addresses):
        raise Unsupported(f"--labels {out} names a table that is read here. Give it another name.")
