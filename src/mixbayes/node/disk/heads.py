"""Heads of audit trails on disk: what this node gave away of its own trail, and what it noted of the others'.

A head that is given away is the hash of an entry that holds a random salt. Nobody who gets it can test a guess of the
entries before it, and heads of other entries are never given.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from pathlib import Path

from mixbayes.node.disk.audit import Break, Head, Verdict
from mixbayes.node.disk.datastore import About, Tables
from mixbayes.node.disk.sqlite import looking

GIVES = "gives its head"
"""The verb of the entries with a salt."""
NOTED, FOUND_CUT = "noted head", "found trail cut"
_SALT_BYTES = 16
_LAST_SEALED = {
    "round": "SELECT COALESCE(MAX(number), 0) FROM round WHERE sealed",
    "outbox": "SELECT COALESCE(MAX(round), 0) FROM outbox WHERE sealed",
}
_NOTED = "SELECT peer, entries, hash, round, time, flaw FROM noted_head"
_WITNESSES = "SELECT peer, entries, lost, round FROM witness ORDER BY entries DESC, peer"


@dataclass(frozen=True)
class Given:
    """The last head that this node gave away, in which round it was made, and when."""

    head: Head
    round: int
    time: float


@dataclass(frozen=True)
class Noted:
    """The last head that this node noted of a peer's trail, in which round, and when."""

    peer: str
    head: Head
    round: int
    time: float
    flaw: str = ""
    """What was found wrong with the trail since the last round, for people."""


@dataclass(frozen=True)
class Witness:
    """A peer that noted heads of this node's trail."""

    peer: str
    entries: int = 0
    """The entries of the last noted head that this node's trail holds."""
    lost: int = 0
    """The entries of a head that the peer says it noted, and that the trail did not hold."""
    round: int = 0
    """The last sealed round when the peer said that."""


class HeadTables(Tables):
    """A transaction about heads."""

    def given(self) -> Given | None:
        """Nothing if the trail does not hold the head any more."""
        row = self._one("SELECT entries, round, time FROM given_head")
        hash = self.hash_given(row[0]) if row else ""
        return Given(Head(row[0], hash), row[1], row[2]) if hash else None

    def give(self, number: int) -> None:
        """Make a head that may be given away."""
        salt = secrets.token_hex(_SALT_BYTES)
        head = self.note(self._me, GIVES, "all nodes", {"round": number, "salt": salt})
        self._do("INSERT OR REPLACE INTO given_head VALUES (1, ?, ?, ?)", head.count, number, self._clock())

    def hash_given(self, entries: int) -> str:
        """The hash of this entry, if it is one that may be given away."""
        row = self._one("SELECT record, hash FROM audit WHERE number = ?", entries)
        return row[1].hex() if row and json.loads(row[0])["verb"] == GIVES else ""

    def noted(self, peer: str) -> Noted | None:
        row = self._one(f"{_NOTED} WHERE peer = ?", peer)
        return row and _noted(*row)

    def all_noted(self) -> list[Noted]:
        return [_noted(*row) for row in self._all(f"{_NOTED} ORDER BY peer")]

    def note_head(self, of: Noted) -> None:
        """A peer's head, in the trail and in place of the one before it."""
        about: About = {"entries": of.head.count, "head": of.head.hash, "round": of.round}
        self.note(self._me, NOTED, of.peer, about)
        self._keep(of)

    def note_cut(self, before: Noted, now: Noted) -> None:
        """A peer's trail no longer holds the head that was noted before; from now on another one is due."""
        about: About = {"entries": before.head.count, "head": before.head.hash, "round": before.round}
        self.note(self._me, FOUND_CUT, before.peer, about)
        self._keep(now)

    def witnesses(self) -> list[Witness]:
        return [Witness(*row) for row in self._all(_WITNESSES)]

    def put_witness(self, witness: Witness) -> None:
        self._do("INSERT OR REPLACE INTO witness VALUES (?, ?, ?, ?)", *astuple(witness))

    def _keep(self, of: Noted) -> None:
        self._do(
            "INSERT OR REPLACE INTO noted_head VALUES (?, ?, ?, ?, ?, ?)",
            of.peer,
            of.head.count,
            of.head.hash,
            of.round,
            of.time,
            of.flaw,
        )


@dataclass(frozen=True)
class Heads:
    """What a state folder says of heads, read beside the node that may be running."""

    noted: list[Noted]
    witnesses: list[Witness]
    last_sealed: int


def heads_in(folder: Path) -> Heads | None:
    """None if the tables are of a version without heads."""
    with looking(folder) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        if "noted_head" not in tables:
            return None
        noted = [_noted(*row) for row in connection.execute(f"{_NOTED} ORDER BY peer")]
        witnesses = [Witness(*row) for row in connection.execute(_WITNESSES)]
        last = [connection.execute(query).fetchone()[0] for table, query in _LAST_SEALED.items() if table in tables]
        return Heads(noted, witnesses, max(last, default=0))


def without_end(verdict: Verdict, witnesses: Iterable[Witness]) -> Verdict:
    """The verdict on a trail, if it must be as long as it was when these peers noted it."""
    longer = [one for one in witnesses if one.entries > verdict.count]
    if not longer or not verdict.sound:
        return verdict
    reason = f"it is missing: {longer[0].peer} noted {longer[0].entries} entries"
    return Verdict(verdict.count, verdict.head, Break(verdict.count + 1, reason))


def _noted(peer: str, entries: int, hash: str, round: int, time: float, flaw: str) -> Noted:
    return Noted(peer, Head(entries, hash), round, time, flaw)
