"""`mixbayes count`: the counts that a table would contribute, on this machine."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from mixbayes.agreement.agreement import Federation
from mixbayes.agreement.files import read_federation
from mixbayes.cli.node_options import Agreed
from mixbayes.cli.output import refuse_unwritable, write_private
from mixbayes.cli.progress import Talk
from mixbayes.cli.reading import TABLE, USUAL, opened, read, reads_tables, tell_unmet
from mixbayes.cli.tenths import Tenths
from mixbayes.node.log import printable
from mixbayes.protocol.bayes.validity import joint
from mixbayes.tables.counting import counted
from mixbayes.tables.protected_folds import Secrets, protected_in_folds
from mixbayes.tables.protecting import Protection, read_protection
from mixbayes.tables.sources.how import How
from mixbayes.tables.sources.source import Source
from mixbayes.tables.tallying import Counted
from mixbayes.tables.with_noise import refuse_unfit_for_noise

EXAMPLES = """Examples:

mixbayes count patients.parquet --federation federation.toml -o counts.json

mixbayes count patients.parquet --federation federation.toml --protect condensation:k=20 -o counts.json

mixbayes count postgres://db.example.org/clinic --table patients --federation federation.toml
"""


@reads_tables
def count(
    table: Annotated[str, typer.Argument(metavar="TABLE", help=TABLE)],
    federation: Agreed,
    out: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="OUT.json", help="Write the counts there.")
    ] = None,
    protect: Annotated[
        str,
        typer.Option(
            metavar="METHOD[:KEY=VALUE]...",
            help="Count the table as this local method releases it, and say what that changes. The node draws another "
            "release of its own.",
        ),
    ] = "",
    how: How = USUAL,
) -> None:
    """Count a table as a hospital's node would, and show the counts to whoever may see them.

    They are what the protocol hides from everybody else: the same table in two places has the same digest, which is
    enough to compare. Nothing is sent.
    """
    if out:
        refuse_unwritable(out)
    agreed = read_federation(federation)
    found = _protected(agreed, table, how, read_protection(protect)) if protect else _as_it_is(agreed, table, how)
    text = json.dumps(document(agreed, found))
    if out is None:
        typer.echo(text)
        return
    write_private(out, text + "\n")
    typer.echo(f"{found.rows} rows, {found.vector.size} counts in {out}. Keep it on this machine.", err=True)


def _as_it_is(agreed: Federation, table: str, how: How) -> Counted:
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
    return found


def _protected(agreed: Federation, address: str, how: How, protection: Protection) -> Counted:
    """The counts of a release that is drawn here and forgotten: the secret of the node's is not at hand."""
    if agreed.privacy:
        refuse_unfit_for_noise(protection, agreed.privacy.epsilon, agreed.privacy.delta)
    hidden, layout = Secrets(secrets.token_bytes(), secrets.token_bytes()), agreed.layout
    with Talk() as talk:
        table, share = read(address, how, talk), agreed.policy.test_share
        counts = protected_in_folds(layout, table, protection, hidden, test_share=share, progress=Tenths(talk)).counted
    if counts.changed:
        kind = "Warning: " if counts.changed.hardly else ""
        typer.echo(f"mixbayes: {kind}{printable(table.source)}, {protection}: {counts.changed}.", err=True)
    return replace(counts, vector=joint(layout, counts.vector))


def _mostly_beyond(agreed: Federation, found: Counted, source: Source) -> list[str]:
    """The columns of numbers of which most lie beyond the bounds."""
    clipped = [one.name for one in agreed.dictionary.attributes if one.numeric and one.name in found.clipped]
    columns = source.profile(clipped).columns if clipped else {}
    return [name for name, column in columns.items() if 2 * found.clipped[name] > column.present]


def document(agreed: Federation, found: Counted) -> dict[str, Any]:
    """The counts in the layout's order, and a digest of them."""
    about = {"protection": found.protection, "guarantee": found.guarantee} if found.changed else {}
    changed = {"changed": asdict(found.changed)} if found.changed else {}
    return {
        "federation": agreed.digest(),
        "rows": found.rows,
        "clipped": found.clipped,
        "digest": hashlib.sha256(found.vector.astype("<u8").tobytes()).hexdigest(),
        "counts": found.vector.tolist(),
        **about,
        **changed,
    }
