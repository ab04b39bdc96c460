"""The rounds of a computing party, on disk: collecting → sealed → trained → serving → closed, or failed.

Every change is one transaction together with its audit entry, and on disk before anybody is answered. A sealed round's
set never changes; what comes later belongs to another round.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from mixbayes.agreement.agreement import Federation
from mixbayes.node.disk import audit
from mixbayes.node.disk.database import Database
from mixbayes.node.disk.schema import Schema
from mixbayes.node.disk.sealing import place
from mixbayes.protocol.errors import MixbayesError
from mixbayes.transport.errors import (
    AlreadyContributed,
    BadState,
    DifferentSets,
    RefusedByPolicy,
    RoundFailed,
    RoundOver,
    TooEarly,
)

COLLECTING, SEALED, TRAINED, SERVING = "collecting", "sealed", "trained", "serving"
CLOSED, FAILED = "closed", "failed"
OVER = (CLOSED, FAILED)
APART = 1000
"""Two parties may be so many rounds apart: every start of one of them with another agreement begins one there."""
_SEALED = (SEALED, TRAINED, SERVING)
HELD, COUNTED, REFUSED, LEFT_OUT = "held", "counted", "refused", "left out"

ROUNDS = """
CREATE TABLE round (
    number INTEGER PRIMARY KEY,
    agreement TEXT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL DEFAULT '',
    opened REAL NOT NULL,
    sealed INTEGER NOT NULL DEFAULT 0,
    trainings INTEGER NOT NULL DEFAULT 0,
    run BLOB,
    model BLOB
) STRICT;
CREATE TABLE contribution (
    round INTEGER NOT NULL REFERENCES round,
    hospital TEXT NOT NULL,
    id BLOB NOT NULL,
    digest BLOB NOT NULL,
    message BLOB NOT NULL,
    verdict TEXT NOT NULL,
    PRIMARY KEY (round, hospital)
) STRICT;
CREATE TABLE question (
    id BLOB PRIMARY KEY,
    round INTEGER NOT NULL REFERENCES round,
    hospital TEXT NOT NULL,
    number INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    pieces INTEGER NOT NULL,
    UNIQUE (round, hospital, number)
) STRICT;
CREATE TABLE answer (
    question BLOB NOT NULL REFERENCES question,
    piece INTEGER NOT NULL,
    share BLOB NOT NULL,
    PRIMARY KEY (question, piece)
) STRICT;
CREATE TABLE spent (
    round INTEGER NOT NULL REFERENCES round,
    hospital TEXT NOT NULL,
    questions INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    PRIMARY KEY (round, hospital)
) STRICT;
"""
SCHEMA = Schema("computing party", (ROUNDS,))

About = Mapping[str, int | str]
Clock = Callable[[], float]
"""Seconds since 1970."""


@dataclass(frozen=True)
class Round:
    """Where a round stands."""

    number: int
    state: str
    reason: str
    opened: float
    run: bytes | None


@dataclass(frozen=True)
class Held:
    """One contribution as it lies on disk."""

    id: bytes
    verdict: str


class Rounds:
    """What one computing party has on disk about its rounds. `me` is its title."""

    def __init__(
        self,
        database: Database,
        federation: Federation,
        me: str,
        clock: Clock,
    ) -> None:
        self.database = database
        self.federation = federation
        self.me = me
        self.clock = clock
        self._told: Callable[[int, str], None] = lambda number, state: None
        self._gone: list[tuple[int, str]] = []
        self._forgot = False
        self.replaced: int | None = None
        """The round that another agreement than this one had begun, and that ended with it."""
        self._begin()

    def tell(self, told: Callable[[int, str], None]) -> None:
        """Who is to hear of every change, once it is on disk."""
        self._told = told

    def current(self) -> Round:
        """The last round."""
        with self.database.read() as connection:
            return _last(connection)

    def in_state(self, number: int, *states: str) -> Round:
        """This round, if it is the current one and in one of these states; else why not."""
        return self._in_state(self.current(), number, *states)

    def refuse_unless_serving(self, connection: sqlite3.Connection, number: int) -> None:
        """Within a transaction: the round may have ended since somebody looked."""
        self._in_state(_last(connection), number, SERVING)

    def contributions(self, number: int) -> dict[str, Held]:
        """By hospital."""
        with self.database.read() as connection:
            return _contributions(connection, number)

    def messages(self, number: int) -> dict[str, bytes]:
        """What the hospitals of the sealed set sent, by hospital; there is one until its model serves."""
        with self.database.read() as connection:
            self._in_state(_last(connection), number, SEALED, TRAINED)
            found = connection.execute(
                "SELECT hospital, message FROM contribution WHERE round = ? AND verdict <> ?", (number, LEFT_OUT)
            ).fetchall()
        return {name: self._decrypted("contribution", "message", message, number, name) for name, message in found}

    def hold(self, number: int, hospital: str, contribution: bytes, message: bytes) -> None:
        """Write down a contribution, or recognise it. Another one of the same hospital and round is refused."""
        digest = self.database.seal.tag(message)  # a plain digest of a share would let the other party test guesses
        with self._change() as connection:
            row = connection.execute(
                "SELECT digest FROM contribution WHERE round = ? AND hospital = ?", (number, hospital)
            ).fetchone()
            title = self.federation.title(hospital)
            if row and row[0] == digest:
                return
            if row:
                raise AlreadyContributed(
                    f"{title} has contributed to round {number} before, and with other bytes. A changed table counts "
                    "in the next round."
                )
            self._in_state(_last(connection), number, COLLECTING)
            sealed = self._encrypted("contribution", "message", message, number, hospital)
            connection.execute(
                "INSERT INTO contribution VALUES (?, ?, ?, ?, ?, ?)",
                (number, hospital, contribution, digest, sealed, HELD),
            )
            about: About = {"round": number, "bytes": len(message), "contribution": contribution.hex()}
            self.note(connection, title, "contributed", self.me, about)

    def seal(self, number: int, chosen: Mapping[str, bytes]) -> None:
        """Fix the set. Sealing the same one again changes nothing; another one is refused."""
        with self._change() as connection:
            now, held = _last(connection), _contributions(connection, number)
            different = [name for name, id in chosen.items() if name in held and held[name].id != id]
            missing = [name for name in chosen if name not in held]
            if different or missing:
                raise DifferentSets(self.me, "set of contributions", _difference(self.federation, different, missing))
            if now.number == number and now.state in _SEALED and sealed_set(held) == dict(chosen):
                return
            self._in_state(now, number, COLLECTING)
            connection.executemany(
                "UPDATE contribution SET verdict = ? WHERE round = ? AND hospital = ?",
                [(LEFT_OUT, number, name) for name in held if name not in chosen],
            )
            connection.execute("UPDATE round SET sealed = 1 WHERE number = ?", (number,))
            self._go(connection, number, SEALED)
            about: About = {"round": number, "hospitals": len(chosen), "set": set_digest(number, chosen)}
            self.note(connection, self.me, "sealed", f"round {number}", about)
            for name in sorted(set(self.federation.names) - set(chosen)):
                self.note(connection, self.me, "left out", self.federation.title(name), {"round": number})

    def begin_training(self, number: int, most: int) -> None:
        """One more training of this round, of which there may be so many."""
        with self._change() as connection:
            begun = connection.execute("SELECT trainings FROM round WHERE number = ?", (number,)).fetchone()[0]
            if begun >= most:
                raise RoundFailed(f"its training was begun {most} times and never came to an end.")
            connection.execute("UPDATE round SET trainings = trainings + 1 WHERE number = ?", (number,))
            self.note(connection, self.me, "trains", f"round {number}", {"round": number})

    def keep_model(self, number: int, run: bytes, model: bytes, refused: Iterable[str]) -> None:
        """Write down this party's share of a trained model, and whose contributions are not in it."""
        refused = set(refused)
        with self._change() as connection:
            self._in_state(_last(connection), number, SEALED, TRAINED)
            sealed = self._encrypted("round", "model", model, number)
            connection.execute("UPDATE round SET run = ?, model = ? WHERE number = ?", (run, sealed, number))
            connection.execute(
                "UPDATE contribution SET verdict = ? WHERE round = ? AND verdict <> ?", (COUNTED, number, LEFT_OUT)
            )
            connection.executemany(
                "UPDATE contribution SET verdict = ? WHERE round = ? AND hospital = ?",
                [(REFUSED, number, name) for name in refused],
            )
            self._go(connection, number, TRAINED)
            about: About = {"round": number, "bytes": len(model), "refused": len(refused), "run": run.hex()}
            self.note(connection, self.me, "trained", f"round {number}", about)
            for name in sorted(refused):
                self.note(connection, self.me, "refused", self.federation.title(name), {"round": number})

    def serve(self, number: int, run: bytes) -> bool:
        """The other party has the model of this training on disk too. False if this one has not."""
        with self._change() as connection:
            now = self._in_state(_last(connection), number, SEALED, TRAINED, SERVING)
            if now.run != run:
                return False
            if now.state == TRAINED:
                self._forget_contributions(connection, number)  # both have the model: nobody trains this round again
                self._go(connection, number, SERVING)
                self.note(connection, self.me, "serves", f"round {number}", {"round": number})
            return now.state in (TRAINED, SERVING)

    def forget_model(self, number: int) -> None:
        """The other party does not have it: train again."""
        with self._change() as connection:
            if self._in_state(_last(connection), number, SEALED, TRAINED).state == TRAINED:
                connection.execute("UPDATE round SET run = NULL, model = NULL WHERE number = ?", (number,))
                self._go(connection, number, SEALED)
                self.note(connection, self.me, "trains again", f"round {number}", {"round": number})

    def model(self, number: int) -> tuple[bytes, bytes]:
        """The training and its model."""
        with self.database.read() as connection:
            row = connection.execute("SELECT run, model FROM round WHERE number = ?", (number,)).fetchone()
        if not row or row[1] is None:
            raise TooEarly(f"{self.me} has no model of round {number}.")
        return row[0], self._decrypted("round", "model", row[1], number)

    def fail(self, number: int, reason: str) -> None:
        """End it without a model, for a reason that everybody may read."""
        with self._change() as connection:
            now = _last(connection)
            if now.number == number and now.state not in OVER:
                connection.execute("UPDATE round SET reason = ? WHERE number = ?", (reason[:400], number))
                self._forget(connection, number)
                self._go(connection, number, FAILED)
                self.note(connection, self.me, "failed", f"round {number}", {"round": number, "why": reason[:400]})

    def close(self, number: int, actor: str) -> None:
        """End it for good, and any round before it; its answers are gone, its ids stay."""
        with self._change() as connection:
            now = _last(connection)
            if now.number > number:
                raise RoundOver(f"{self.me} is at round {now.number}, not at {number}.")
            if now.state in OVER:
                return
            if now.number == number:
                self._in_state(now, number, COLLECTING, SERVING)
            self._close(connection, now.number, actor)  # if the other party is further, nothing comes of an earlier one

    def open(self, number: int, actor: str) -> None:
        """A new round of the same parties, once the last one is over."""
        with self._change() as connection:
            now = _last(connection)
            if now.number == number and now.state == COLLECTING:
                return
            if leaves_behind(now, number):
                self._close(connection, now.number, actor)
            elif now.state not in OVER:
                raise RefusedByPolicy(
                    f"{self.me} has round {now.number}, which is {now.state}. A new one can begin once it is closed or "
                    "failed: `mixbayes round close` ends it."
                )
            if not now.number < number <= self.furthest(now.number):
                raise RoundOver(f"{self.me} has had {now.number} rounds already; the next is {now.number + 1}.")
            self._open(connection, number, actor)

    def furthest(self, number: int) -> int:
        """The last round that may follow this one: the other party may have had some without this one."""
        return number + max(self.federation.policy.rounds, APART)

    def _close(self, connection: sqlite3.Connection, number: int, actor: str) -> None:
        self._forget(connection, number)
        self._go(connection, number, CLOSED)
        self.note(connection, actor, "closed", f"round {number}", {"round": number})

    def report_of(self, number: int, hospital: str) -> tuple[int, int]:
        """A hospital's budget of rows in this round, and what is left of it."""
        with self.database.read() as connection:
            spent = spent_by(connection, number, hospital)[1]
        return self.federation.policy.budget, self.federation.policy.budget - spent

    def write_down(self, actor: str, verb: str, subject: str, about: About) -> None:
        """An audit entry that belongs to no other change."""
        with self._change() as connection:
            self.note(connection, actor, verb, subject, about)

    def _begin(self) -> None:
        """The first round opens by itself; so does one under a new agreement, which ends the old one's."""
        digest = self.federation.digest()
        with self._change() as connection:
            row = connection.execute(
                "SELECT number, agreement, state FROM round ORDER BY number DESC LIMIT 1"
            ).fetchone()
            if row and row[1] == digest:
                return
            if row and row[2] not in OVER:
                connection.execute(
                    "UPDATE round SET state = ?, reason = 'another agreement took its place' WHERE number = ?",
                    (CLOSED, row[0]),
                )
                self._forget(connection, row[0])
                why = {"round": row[0], "why": "another agreement took its place", "agreement": row[1]}
                self.note(connection, self.me, "closed", f"round {row[0]}", why)
                self.replaced = row[0]
            self._open(connection, row[0] + 1 if row else 1, self.me)

    def _open(self, connection: sqlite3.Connection, number: int, actor: str) -> None:
        digest = self.federation.digest()
        had = connection.execute("SELECT COUNT(*) FROM round WHERE agreement = ? AND sealed", (digest,)).fetchone()[0]
        if had >= self.federation.policy.rounds:
            raise RefusedByPolicy(
                f"The agreement allows {had} rounds that are trained, and all of them have been. Agree on more "
                "(policy, rounds)."
            )
        connection.execute(
            "INSERT INTO round (number, agreement, state, opened) VALUES (?, ?, ?, ?)",
            (number, digest, COLLECTING, self.clock()),
        )
        self.note(connection, actor, "opened", f"round {number}", {"round": number, "agreement": digest})

    def _in_state(self, now: Round, number: int, *states: str) -> Round:
        if number > now.number:
            raise TooEarly(f"{self.me} is at round {now.number}; there is no round {number} yet.")
        if number < now.number:
            raise RoundOver(f"{self.me} is at round {now.number}; round {number} is over.")
        if now.state not in states:
            raise _wrong_state(self.me, now)
        return now

    @contextmanager
    def _change(self) -> Iterator[sqlite3.Connection]:
        """One transaction; the log hears of what changed once it is on disk."""
        with self.database.write() as connection:
            self._gone.clear()
            self._forgot = False
            yield connection
            gone, forgot = list(self._gone), self._forgot
        if forgot:
            self.database.empty_log()
        for number, state in gone:
            self._told(number, state)

    def _forget(self, connection: sqlite3.Connection, number: int) -> None:
        """What a round that is over needs no more: shares of counts, model and answers. Ids stay."""
        connection.execute("DELETE FROM answer")
        connection.execute("UPDATE round SET model = NULL WHERE number = ?", (number,))
        self._forget_contributions(connection, number)

    def _forget_contributions(self, connection: sqlite3.Connection, number: int) -> None:
        connection.execute("UPDATE contribution SET message = x'' WHERE round = ?", (number,))
        self._forgot = True

    def _go(self, connection: sqlite3.Connection, number: int, state: str) -> None:
        self._gone.append((number, state))
        connection.execute("UPDATE round SET state = ? WHERE number = ?", (state, number))

    def note(self, connection: sqlite3.Connection, actor: str, verb: str, subject: str, about: About) -> None:
        now = datetime.fromtimestamp(self.clock(), UTC)
        audit.append(connection, audit.Entry(now, self.me, actor, verb, subject, about))

    def _encrypted(self, table: str, column: str, plain: bytes, *row: str | int) -> bytes:
        return self.database.seal.close(plain, place(table, column, *row))

    def _decrypted(self, table: str, column: str, sealed: bytes, *row: str | int) -> bytes:
        return self.database.seal.open(sealed, place(table, column, *row))


def leaves_behind(now: Round, number: int) -> bool:
    """Whether the other computing party has had rounds meanwhile of which this one, begun anew, knows nothing."""
    return now.state == COLLECTING and number > now.number + 1


def set_digest(number: int, chosen: Mapping[str, bytes]) -> str:
    """Of who is in a set with which contribution."""
    digest = hashlib.sha256(number.to_bytes(8, "little"))
    for name in sorted(chosen):
        digest.update(hashlib.sha256(name.encode()).digest() + chosen[name])
    return digest.hexdigest()


def _last(connection: sqlite3.Connection) -> Round:
    row = connection.execute(
        "SELECT number, state, reason, opened, run FROM round ORDER BY number DESC LIMIT 1"
    ).fetchone()
    if not row:
        raise BadState("The state folder holds no round. Put it aside and take part in a new round with an empty one.")
    return Round(*row)


def _contributions(connection: sqlite3.Connection, number: int) -> dict[str, Held]:
    rows = connection.execute("SELECT hospital, id, verdict FROM contribution WHERE round = ?", (number,))
    return {name: Held(id, verdict) for name, id, verdict in rows}


def sealed_set(held: Mapping[str, Held]) -> dict[str, bytes]:
    return {name: one.id for name, one in held.items() if one.verdict != LEFT_OUT}


def spent_by(connection: sqlite3.Connection, number: int, hospital: str) -> tuple[int, int]:
    """Questions and rows."""
    row = connection.execute(
        "SELECT questions, rows FROM spent WHERE round = ? AND hospital = ?", (number, hospital)
    ).fetchone()
    return row or (0, 0)


def _wrong_state(me: str, now: Round) -> MixbayesError:
    if now.state == FAILED:
        return RoundFailed(f"Round {now.number} failed at {me}: {now.reason} `mixbayes round new` begins another.")
    if now.state in (CLOSED, SERVING, SEALED, TRAINED):
        return RoundOver(f"Round {now.number} is {now.state} at {me}. What comes now belongs to another round.")
    return TooEarly(f"Round {now.number} is {now.state} at {me}.")


def _difference(federation: Federation, different: list[str], missing: list[str]) -> str:
    parts = [f"{federation.title(name)} sent the two of them different contributions" for name in different]
    parts += [f"only the other one has that of {federation.title(name)}" for name in missing]
    return "; ".join(parts)
