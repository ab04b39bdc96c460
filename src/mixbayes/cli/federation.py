"""`mixbayes federation`: write an agreement, and show one with its digest."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated

import typer

from mixbayes.agreement.agreement import (
    LONGEST_COLLECTION,
    LONGEST_WAIT,
    MOST_ROUNDS,
    BadFederation,
    Federation,
    Policy,
    federation_from,
)
from mixbayes.agreement.files import read_federation, written
from mixbayes.agreement.noise import (
    USUAL_DELTA,
    promised,
)
from mixbayes.agreement.preliminary import coarsest
from mixbayes.cli.agreement_summary import present_keys, promise, summary
from mixbayes.cli.doubts import tell_doubts, tell_predicted
from mixbayes.cli.next_steps import next_steps
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
from mixbayes.cli.options import MostValues, Protocol, Several, Transfers, names_in, separators_in, smoothing_text
from mixbayes.cli.output import write_whole
from mixbayes.cli.pinning import MemberKeys, keys_in
from mixbayes.cli.progress import Talk
from mixbayes.cli.reading import USUAL as USUALLY
from mixbayes.cli.reading import opened, reads_tables, tell_unmet
from mixbayes.cli.recipes import Folds, Recipes, TestEpsilon, TestShare, agreed_test, usual_folds
from mixbayes.cli.slow_link import Delay, Rate, slow_link
from mixbayes.node.log import printable
from mixbayes.protocol.attributes.dictionary import MOST_ROWS, Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.several import USUAL_MOST
from mixbayes.protocol.bayes.cut_widths import MOST_BINS as MOST_CUT
from mixbayes.protocol.bayes.evaluation import Sheet
from mixbayes.protocol.bayes.precision import precision_for
from mixbayes.protocol.bayes.recipe import Recipe, read_recipe
from mixbayes.protocol.errors import BadData, Unsupported
from mixbayes.protocol.paillier.exact import USUAL_BITS, fitting_bits
from mixbayes.simulation.cost import in_words, predicted, refuse_without_mixers
from mixbayes.tables.doubts import all_dates, mostly_once, one_of_a_kind
from mixbayes.tables.inference import class_of, infer, looks_numeric
from mixbayes.tables.profile import ColumnProfile, Profile
from mixbayes.tables.quantiles import with_grids
from mixbayes.tables.sources.how import How

NEW_EXAMPLES = """Examples:

mixbayes federation new heart --name heart --party north --party south --party west
  --mixer a=mixer-a.example.org:8443 --mixer b=mixer-b.example.org:8443 --like example.csv --epsilon 2

mixbayes federation new pair --name pair --party north=north.example.org:8443 --party south --like example.csv
  --epsilon 1 --total-epsilon 4

mixbayes federation new exact --name exact --party north=north.example.org:8443 --party south --like example.csv
  --without-noise
"""
SHOW_EXAMPLES = """Examples:

mixbayes federation show heart/federation.toml

mixbayes federation show heart/federation.toml --json
"""
USUAL = Policy(minimum=2)
USUAL_MIN_ROWS = 10
MOST_CELLS = 1000
"""Of a grid."""


@reads_tables
def new(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="federation.toml is written there.")],
    name: Annotated[str, typer.Option(metavar="NAME", help="What the federation is called.")],
    party: Annotated[
        list[str],
        typer.Option(
            metavar="NAME[=HOST:PORT]", help="A hospital; without mixers one of the two has an address. Repeat it."
        ),
    ],
    like: Annotated[str, typer.Option(metavar="TABLE", help="Columns, values and bounds are taken from it.")],
    mixer: Annotated[
        list[str] | None, typer.Option(metavar="a=HOST:PORT", help="Where all nodes reach mixer a, and mixer b.")
    ] = None,
    key: MemberKeys = None,
    class_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Default: `class`, else the last column.")
    ] = None,
    protocol: Annotated[Protocol, typer.Option(help="How the two computing parties work.")] = Protocol.SHARES,
    bins: Annotated[int | None, typer.Option(metavar="N", min=1, help="Cut numeric attributes into N bins.")] = None,
    grid: Annotated[
        int | None,
        typer.Option(
            metavar="CELLS",
            min=2,
            max=MOST_CELLS,
            help="Make a preliminary agreement: its round finds cut points for --bins on all patients, on a grid.",
        ),
    ] = None,
    smoothing: Annotated[
        str, typer.Option(metavar="NUMBER", callback=smoothing_text, help="Added to every count: 1, 0.5, 1/3.")
    ] = "1",
    nominal: Annotated[
        str, typer.Option(metavar="A,B", help="Columns of numbers that are names, not measurements.")
    ] = "",
    numeric: Annotated[
        str, typer.Option(metavar="C,D", help="Columns of measurements that have few different numbers.")
    ] = "",
    several: Several = None,
    most_values: MostValues = USUAL_MOST,
    keep: Annotated[
        str,
        typer.Option(metavar="A,B", help="Columns to agree on even if most of their values belong to single patients."),
    ] = "",
    minimum: Annotated[
        int | None, typer.Option(metavar="N", min=2, help="Hospitals that a round needs.", show_default="all of them")
    ] = None,
    epsilon: Epsilon = None,
    delta: Delta = USUAL_DELTA,
    total_epsilon: TotalEpsilon = None,
    total_delta: TotalDelta = None,
    release: ReleaseOption = Releases.LABELS,
    no_noise: Annotated[
        bool, typer.Option("--without-noise", help="Exact labels, which give away more of the patients.")
    ] = False,
    budget: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_ROWS,
            metavar="ROWS",
            help="Rows a hospital may ask about in one round.",
            show_default=f"{USUAL.budget}; without noise the number of cells, and what evaluating listed recipes takes",
        ),
    ] = None,
    min_rows: MinRows = USUAL_MIN_ROWS,
    max_rows_each: MaxRowsEach = None,
    folds: Folds = None,
    test_share: TestShare = 0.0,
    test_epsilon: TestEpsilon = None,
    recipe: Recipes = None,
    max_rows: Annotated[
        int | None,
        typer.Option(
            metavar="ROWS",
            min=1,
            max=MOST_ROWS,
            help="Rows that every hospital may have, and the table.",
            show_default="1048576",
        ),
    ] = None,
    collect_hours: Annotated[
        float,
        typer.Option(
            metavar="HOURS", max=LONGEST_COLLECTION, help="After this time a round starts without missing hospitals."
        ),
    ] = USUAL.collect_hours,
    timeout: Annotated[
        float, typer.Option(max=LONGEST_WAIT, metavar="SECONDS", help="Seconds within which every wait ends.")
    ] = USUAL.timeout,
    rounds: Annotated[
        int, typer.Option(metavar="N", min=1, max=MOST_ROUNDS, help="Rounds that the agreement allows.")
    ] = USUAL.rounds,
    transfers: Annotated[
        Transfers,
        typer.Option(
            help="How oblivious transfers are made: `silent` sends fewer bytes, `extended` keeps less in memory."
        ),
    ] = Transfers.SILENT,
    delay: Delay = None,
    rate: Rate = None,
    how: How = USUALLY,
) -> None:
    """Write an agreement: DIR/federation.toml.

    It says who takes part, by which rules, counting what. Read it, edit it, and have everybody sign it off.
    """
    _refuse_no_decision(epsilon, no_noise, protocol)
    refuse_noise_for_nothing(epsilon, total_epsilon, total_delta, release)
    _refuse_grid_without_bins(grid, bins)
    link = slow_link(delay, rate)
    target = folder / "federation.toml"
    _refuse_to_overwrite(target)
    keys = keys_in(key or [])
    table = _profile(like, how, None if grid else bins)
    lists = separators_in(several or [])
    tell_doubts([table], names_in(nominal), names_in(numeric), lists)
    tell_predicted(table, class_column)
    _refuse_names_of_patients(table, class_of(table.names, class_column), [*names_in(keep), *lists], names_in(numeric))
    dictionary = infer(
        [table],
        class_column,
        names_in(nominal),
        names_in(numeric),
        None if grid else bins,
        smoothing,
        max_rows,
        several=lists,
        most_values=most_values,
        public=True,
        grid=grid,
    )
    privacy = None
    if epsilon is not None:
        privacy = promised(
            dictionary,
            epsilon,
            delta,
            rounds=rounds,
            total_epsilon=total_epsilon,
            total_delta=total_delta,
            release=release.value,
            test=agreed_test(epsilon, test_epsilon, test_share if mixer else 0.0, max_rows_each or dictionary.max_rows),
        )
    elif test_epsilon is not None:
        raise Unsupported("--test-epsilon is about noise, and there is none. Add --epsilon E, or leave it out.")
    recipes = [read_recipe(text) for text in recipe or []]
    # A preliminary agreement has the budget of the one that is to follow, whose cells are fewer.
    counted = coarsest(dictionary, bins) if grid and bins else dictionary
    federation = _agreed(
        {
            "name": name,
            "protocol": protocol.value,
            "parties": [_member(given, keys) for given in party],
            "mixers": [_member(given, keys) for given in mixer or []],
            "policy": {
                "minimum": minimum or len(party),
                "budget": budget or _usual_budget(counted, epsilon, recipes),
                "collect_hours": collect_hours,
                "timeout": timeout,
                "rounds": rounds,
                "min_rows": min_rows,
                "max_rows_each": max_rows_each,
                "folds": folds or (1 if grid else usual_folds(protocol)),
                "test_share": test_share,
                "transfers": transfers.value,
            },
            "recipes": list(map(str, recipes)),
            "privacy": privacy.model_dump() if privacy else None,
            "cuts": {"bins": bins} if grid else None,
            "dictionary": dictionary,
        }
    )
    _refuse_keys_of_strangers(keys)
    refuse_what_cannot_run(federation)
    if link:
        refuse_without_mixers(federation)
    _make(folder)
    write_whole(target, written(federation))
    if federation.privacy:
        tell_not_covered(dictionary, table.source)
    for line in next_steps(federation, target):
        typer.echo(line, err=True)
    if link:
        typer.echo(in_words(link, predicted(federation, link), private=True), err=True)


def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A federation.toml.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Check an agreement and print it with its digest.

    The digest is the same wherever the agreement is the same.
    """
    federation = read_federation(file)
    refuse_what_cannot_run(federation)
    if as_json:
        marks = {"digest": federation.digest(), "sections": federation.sections(), "cells": federation.layout.size}
        marks |= {"promise": promise(federation), "keys": present_keys(federation)}
        typer.echo(json.dumps(marks | federation.model_dump(mode="json"), indent=2))
        return
    for line in summary(federation):
        typer.echo(printable(line))


def _refuse_no_decision(epsilon: float | None, no_noise: bool, protocol: Protocol) -> None:
    if (epsilon is None) != no_noise:
        raise Unsupported(
            "Say either --epsilon E, for noise that hides single patients (1 hides more, 4 less), or --without-noise."
        )


def _refuse_grid_without_bins(grid: int | None, bins: int | None) -> None:
    if grid and (bins is None or not MOST_CUT >= bins >= 2):
        raise Unsupported(f"--grid: say with --bins N, from 2 to {MOST_CUT}, into how many bins numbers are to be cut.")


def _usual_budget(dictionary: Dictionary, epsilon: float | None, recipes: Sequence[Recipe]) -> int:
    """Without noise the number of cells, and what it takes to evaluate each agreed recipe once."""
    if epsilon is not None:
        return USUAL.budget
    layout = Layout(dictionary)
    return layout.size + sum(Sheet(layout, one, 1).opened for one in recipes if one.base != "own")


def _refuse_to_overwrite(target: Path) -> None:
    if target.exists():
        raise BadData(
            f"{target} is there already and stays as it is. Edit it, name another folder, or move it away; nodes that "
            "work by it need the new one too."
        )


def refuse_what_cannot_run(federation: Federation) -> None:
    """Refuse an agreement whose numbers are too long for its protocol."""
    if federation.protocol == Protocol.PAILLIER.value:
        fitting_bits(federation.layout, USUAL_BITS)
    else:
        precision_for(federation.layout)


def _profile(like: str, how: How, bins: int | None) -> Profile:
    source = opened(like, how)
    with Talk() as talk:
        profile = source.profile(source.names, talk)
        found = with_grids(source, profile, source.names, talk) if bins else profile
    tell_unmet(source)
    return found


def _refuse_names_of_patients(table: Profile, label: str, kept: Collection[str], numeric: Collection[str]) -> None:
    """Refuse what everybody would get of single patients: names, free text, numbers of cases, days."""
    unknown = [name for name in kept if name not in table.names]
    if unknown:
        raise Unsupported(f"--keep {unknown[0]}: {table.source} has no such column.")
    reasons = {
        column.name: _why_not_public(column, column.name in numeric)
        for column in table.columns.values()
        if column.name != label and column.name not in kept
    }
    refused = [f"column {name!r} has {why}" for name, why in reasons.items() if why]
    if refused:
        lines = "".join(f"\n  {line}" for line in refused)
        raise BadData(
            f"{table.source}: everybody gets the agreement, and these columns tell of single patients:{lines}\n"
            "Remove them from the table, or name those in --keep that may be told."
        )


def _why_not_public(column: ColumnProfile, measured: bool) -> str:
    if all_dates(column):
        return "dates"
    if looks_numeric(column) or measured:
        return "another number in every row" if one_of_a_kind(column) and not measured else ""
    return "many values that only one row has" if mostly_once(column) or not column.complete else ""


def _member(given: str, keys: dict[str, str]) -> dict[str, str]:
    """One member, and its key, which is taken out of those that were given."""
    name, separator, address = given.partition("=")
    key = {"key": keys.pop(name)} if name in keys else {}
    return {"name": name} | ({"address": address} if separator else {}) | key


def _refuse_keys_of_strangers(keys: Collection[str]) -> None:
    if keys:
        raise Unsupported(f"--key {next(iter(keys))}=…: there is no member of that name among --party and --mixer.")


def _agreed(content: dict[str, object]) -> Federation:
    """The agreement that the options make; what is wrong with it is a matter of usage, no file being there yet."""
    try:
        return federation_from(content)
    except BadFederation as error:
        raise Unsupported(f"{error}\nCorrect the options; `mixbayes federation new -h` has examples.") from None


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadData(f"The folder {folder} cannot be made: {error.strerror}. Name another.") from None
