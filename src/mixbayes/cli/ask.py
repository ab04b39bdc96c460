"""What a hospital types while the nodes run: `mixbayes classify`, `status` and `round`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mixbayes.agreement.agreement import Federation
from mixbayes.agreement.files import read_federation
from mixbayes.agreement.noise import exactly
from mixbayes.cli.doubts import tell_unknown
from mixbayes.cli.help import Command
from mixbayes.cli.nodes import Agreed, Keys, Name
from mixbayes.cli.output import is_unfinished, labels_text, refuse_unwritable_labels, unfinished, write_private
from mixbayes.cli.progress import Talk
from mixbayes.cli.reading import USUAL, is_file, read, reads_tables
from mixbayes.node.identity import Identity
from mixbayes.node.log import logger
from mixbayes.node.questions import batches
from mixbayes.node.rounds.status import Status
from mixbayes.node.serving.greeting import SOFTWARE
from mixbayes.parties.applications import BEST, NO_BEST, refuse_not_agreed
from mixbayes.parties.desk import AtOwnNode, Desk, at_mixers, at_own_node
from mixbayes.protocol.bayes.precision import precision_for
from mixbayes.protocol.bayes.question import Form
from mixbayes.protocol.bayes.recipe import JOINT, UNSURE, Recipe, read_recipe
from mixbayes.protocol.errors import BadData, DifferentSets, MixbayesError, Unsupported
from mixbayes.report.figures import size
from mixbayes.tables.columns import Columns
from mixbayes.tables.doubts import refuse_unknown_columns
from mixbayes.tables.encoding import encode_query
from mixbayes.tables.sources.how import How
from mixbayes.transport.errors import RefusedByPolicy, TooEarly

CLASSIFY_EXAMPLES = """Examples:

mixbayes classify --federation federation.toml --name north --keys keys new.csv -o labels.csv

mixbayes classify --federation federation.toml --name north --keys keys new.xlsx --id patient -o labels.csv
"""
STATUS_EXAMPLES = """Examples:

mixbayes status --federation federation.toml --name north --keys keys --json
"""
NEW_EXAMPLES = """Examples:

mixbayes round new --federation federation.toml --name north --keys keys
"""
CLOSE_EXAMPLES = """Examples:

mixbayes round close --federation federation.toml --name north --keys keys
"""

Node = Annotated[
    str,
    typer.Option(
        "--node",
        metavar="HOST:PORT",
        envvar="MIXBAYES_NODE",
        help="Without mixers: where the hospital's own node listens, if its key folder cannot say.",
    ),
]

MOST_REPEATS = 1000
WORTH_A_WORD = 10_000_000
"""Bytes."""

rounds = typer.Typer(no_args_is_help=True, help="Begin and end rounds.")


@contextmanager
def desk(federation: Path, name: str, keys: Path, node: str, repeats: int = 0) -> Iterator[tuple[Federation, Desk]]:
    """Where this hospital asks: at both mixers, or, where there are none, at its own node."""
    agreed = read_federation(federation)
    agreed.party(name)
    identity = _identity(agreed, name, keys)
    if agreed.two_party:
        with at_own_node(agreed, identity, keys, node) as own:
            yield agreed, own
        return
    with at_mixers(agreed, identity, keys, node, repeats) as mixers:
        yield agreed, mixers


@contextmanager
def own_desk(federation: Path, name: str, keys: Path, node: str) -> Iterator[tuple[Federation, AtOwnNode]]:
    """At the hospital's own node, which has its counts and its patients."""
    agreed = read_federation(federation)
    agreed.party(name)
    with at_own_node(agreed, _identity(agreed, name, keys), keys, node) as found:
        yield agreed, found


def _identity(agreed: Federation, name: str, keys: Path) -> Identity:
    return Identity(keys, name, logger(agreed.title(name)), agreed.key_of(name))


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
    form = Form.of(agreed.layout, precision_for(agreed.layout, recipe).width)
    return rows + repeats * sum(1 for _ in batches(form, rows, repeats))


def _tell_volume(agreed: Federation, recipe: Recipe, rows: int, *, private: bool) -> None:
    """How much will be exchanged, where that is worth a word. How long it takes is said once it goes on."""
    layout = agreed.layout
    computing = 1 if agreed.two_party else 2
    if agreed.protocol == "shares" and private:
        volume = computing * Form.of(layout, precision_for(layout, recipe).width).volume(rows)
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


def status(
    federation: Agreed,
    name: Name,
    keys: Keys,
    node: Node = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Where the round stands, who is missing, and what may still be asked."""
    with desk(federation, name, keys, node) as (agreed, behind):
        found = behind.status()
    _tell(agreed, found, as_json)
    for error in found.unreachable.values():
        raise error


@rounds.command(cls=Command, name="new", epilog=NEW_EXAMPLES)
def new(federation: Agreed, name: Name, keys: Keys, node: Node = "") -> None:
    """Begin a new round of the same parties.

    The last one has to be closed or failed.
    """
    with desk(federation, name, keys, node) as (agreed, behind):
        behind.open_round(behind.next_round())
        _tell(agreed, behind.status(), as_json=False)


@rounds.command(cls=Command, name="close", epilog=CLOSE_EXAMPLES)
def close(federation: Agreed, name: Name, keys: Keys, node: Node = "") -> None:
    """End the current round for everybody.

    It answers no more questions.
    """
    with desk(federation, name, keys, node) as (agreed, behind):
        behind.close_round(behind.last_round())
        if left := behind.still_open():
            raise RefusedByPolicy(f"It is not closed everywhere: {'; '.join(left)}. Close it again.")
        with _said_only():
            _tell(agreed, behind.status(), as_json=False)


@contextmanager
def _said_only() -> Iterator[None]:
    """That the mixers are at different rounds is no failure where a new one follows."""
    try:
        yield
    except DifferentSets:
        said = "Closed at both mixers, which are at different rounds: `mixbayes round new` brings them together."
        typer.echo(said, err=True)


def _privacy(agreed: Federation, found: Status) -> dict[str, Any] | None:
    """What was agreed of noise, what is spent, and what is left; nothing without noise."""
    if not (privacy := agreed.privacy):
        return None
    left = max(0.0, privacy.total_epsilon - found.epsilon_spent)
    return privacy.model_dump(mode="json") | {"spent": found.epsilon_spent, "left": left}


def _promised(agreed: Federation, found: Status) -> str:
    if not (privacy := agreed.privacy):
        return exactly(agreed)
    return (
        f"epsilon {privacy.epsilon:g} a round, delta {privacy.delta:g}; of {privacy.total_epsilon:g} for all rounds "
        f"{found.epsilon_spent:.3g} are spent"
    )


def _other_versions(found: Status) -> str:
    """Who runs another version than this program; nothing if nobody does."""
    others = [f"{title} runs mixbayes {version}" for title, version in found.software.items() if version != SOFTWARE]
    return f"{', '.join(others)}; this is {SOFTWARE}, and they fit together" if others else ""


def _tell(agreed: Federation, found: Status, as_json: bool) -> None:
    document: dict[str, Any] = {
        "federation": agreed.digest(),
        "round": found.round,
        "state": found.state,
        "transfers": agreed.policy.transfers,
        "reason": found.reason,
        "contributed": found.contributed,
        "missing": found.missing,
        "refused": found.refused,
        "budget": found.budget_left,
        "privacy": _privacy(agreed, found),
        "protection": found.protection,
        "trails": found.trails,
        "versions": found.software,
        "unreachable": {title: str(error) for title, error in found.unreachable.items()},
    }
    if as_json:
        typer.echo(json.dumps(document, indent=2))
        return
    shown_otherwise = {
        "round": f"{found.round}; under this agreement {agreed.policy.rounds} may be trained",
        "budget": f"{found.budget_left} of {found.budget} rows left",
        "privacy": _promised(agreed, found),
        "trails": "; ".join(found.trails),
        "versions": _other_versions(found),
    }
    table = Table(show_header=False, box=None)
    for key, value in (document | shown_otherwise).items():
        shown = ", ".join(value) if isinstance(value, list | dict) else str(value)
        if shown:
            table.add_row(key, Text(shown))
    Console(highlight=False, soft_wrap=True).print(table)
