"""The nodes of a federation note the heads of each other's audit trails, so that a trail that was cut off shows.

Whenever two nodes speak about a round, each says the head of its trail, how far it noted the other's, and its own hash
at the place that the other noted. What is found is written down, logged and shown; it never stops the work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from mixbayes.node.disk.audit import HASH_BYTES, Head
from mixbayes.node.disk.database import Database
from mixbayes.node.disk.datastore import Clock, Datastore
from mixbayes.node.disk.heads import HeadTables, Noted, Witness
from mixbayes.node.log import Log, logged
from mixbayes.node.unwitnessed import Reply, Request, Unwitnessed
from mixbayes.wire.v1 import node_pb2 as wire

DAY = 86400.0
"""After so many seconds another head is due, though no other round was sealed."""
_NO_HEAD = Head(0, "")
_LARGEST = 2**63 - 1
_WHY = "entries were cut off or changed, or an older copy of its state folder was put back"


@dataclass(frozen=True)
class Statement:
    """What one node says to another about both trails."""

    head: Head | None = None
    """The end of the sender's trail."""
    noted: int = 0
    """How many entries the head has that the sender noted of the receiver."""
    earlier: Head | None = None
    """The sender's head where the receiver noted it; without a hash if there is none."""


class Witnessing(Unwitnessed):
    """A node's part. `me` is its title, `sealed` the number of its last sealed round; peers are known by their titles.

    Nothing that a peer says raises an error, and neither does the disk: the work goes on without witnesses.
    """

    def __init__(self, database: Database, me: str, clock: Clock, sealed: Callable[[], int], log: Log) -> None:
        self._datastore = Datastore(database, HeadTables, me, clock)
        self._me = me
        self._clock = clock
        self._sealed = sealed
        self._log = log
        self._noted_here: dict[str, int] = {}
        """By peer, how far it said that it noted this node's trail."""

    def asking(self, peer: str, request: Request) -> Request:
        self._say(peer, request.witness)
        return request

    def heard(self, peer: str, reply: wire.RoundReport | wire.Holdings | wire.Trained) -> None:
        if reply.HasField("witness"):
            self._hear(peer, decode(reply.witness))

    def answering(self, peer: str, request: wire.ReportRequest | wire.Holdings | wire.Trained, reply: Reply) -> Reply:
        if request.HasField("witness"):
            self._hear(peer, decode(request.witness))
            self._say(peer, reply.witness)
        return reply

    def findings(self) -> list[str]:
        with self._datastore.read() as tables:
            noted, witnesses = tables.all_noted(), tables.witnesses()
        return [one.flaw for one in noted if one.flaw] + [lost_here(self._me, one) for one in witnesses if one.lost]

    def _say(self, peer: str, into: wire.Witness) -> None:
        try:
            encode(self._statement(peer), into)
        except Exception as error:  # noqa: BLE001 - such as a full disk: the round goes on without witnesses
            logged(self._log, error, "gave no head")

    def _hear(self, peer: str, said: Statement) -> None:
        try:
            self._noted_here[peer] = said.noted
            self._keep_witness(peer, said.noted)
            self._note(peer, said)
        except Exception as error:  # noqa: BLE001 - as above
            logged(self._log, error, "noted no head", peer=peer)

    def _statement(self, peer: str) -> Statement:
        """What there is to say to this peer now, with a new head if one is due."""
        sealed = self._sealed()
        if self._gives(sealed):
            with self._datastore.write() as tables:
                if self._gives_by(tables, sealed):
                    tables.give(sealed)
        with self._datastore.read() as tables:
            given, noted, asked = tables.given(), tables.noted(peer), self._noted_here.get(peer, 0)
            earlier = Head(asked, tables.hash_given(asked)) if asked else None
            return Statement(given.head if given else None, noted.head.count if noted else 0, earlier)

    def _gives(self, sealed: int) -> bool:
        with self._datastore.read() as tables:
            return self._gives_by(tables, sealed)

    def _gives_by(self, tables: HeadTables, sealed: int) -> bool:
        given = tables.given()
        return self._due(sealed, given.round if given else 0, given.time if given else 0.0)

    def _due(self, sealed: int, round: int, time: float) -> bool:
        """Whether a head of that round and time is to be followed by another one."""
        return sealed > round or (round > 0 and not 0 <= self._clock() - time < DAY)

    def _keep_witness(self, peer: str, entries: int) -> None:
        """Write down how far a peer noted this node's trail, if that has changed."""
        if not entries:
            return
        sealed = self._sealed()
        with self._datastore.read() as tables:
            before = next((one for one in tables.witnesses() if one.peer == peer), Witness(peer))
            there = bool(tables.hash_given(entries))
        shown = before if before.round == sealed else Witness(peer)
        now = replace(shown, entries=entries) if there else Witness(peer, 0, entries, sealed)
        if now == before:
            return
        with self._datastore.write() as tables:
            tables.put_witness(now)
        if not there:
            self._log.warning("own audit trail is cut", why=lost_here(self._me, now))

    def _note(self, peer: str, said: Statement) -> None:
        """Check the peer's trail against the head that was noted, and note its head now if that is due."""
        sealed = self._sealed()
        with self._datastore.read() as tables:
            if self._to_note(tables.noted(peer), peer, said, sealed) is None:
                return
        with self._datastore.write() as tables:
            before = tables.noted(peer)
            if (now := self._to_note(before, peer, said, sealed)) is None:
                return
            if before and _contradicts(before, said):
                tables.note_cut(before, now)
                self._log.warning("an audit trail is cut", peer=peer, why=now.flaw)
            else:
                tables.note_head(now)

    def _to_note(self, before: Noted | None, peer: str, said: Statement, sealed: int) -> Noted | None:
        """What is to be noted of the peer now, or None if nothing is. A peer has at most two notes in a day or round:
        else it could make this node's trail as long as it likes."""
        head, time = said.head or _NO_HEAD, self._clock()
        if before is None:
            return Noted(peer, head, sealed, time) if head.count and sealed > 0 else None
        due = self._due(sealed, before.round, before.time)
        if _contradicts(before, said):
            return Noted(peer, head, sealed, time, cut(self._me, before)) if due or not before.flaw else None
        known = said.earlier is not None and said.earlier.count == before.head.count
        if head.count <= before.head.count or not due or not (known or not before.head.count):
            return None  # also if the peer does not know yet which head was noted
        return Noted(peer, head, sealed, time, "" if sealed > before.round else before.flaw)


def _contradicts(before: Noted, said: Statement) -> bool:
    """Whether the trail of which a peer speaks does not hold the head that was noted."""
    earlier = said.earlier
    return earlier is not None and earlier.count == before.head.count and earlier.hash != before.head.hash


def encode(statement: Statement, into: wire.Witness) -> None:
    """Fill the message; it is then present, even if there is nothing to say yet."""
    into.SetInParent()
    into.noted = statement.noted
    for part, head in ((into.head, statement.head), (into.earlier, statement.earlier)):
        if head:
            part.entries, part.digest = head.count, bytes.fromhex(head.hash)


def decode(message: wire.Witness) -> Statement:
    """What a peer says; a head that cannot be one counts as none."""
    head = _head(message.head)
    earlier = _head(message.earlier) if message.HasField("earlier") else None
    return Statement(head if head and head.hash else None, min(message.noted, _LARGEST), earlier)


def _head(message: wire.AuditHead) -> Head | None:
    if not 0 < message.entries <= _LARGEST:
        return None
    return Head(message.entries, message.digest.hex() if len(message.digest) == HASH_BYTES else "")


def cut(finder: str, noted: Noted) -> str:
    """That a peer's trail does not go on from the head that was noted of it."""
    return (
        f"the audit trail of {noted.peer} no longer has the head that {finder} noted of it in round {noted.round} "
        f"({noted.head.count} entries): {_WHY}"
    )


def lost_here(me: str, witness: Witness) -> str:
    """That this node's own trail does not hold what a peer noted of it."""
    return (
        f"{witness.peer} says that it noted {witness.lost} entries of the audit trail of {me}, which has no such "
        f"head: {_WHY}"
    )
