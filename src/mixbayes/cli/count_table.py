"""`mixbayes count`: the counts that a table would contribute, on this machine."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from mixbayes.agreement.agreement import Federation
from mixbayes.agreement.files import read_federation
from mixbayes.cli.node_options import Agreed
from mixbayes.cli.output import refuse_unwritable, write_private
from mixbayes.cli.progress import Talk
from mixbayes.cli.reading import TABLE, USUAL, opened, reads_tables, tell_unmet
from mixbayes.node.log import printable
from mixbayes.tables.counting import counted
from mixbayes.tables.sources.how import How
from mixbayes.tables.sources.source import Source
from mixbayes.tables.tallying import Counted

EXAMPLES = """Examples:

mixbayes count patients.parquet --federation federation.toml -o counts.json

mixbayes count postgres://db.example.org/clinic --table patients --federation federation.toml
"""


@reads_tables
def count(
    table: Annotated[str, typer.Argument(metavar="TABLE", help=TABLE)],
    federation: Agreed,
    out: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="OUT.json", help="Write the counts there.")
    ] = None,
    how: How = USUAL,
) -> None:
    """Count a table as a hospital's node would, and show the counts to whoever may see them.

    They are what the protocol hides from everybody else: the same table in two places has the same digest, which is
    enough to compare. Nothing is sent.
    """
    if out:
        refuse_unwritable(out)
    agreed = read_federation(federation)
    with Talk() as talk:
        source = opened(table, how)
        found = counted(agreed.layout, source, talk)
        with source.named_in_errors():
            beyond = _mostly_beyond(agreed, found, source)
    tell_unmet(source)
    for name in beyond:
        typer.echo(
            f"mixbayes: {printable(source.title)}: more than half of the values of column {printable(name)!r} lie "
            "beyond the agreed bounds, and count as the bound. Is it in another unit?",
            err=True,
        )
    text = json.dumps(document(agreed, found))
    if out is None:
        typer.echo(text)
        return
    write_private(out, text + "\n")
    typer.echo(f"{found.rows} rows, {found.vector.size} counts in {out}. Keep it on this machine.", err=True)


def _mostly_beyond(agreed: Federation, found: Counted, source: Source) -> list[str]:
    """The columns of numbers of which most lie beyond the bounds."""
    clipped = [one.name for one in agreed.dictionary.attributes if one.numeric and one.name in found.clipped]
    columns = source.profile(clipped).columns if clipped else {}
    return [name for name, column in columns.items() if 2 * found.clipped[name] > column.present]


def document(agreed: Federation, found: Counted) -> dict[str, Any]:
    """The counts in the layout's order, and a digest of them."""
    return {
        "federation": agreed.digest(),
        "rows": found.rows,
        "clipped": found.clipped,
        "digest": hashlib.sha256(found.vector.astype("<u8").tobytes()).hexdigest(),
        "counts": found.vector.tolist(),
    }
