"""`mixbayes classify`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from mixbayes.agreement.agreement import Federation
from mixbayes.agreement.files import read_federation
from mixbayes.cli.desks import desk, own_desk
from mixbayes.cli.doubts import tell_unknown
from mixbayes.cli.node_options import Agreed, Keys, Name, Node
from mixbayes.cli.output import is_unfinished, labels_text, refuse_unwritable_labels, unfinished, write_private
from mixbayes.cli.progress import Talk
from mixbayes.cli.reading import USUAL, is_file, read, reads_tables
from mixbayes.node.questions import batches
from mixbayes.parties.applications import BEST, NO_BEST, refuse_not_agreed
from mixbayes.protocol.bayes.question import Form
from mixbayes.protocol.bayes.recipe import JOINT, UNSURE, Recipe, read_recipe
from mixbayes.protocol.errors import BadData, MixbayesError, Unsupported
from mixbayes.report.figures import size
from mixbayes.tables.columns import Columns
from mixbayes.tables.doubts import refuse_unknown_columns
from mixbayes.tables.encoding import encode_query
from mixbayes.tables.sources.how import How
from mixbayes.transport.errors import TooEarly

CLASSIFY_EXAMPLES = """Examples:

mixbayes classify --federation federation.toml --name north --keys keys new.csv -o labels.csv

mixbayes classify --federation federation.toml --name north --keys keys new.xlsx --id patient -o labels.csv
"""
MOST_REPEATS = 1000
WORTH_A_WORD = 10_000_000
"""Bytes."""


@reads_tables
def classify(
    federation: Agreed,
    name: Name,
    keys: Keys,
    table: Annotated[str, typer.Argument(metavar="NEW", help="The rows; a class column is ignored.")],
    out: Annotated[
        Path, typer.Option("-o", "--output", metavar="OUT.csv", help="The labels, in the order of the rows.")
    ],
    id_column: Annotated[
        str | None,
        typer.Option("--id", metavar="COLUMN", help="Write this column beside the labels; it stays on this machine."),
    ] = None,
    public: Annotated[
        bool,
        typer.Option(
            "--public-instances/--private-instances", help="Whether the mixers, or the other hospital, see the rows."
        ),
    ] = False,
    recipe: Annotated[
        str,
        typer.Option(
            metavar="RECIPE",
            help="Whose classifier answers: joint, own, personal:weight=10:prior=own, or best, which the own node "
            "remembers.",
        ),
    ] = str(JOINT),
    repeats: Annotated[
        int,
        typer.Option(
            min=0,
            max=MOST_REPEATS,
            metavar="N",
            help="Ask about N rows of every question twice, and refuse all labels if a row and its copy get different "
            "ones. The copies are charged too.",
        ),
    ] = 0,
    force: Annotated[
        bool, typer.Option("--force", help="Ask also where a column has no value that the classifier knows.")
    ] = False,
    node: Node = "",
    how: How = USUAL,
) -> None:
    """Classify new patients jointly.

    Stopped half-way, the same command goes on: what was answered is not charged again.
    A finished command that is repeated is charged again, and writes the output anew.
    """
    refuse_unwritable_labels(out)
    if out.exists() and is_file(table) and out.samefile(table):
        raise Unsupported(f"-o {out} names the table itself. Give the labels another name.")
    agreed = read_federation(federation)
    chosen = _chosen(recipe, federation, name, keys, node)
    refuse_not_agreed(agreed, chosen)
    with Talk() as talk:
        rows = read(table, how, talk)
    with rows.named_in_errors():
        codes = encode_query(agreed.dictionary, rows).codes
        known_by = _identifiers(rows, id_column)
    tell_unknown(agreed.dictionary, rows, id_column)
    if not force:
        refuse_unknown_columns(agreed.dictionary, rows, codes)
    alone = chosen.base == "own"
    if repeats and (alone or agreed.two_party):
        raise Unsupported("--repeats is a check of mixers, and no mixers answer here. Leave it out.")
    charged = _charged(agreed, chosen, rows.rows, repeats)
    if not alone:
        _tell_volume(agreed, chosen, charged, private=not public)
    asked_at = own_desk(federation, name, keys, node) if alone else desk(federation, name, keys, node, repeats)
    with asked_at as (_, behind), Talk() as talk:
        before = None if alone or is_unfinished(out) else behind.refuse_over_budget(charged)
        with _resumable(out) as id:
            labels = behind.labels(
                codes,
                rows,
                private=not public,
                progress=lambda n: talk("rows classified", n, rows.rows),
                id=id,
                recipe=str(chosen),
            )
            answers = (*agreed.dictionary.classes, UNSURE)
            write_private(out, labels_text([answers[label] for label in labels], known_by))
    if before:
        left = before.budget_left - charged
        typer.echo(f"At most {left} of the {before.budget} rows of this round's budget are left.", err=True)


def _chosen(recipe: str, federation: Path, name: str, keys: Path, node: str) -> Recipe:
    """The recipe of this text; `best` stands for the one that the hospital's own node remembers."""
    if recipe != BEST:
        return read_recipe(recipe)
    with own_desk(federation, name, keys, node) as (_, behind):
        found = behind.best()
    if not found:
        raise TooEarly(NO_BEST)
    typer.echo(f"The best recipe that this node remembers: {found}", err=True)
    return read_recipe(found)


def _charged(agreed: Federation, recipe: Recipe, rows: int, repeats: int) -> int:
    """The rows that are charged, those among them that every question repeats."""
    form = Form.of_recipe(agreed.layout, recipe)
    return rows + repeats * sum(1 for _ in batches(form, rows, repeats))


def _tell_volume(agreed: Federation, recipe: Recipe, rows: int, *, private: bool) -> None:
    """How much will be exchanged, where that is worth a word. How long it takes is said once it goes on."""
    layout = agreed.layout
    computing = 1 if agreed.two_party else 2
    if agreed.protocol == "shares" and private:
        volume = computing * Form.of_recipe(layout, recipe).volume(rows)
        if volume > WORTH_A_WORD:
            whom = "the other hospital" if agreed.two_party else "the mixers"
            typer.echo(f"{rows:,} rows to classify: about {size(volume)} to and from {whom}.", err=True)


def _identifiers(rows: Columns, column: str | None) -> tuple[str, Sequence[str]] | None:
    """The column that tells the rows apart, and its cells."""
    if column is None:
        return None
    if column not in rows.names:
        raise BadData(f"there is no column {column!r} for --id. The columns are {', '.join(map(repr, rows.names))}.")
    return column, rows.texts(column).tolist()


@contextmanager
def _resumable(out: Path) -> Iterator[bytes]:
    """An id for the labels that are to be written there."""
    with unfinished(out) as id:
        try:
            yield id
        except (MixbayesError, KeyboardInterrupt):
            typer.echo("The same command goes on from here: what was answered is not charged again.", err=True)
            raise
