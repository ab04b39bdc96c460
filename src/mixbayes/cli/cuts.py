"""`mixbayes federation cuts`: cut points and ranks from the round of a preliminary agreement."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mixbayes.agreement.agreement import Federation
from mixbayes.agreement.files import written
from mixbayes.agreement.preliminary import final, remarks
from mixbayes.cli.desks import desk
from mixbayes.cli.node_options import Agreed, Keys, Name, Node
from mixbayes.cli.output import write_whole
from mixbayes.cli.recipes import USUAL_FOLDS
from mixbayes.protocol.bayes.cuts import Cuts
from mixbayes.protocol.errors import Unsupported

EXAMPLES = """Examples:

mixbayes federation cuts --federation preliminary.toml --name north --keys keys

mixbayes federation cuts --federation preliminary.toml --name north --keys keys -o federation.toml
"""


def cuts(
    federation: Agreed,
    name: Name,
    keys: Keys,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="NEXT.toml", help="Where the agreement to be signed is written."),
    ] = None,
    node: Node = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Get cut points and ranks from a first round.

    They are found on the patients of all hospitals. The agreement must be a preliminary one, which `mixbayes
    federation new --grid` makes. Every hospital gets the same.
    """
    with desk(federation, name, keys, node) as (agreed, behind):
        if not agreed.cuts:
            raise Unsupported(
                f"The agreement {agreed.name!r} is not preliminary, and finds no cut points. `mixbayes federation new "
                "--grid CELLS --bins N` makes one that does."
            )
        number, found = behind.cuts()
    following = final(agreed, found, USUAL_FOLDS)
    if out:
        write_whole(out, written(following, remarks(agreed, found)))
        typer.echo(f"{out}: the agreement to be read, edited and signed off, with the cut points.", err=True)
    if as_json:
        typer.echo(json.dumps(_document(agreed, number, found, following), indent=2))
    else:
        Console(highlight=False, soft_wrap=True).print(_table(following, found))


def _document(agreed: Federation, number: int, found: Cuts, following: Federation) -> dict[str, Any]:
    return {
        "federation": agreed.digest(),
        "round": number,
        "bins": found.bins,
        "attributes": [
            {"name": name, "rank": rank, "cuts": cuts}
            for name, rank, cuts in zip(following.dictionary.names, found.ranks, _cuts(following, found), strict=True)
        ],
    }


def _cuts(following: Federation, found: Cuts) -> Iterator[list[float] | None]:
    """Of every attribute the cut points that were found."""
    for attribute, positions in zip(following.dictionary.attributes, found.positions, strict=True):
        yield None if positions is None else attribute.model_dump()["cuts"]


def _table(following: Federation, found: Cuts) -> Table:
    """From the attribute that tells most to those that are not ranked."""
    table = Table("rank", "attribute", "cut points", box=None)
    rows = zip(found.ranks, following.dictionary.names, _cuts(following, found), strict=True)
    for rank, name, cuts in sorted(rows, key=lambda row: (row[0] is None, row[0])):
        shown = "" if cuts is None else ", ".join(f"{cut:.12g}" for cut in cuts)
        table.add_row(str(rank or "-"), Text(name), shown)
    return table
