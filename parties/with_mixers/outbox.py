"""What a hospital has sent: kept on disk until both mixers have it, so that a restart sends the same bytes again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from sqlite3 import Connection

from mixbayes.node.disk import audit
from mixbayes.node.disk.database import Database
from mixbayes.node.disk.schema import Schema
from mixbayes.node.disk.sealing import place
from mixbayes.parties.with_mixers.contribution import Messages
from mixbayes.protocol.errors import OutOfRange
from mixbayes.transport.errors import RefusedByPolicy

OUTBOX = """
CREATE TABLE outbox (
    agreement TEXT NOT NULL,
    round INTEGER NOT NULL,
    mixer TEXT NOT NULL,
    id BLOB NOT NULL,
    acknowledged INTEGER NOT NULL DEFAULT 0,
    sealed INTEGER NOT NULL DEFAULT 0,
    message BLOB,
    PRIMARY KEY (agreement, round, mixer)
) STRICT;
"""
SCHEMA = Schema("party", (OUTBOX,))
About = Mapping[str, int | str]


class Outbox:
    """A hospital's contributions. `me` is its title."""

    def __init__(self, database: Database, me: str, agreement: str, clock: Callable[[], float], most: int) -> None:
        """`most` rounds that are sealed are contributed to under this agreement, whatever mixers ask for."""
        self._most = most
        self._database = database
        self._me = me
        self._agreement = agreement
        self._clock = clock

    def due(self, number: int, make: Callable[[], Messages]) -> dict[str, bytes]:
        """What each mixer has not acknowledged yet. It is made once for a round, and on disk before it leaves."""
        with self._database.write() as connection:
            if not self._made(connection, number):
                self._refuse_too_many(connection)
                made = make()
                for mixer, message in (("a", made.to_a), ("b", made.to_b)):
                    sealed = self._database.seal.close(message, self._place(number, mixer))
                    row = self._agreement, number, mixer, made.id, sealed
                    connection.execute(
                        "INSERT INTO outbox (agreement, round, mixer, id, message) VALUES (?, ?, ?, ?, ?)", row
                    )
            rows = self._rows(connection, number)
        seal = self._database.seal
        return {mixer: seal.open(message, self._place(number, mixer)) for mixer, message in rows}

    def acknowledged(self, number: int, mixer: str, receipt: bytes, size: int) -> None:
        """A mixer has it on disk. Once both have, both messages are gone from here."""
        with self._database.write() as connection:
            found = connection.execute(
                "UPDATE outbox SET acknowledged = 1 WHERE agreement = ? AND round = ? AND mixer = ? AND id = ?",
                (self._agreement, number, mixer, receipt),
            )
            if not found.rowcount:
                raise OutOfRange(f"mixer {mixer}", "contribution", "it acknowledged something else")
            done = not self._rows(connection, number)
            if done:
                connection.execute(
                    "UPDATE outbox SET message = NULL WHERE agreement = ? AND round = ?", (self._agreement, number)
                )
            about: About = {"round": number, "bytes": size, "contribution": receipt.hex()}
            self._note(connection, self._me, "contributed", f"mixer {mixer}", about)
        if done:
            self._database.empty_log()

    def sealed(self, number: int) -> None:
        """The mixers have fixed the set of this round: it counts among those that were agreed on."""
        with self._database.write() as connection:
            connection.execute(
                "UPDATE outbox SET sealed = 1 WHERE agreement = ? AND round = ?", (self._agreement, number)
            )

    def asked(self, number: int, rows: int, *, shown: bool) -> None:
        """An application of this hospital has had rows classified."""
        with self._database.write() as connection:
            how = "rows shown" if shown else "rows hidden"
            self._note(connection, self._me, "asked", "both mixers", {"round": number, how: rows})

    def note(self, verb: str, subject: str, about: About) -> None:
        """Something this hospital has done."""
        with self._database.write() as connection:
            self._note(connection, self._me, verb, subject, about)

    def _note(self, connection: Connection, actor: str, verb: str, subject: str, about: About) -> None:
        now = datetime.fromtimestamp(self._clock(), UTC)
        audit.append(connection, audit.Entry(now, self._me, actor, verb, subject, about))

    def _refuse_too_many(self, connection: Connection) -> None:
        had = connection.execute(
            "SELECT COUNT(DISTINCT round) FROM outbox WHERE agreement = ? AND sealed", (self._agreement,)
        ).fetchone()[0]
        if had >= self._most:
            raise RefusedByPolicy(
                f"{self._me} has contributed to {had} rounds, as many as the agreement allows. Agree on more "
                "(policy, rounds)."
            )

    def _made(self, connection: Connection, number: int) -> bool:
        found = connection.execute(
            "SELECT 1 FROM outbox WHERE agreement = ? AND round = ?", (self._agreement, number)
        ).fetchone()
        return found is not None

    def _rows(self, connection: Connection, number: int) -> list[tuple[str, bytes]]:
        """What is not acknowledged."""
        return connection.execute(
            "SELECT mixer, message FROM outbox WHERE agreement = ? AND round = ? AND NOT acknowledged",
            (self._agreement, number),
        ).fetchall()

    def _place(self, number: int, mixer: str) -> str:
        return place("outbox", "message", self._agreement, number, mixer)
