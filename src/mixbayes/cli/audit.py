"""`mixbayes audit show` and `mixbayes audit verify`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from mixbayes.node.disk.audit import Record, Verdict, entries
from mixbayes.node.disk.audit import verify as verify_trail
from mixbayes.node.disk.heads import Witness, heads_in, without_end
from mixbayes.node.log import printable
from mixbayes.site_time import read, rfc_3339, shown
from mixbayes.transport.errors import BadState

SHOW_EXAMPLES = """Examples:

mixbayes audit show --state state/north

mixbayes audit show --state state/a --since 2026-03-01 --actor "party north" --json
"""
VERIFY_EXAMPLES = """Examples:

mixbayes audit verify --state state/north

mixbayes audit verify --state state/north --count 1204 --head "$NOTED"
"""

State = Annotated[
    Path, typer.Option(metavar="DIR", help="A node's --state folder, a copy, or a backup; the node may be running.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def _moment(text: str) -> datetime:
    try:
        return read(text)
    except ValueError:
        raise typer.BadParameter(f"{text} is no date. Write 2026-03-01 or 2026-03-01T08:30:00+01:00.") from None


def _head(text: str | None) -> str | None:
    if text is not None and not re.fullmatch("[0-9a-fA-F]{64}", text):
        raise typer.BadParameter("A head has 64 hexadecimal digits.")
    return text and text.lower()


def show(
    state: State,
    since: Annotated[
        datetime | None,
        typer.Option(parser=_moment, metavar="DATE", help="From then on; of this site's zone if it does not say."),
    ] = None,
    verb: Annotated[str | None, typer.Option(metavar="VERB", help="Only what was done in this way.")] = None,
    actor: Annotated[
        str | None, typer.Option(metavar="ACTOR", help='Only what this one did, e.g. "party north".')
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print the audit trail, oldest first.

    It is printed unchecked; `verify` checks it.
    """
    wanted: Iterator[Record] = (
        record
        for record in entries(state)
        if (since is None or record.entry.time >= since)
        and verb in (None, record.entry.verb)
        and actor in (None, record.entry.actor)
    )
    if (first := next(wanted, None)) is None:
        typer.echo(f"No record matches.{_actors(state) if actor else ''}", err=True)
    wanted = chain([first] if first else [], wanted)
    for line in _json_lines(wanted) if as_json else map(_line, wanted):
        typer.echo(line)


def verify(
    state: State,
    head: Annotated[
        str | None, typer.Option(callback=_head, metavar="HASH", help="A head that was printed or noted earlier.")
    ] = None,
    count: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="How many records there were when that head was noted.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check that the audit trail is as it was written.

    It finds records that were changed, removed, added between others, or moved.

    Prints the number of records and the head, which is the hash of the last one. Note both at another place.

    A trail alone cannot show that its end was cut off, or that it was written anew as a whole: a noted head can.

    It also prints how far other nodes have noted this trail, as far as they told this node.
    """
    verdict, witnesses = verify_trail(state, head, count), _witnesses(state)
    verdict = without_end(verdict, witnesses)
    if as_json:
        witnessed = {one.peer: one.entries for one in witnesses if one.entries}
        typer.echo(json.dumps({"sound": verdict.sound, **asdict(verdict), "witnessed": witnessed}, indent=2))
    else:
        typer.echo("\n".join([f"{verdict.count} records", f"head {verdict.head}", *_witnessed(witnesses)]))
    _refuse_broken(state, verdict)


def _witnesses(state: Path) -> list[Witness]:
    heads = heads_in(state)
    return heads.witnesses if heads else []


def _witnessed(witnesses: list[Witness]) -> Iterator[str]:
    """The longest part first, with all who noted its end."""
    by_end: dict[int, list[str]] = {}
    for one in witnesses:
        if one.lost:
            yield printable(f"{one.peer} says that it noted {one.lost} entries; this trail has no such head")
        if one.entries:
            by_end.setdefault(one.entries, []).append(printable(one.peer))
    yield from (f"entries up to {entries} are witnessed by {', '.join(who)}" for entries, who in by_end.items())


def _refuse_broken(state: Path, verdict: Verdict) -> None:
    if verdict.broken:
        raise BadState(
            f"The audit trail in {state} breaks at record {verdict.broken.number}: {verdict.broken.reason}. "
            "The records before it hold. Keep the folder as it is, and compare it with a backup."
        )


def _actors(state: Path) -> str:
    there = sorted({record.entry.actor for record in entries(state)})
    return printable(f" These have records: {', '.join(there)}.") if there else ""


def _line(record: Record) -> str:
    entry = record.entry
    details = (f"{name}={value}" for name, value in entry.details.items())
    words = (str(record.number), shown(entry.time), entry.actor, entry.verb, entry.subject, *details)
    return printable("  ".join(words))


def _json_lines(records: Iterator[Record]) -> Iterator[str]:
    """One array, a record to a line, because a trail may be longer than the memory."""
    before = "["
    for record in records:
        fields = {"number": record.number, "hash": record.hash, **asdict(record.entry)}
        yield before + json.dumps(fields | {"time": rfc_3339(record.entry.time)})
        before = ","
    yield "]" if before == "," else "[]"
