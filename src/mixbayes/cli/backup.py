"""`mixbayes backup` and `mixbayes restore`: what a node must not forget, put aside and put back."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from mixbayes.cli.output import refuse_unwritable
from mixbayes.node.disk.backup import Backup, back_up, look_into, put_back
from mixbayes.node.disk.datastore import COMPUTING_PARTY
from mixbayes.node.log import printable
from mixbayes.protocol.errors import BadData
from mixbayes.site_time import shown
from mixbayes.transport.errors import BadState

BACKUP_EXAMPLES = """Examples:

mixbayes backup --state state/north -o north.backup

mixbayes backup --state state/a -o /backups/a.backup --overwrite
"""
RESTORE_EXAMPLES = """Examples:

mixbayes restore north.backup --state state/north

mixbayes restore a.backup --state state/a --entries 1204
"""

State = Annotated[
    Path, typer.Option(metavar="DIR", help="The folder that the node has as --state.", envvar="MIXBAYES_STATE")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace FILE; it is replaced as a whole.")]


def backup(
    state: State,
    out: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Where the backup is written.")],
    overwrite: Overwrite = False,
) -> None:
    """Write a backup of a node's state, also while the node is at work.

    It holds the audit trail, the ledgers of noise and budgets, and the best recipe. It holds no share, model or answer,
    and no keys: back up NAME.key and NAME.state on their own, and lock them away.
    """
    refuse_unwritable(out)
    if out.exists() and not overwrite:
        raise BadData(f"{out} is there already and stays as it is. Name another file, or say --overwrite.")
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as folder:
        draft = Path(folder, out.name)
        draft.touch(0o600)
        found = back_up(state, draft, datetime.now(UTC))
        draft.replace(out)
    _say(f"Written: {out}", *_in_words(found))
    _say("Note the number of entries and the head where the operator of this node cannot change them.")


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `mixbayes backup` wrote.")],
    state: State,
    entries: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Refuse a backup whose audit trail has fewer entries than were noted."),
    ] = None,
) -> None:
    """Make a lost state folder anew from a backup.

    The round that was open is over at this node. At a mixer, and with two hospitals alone, a hospital then runs
    `mixbayes round close` and `mixbayes round new`.
    """
    _refuse_older(file, look_into(file), entries or 0)
    found = put_back(file, state, datetime.now(UTC))
    _say(f"Restored: {state}", *_in_words(found))
    _say("", *_what_follows(found))


def _refuse_older(file: Path, found: Backup, entries: int) -> None:
    if found.trail.count < entries:
        raise BadState(
            f"{file} has {found.trail.count} entries in its audit trail, and {entries} were noted: it is older than "
            "the note. Nothing was put back. Look for a later backup."
        )


def _in_words(found: Backup) -> Iterator[str]:
    yield f"state of:     {printable(found.owner)}"
    yield f"made:         {shown(found.made)}"
    yield f"last round:   {found.round}"
    yield f"audit trail:  {found.trail.count} entries, head {found.trail.head}"


def _what_follows(found: Backup) -> Iterator[str]:
    yield "What happened after the backup was made is not in it: other nodes count the noise and the rounds since."
    if found.kind == COMPUTING_PARTY.kind:
        yield "Next: start the node; then a hospital runs `mixbayes round close` and `mixbayes round new`."
    else:
        yield "Next: start the node. If the round does not count what it contributes, `mixbayes round close` and"
        yield "`mixbayes round new` begin another."
    yield "If others have noted a later entry of this node's audit trail, `mixbayes status` says so. Tell them why."


def _say(*lines: str) -> None:
    for line in lines:
        typer.echo(line, err=True)
