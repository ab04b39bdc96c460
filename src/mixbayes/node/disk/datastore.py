"""Every query of a node's tables, each with a name, and the one place where records become rows and back.

`Datastore` opens transactions: `RoundTables` is one of a computing party, `ContributionTables` one of a hospital with
mixers. Shares, models and messages are encrypted, each value for its own place, under a key that only the node has.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from sqlite3 import Connection
from typing import Any, Generic, TypeVar

from mixbayes.node.disk import audit
from mixbayes.node.disk.asked import BROKEN_QUESTIONS, LAST_QUESTION, AskedTables
from mixbayes.node.disk.database import Database
from mixbayes.node.disk.draws import CHECKED_DRAWS, DrawTables
from mixbayes.node.disk.schema import Schema
from mixbayes.node.disk.sealing import Seal, place
from mixbayes.node.disk.sqlite import looking
from mixbayes.node.privacy import GivenAway
from mixbayes.node.rounds.record import LEFT_OUT, Held, Inclusion, Round
from mixbayes.node.rounds.state import State
from mixbayes.privacy.coins import Coins
from mixbayes.privacy.loss import Release
from mixbayes.protocol.bayes.verdicts import KeptVerdict
from mixbayes.tables.private_release import PrivateRelease
from mixbayes.transport.errors import BadState

About = Mapping[str, int | str]
Clock = Callable[[], float]
"""Seconds since 1970."""

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
NOISE = """
CREATE TABLE noise (
    agreement TEXT NOT NULL,
    round INTEGER NOT NULL,
    contributions TEXT NOT NULL,
    coins TEXT NOT NULL,
    coordinates INTEGER NOT NULL,
    seed BLOB,
    PRIMARY KEY (agreement, round, contributions)
) STRICT;
"""
NOISY_COUNTS = "ALTER TABLE round ADD COLUMN counts BLOB;"
RECIPES = """
CREATE TABLE recipe_model (
    round INTEGER NOT NULL REFERENCES round,
    hospital TEXT NOT NULL,
    recipe TEXT NOT NULL,
    run BLOB NOT NULL,
    model BLOB NOT NULL,
    PRIMARY KEY (round, hospital, recipe)
) STRICT;
"""
BEST = """
CREATE TABLE best (
    agreement TEXT PRIMARY KEY,
    recipe TEXT NOT NULL
) STRICT;
"""
ASIDE = """
CREATE TABLE aside (
    round INTEGER NOT NULL REFERENCES round,
    hospital TEXT NOT NULL,
    id BLOB NOT NULL,
    share BLOB NOT NULL,
    PRIMARY KEY (round, hospital)
) STRICT;
"""
VERDICTS = """
ALTER TABLE contribution ADD COLUMN openings INTEGER NOT NULL DEFAULT 0;
ALTER TABLE contribution ADD COLUMN holds INTEGER;
"""
OWN_RELEASES = """
CREATE TABLE own_release (
    id BLOB PRIMARY KEY,
    epsilon REAL NOT NULL,
    delta REAL NOT NULL
) STRICT;
"""
KNOWN = """
ALTER TABLE noise ADD COLUMN known INTEGER NOT NULL DEFAULT 0;
ALTER TABLE noise ADD COLUMN numbers INTEGER NOT NULL DEFAULT 0;
"""
COMPUTING_PARTY = Schema(
    "computing party",
    (
        ROUNDS,
        NOISE + NOISY_COUNTS,
        RECIPES + BEST,
        ASIDE,
        BROKEN_QUESTIONS + LAST_QUESTION,
        OWN_RELEASES,
        KNOWN + CHECKED_DRAWS + VERDICTS,
    ),
)
JOINT_TEST = "joint test"
"""With this begins what the table `noise` says of contributions, where the noise is that of a joint test."""

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
COUNTED = """
CREATE TABLE counted (
    agreement TEXT NOT NULL,
    round INTEGER NOT NULL,
    digest BLOB NOT NULL,
    PRIMARY KEY (agreement, round)
) STRICT;
"""
DRAWN = """
CREATE TABLE drawn (
    agreement TEXT NOT NULL,
    mixer TEXT NOT NULL,
    last INTEGER NOT NULL,
    lost INTEGER NOT NULL,
    PRIMARY KEY (agreement, mixer)
) STRICT;
"""
HOSPITAL = Schema("party", (OUTBOX, NOISE, COUNTED + BEST, LAST_QUESTION, DRAWN, OWN_RELEASES, KNOWN))


class Tables:
    """One transaction at a node with the title `me`: what every node has is the audit trail and encrypted values."""

    def __init__(self, connection: Connection, seal: Seal, me: str, clock: Clock) -> None:
        self._connection = connection
        self._seal = seal
        self._me = me
        self._clock = clock

    def note(self, actor: str, verb: str, subject: str, about: About) -> audit.Head:
        """An audit entry of what this transaction does. Returns the end of the trail after it."""
        now = datetime.fromtimestamp(self._clock(), UTC)
        return audit.append(self._connection, audit.Entry(now, self._me, actor, verb, subject, about))

    # Noise: what was drawn, at this node, under whatever agreements.

    def noise_charged(self, agreement: str, number: int, contributions: str) -> bool:
        """Whether the noise of this set of contributions is charged."""
        query = "SELECT 1 FROM noise WHERE agreement = ? AND round = ? AND contributions = ?"
        return self._one(query, agreement, number, contributions) is not None

    def releases(self) -> list[Release]:
        """All noise that is charged."""
        rows = self._all(
            "SELECT coins, known, coordinates, numbers FROM noise WHERE coordinates > 0"
            " ORDER BY agreement, round, contributions"
        )
        return [Release(Coins(tuple(json.loads(coins)), known), *touched) for coins, known, *touched in rows]

    def given_away(self) -> GivenAway:
        """Everything that is charged."""
        own = self._all("SELECT id, epsilon, delta FROM own_release ORDER BY rowid")
        return GivenAway(tuple(self.releases()), tuple(PrivateRelease(*row) for row in own))

    def add_own_release(self, release: PrivateRelease) -> None:
        """Charge what a hospital released of its own table."""
        self._do("INSERT INTO own_release VALUES (?, ?, ?)", release.id, release.epsilon, release.delta)

    def charge_noise(
        self, agreement: str, number: int, contributions: str, release: Release | None, seed: bytes | None
    ) -> None:
        """`seed` is that of a computing party's own half of the coins; a hospital with mixers has none.

        Without a release the noise is noted, and costs this node's patients nothing: an own release of its table was
        counted, which is charged by itself.
        """
        sealed = None if seed is None else self._seal.close(seed, _place_of_seed(agreement, number, contributions))
        coins = json.dumps(release.coins.counts if release else [])
        self._do(
            "INSERT INTO noise (agreement, round, contributions, coins, coordinates, seed, known, numbers)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            agreement,
            number,
            contributions,
            coins,
            release.coordinates if release else 0,
            sealed,
            release.coins.known if release else 0,
            release.numbers if release else 0,
        )

    def noise_charges(self, agreement: str) -> int:
        """How many releases of counts are charged under this agreement."""
        query = "SELECT COUNT(*) FROM noise WHERE agreement = ? AND contributions NOT LIKE ?"
        return int(self._one(query, agreement, f"{JOINT_TEST}%")[0])

    def noise_for_nothing(self, agreement: str) -> bool:
        """Whether some noise under this agreement is noted without a release."""
        return self._one("SELECT 1 FROM noise WHERE agreement = ? AND coordinates = 0", agreement) is not None

    def delete_seeds(self) -> None:
        """Of all rounds: whoever had both parties' seeds later could take the noise away. What is charged stays."""
        self._do("UPDATE noise SET seed = NULL")
        self._do("DELETE FROM draw")

    def coin_seed(self, agreement: str, number: int, contributions: str) -> bytes | None:
        """The seed of this party's half of the coins for this set; nothing if they were never charged."""
        query = "SELECT seed FROM noise WHERE agreement = ? AND round = ? AND contributions = ?"
        row = self._one(query, agreement, number, contributions)
        return self._seal.open(row[0], _place_of_seed(agreement, number, contributions)) if row and row[0] else None

    def draw(self, agreement: str, number: int, contributions: str) -> DrawTables:
        """What is written down of the draw of this set's noise."""
        return DrawTables(self._connection, self._seal, agreement, number, contributions)

    @property
    def asked(self) -> AskedTables:
        """Questions and answers."""
        return AskedTables(self._connection, self._seal)

    # A hospital's best recipe

    def put_best(self, agreement: str, recipe: str) -> None:
        """What `best` stands for from now on."""
        self._do("INSERT OR REPLACE INTO best VALUES (?, ?)", agreement, recipe)

    def best(self, agreement: str) -> str | None:
        row = self._one("SELECT recipe FROM best WHERE agreement = ?", agreement)
        return row and row[0]

    def _one(self, query: str, *values: object) -> Any:
        """The first row, or None."""
        return self._connection.execute(query, values).fetchone()

    def _all(self, query: str, *values: object) -> list[Any]:
        return self._connection.execute(query, values).fetchall()

    def _do(self, statement: str, *values: object) -> int:
        """The number of rows that it changed."""
        return self._connection.execute(statement, values).rowcount


AnyTables = TypeVar("AnyTables", bound=Tables)


class Datastore(Generic[AnyTables]):
    """The tables of one node, by transactions of this kind."""

    def __init__(self, database: Database, kind: type[AnyTables], me: str, clock: Clock) -> None:
        self.database = database
        self._kind = kind
        self._me = me
        self._clock = clock

    @contextmanager
    def write(self) -> Iterator[AnyTables]:
        """One transaction, alone: on the disk as a whole when the block ends, and not at all when it raises."""
        with self.database.write() as connection:
            yield self._kind(connection, self.database.seal, self._me, self._clock)

    @contextmanager
    def read(self) -> Iterator[AnyTables]:
        """What was last committed."""
        with self.database.read() as connection:
            yield self._kind(connection, self.database.seal, self._me, self._clock)

    def empty_log(self) -> None:
        """See `Database.empty_log`."""
        self.database.empty_log()


class RoundTables(Tables):
    """A computing party's transaction: rounds, contributions and models."""

    # Rounds

    def last_round(self) -> Round:
        return _last_round(self._connection, self._me)

    def last_state(self) -> Round:
        """The same without its contributions, of which there may be thousands: for what only asks for the state."""
        return _last_state(self._connection, self._me)

    def last_agreement(self) -> str | None:
        """The agreement of the last round, or None if there was no round."""
        row = self._one("SELECT agreement FROM round ORDER BY number DESC LIMIT 1")
        return row and row[0]

    def add_round(self, new: Round, agreement: str) -> None:
        self._do(
            "INSERT INTO round (number, agreement, state, opened) VALUES (?, ?, ?, ?)",
            new.number,
            agreement,
            new.state.value,
            new.opened,
        )

    def save_round(self, before: Round, after: Round) -> None:
        """Write down what an event has changed in a record."""
        self._do(
            "UPDATE round SET state = ?, reason = ?, run = ? WHERE number = ?",
            after.state.value,
            after.reason,
            after.run,
            after.number,
        )
        for name, held in after.contributions.items():
            if held != before.contributions[name]:
                self._do(
                    "UPDATE contribution SET verdict = ? WHERE round = ? AND hospital = ?",
                    held.verdict.value,
                    after.number,
                    name,
                )

    def count_as_sealed(self, number: int) -> None:
        """The round counts among those that the agreement allows."""
        self._do("UPDATE round SET sealed = 1 WHERE number = ?", number)

    def sealed_rounds(self, agreement: str) -> int:
        """The number of rounds that were sealed under this agreement."""
        return int(self._one("SELECT COUNT(*) FROM round WHERE agreement = ? AND sealed", agreement)[0])

    def last_sealed(self) -> int:
        """The number of the last round that was sealed under any agreement, or 0."""
        return int(self._one("SELECT COALESCE(MAX(number), 0) FROM round WHERE sealed")[0])

    def trainings(self, number: int) -> int:
        """How often a training of the round was begun."""
        return int(self._one("SELECT trainings FROM round WHERE number = ?", number)[0])

    def count_training(self, number: int) -> None:
        self._do("UPDATE round SET trainings = trainings + 1 WHERE number = ?", number)

    # Models

    def put_model(self, number: int, model: bytes) -> None:
        self._do("UPDATE round SET model = ? WHERE number = ?", self._close_model(number, model), number)

    def model(self, number: int) -> tuple[bytes, bytes] | None:
        """Which training the round's model comes from, and the model."""
        row = self._one("SELECT run, model FROM round WHERE number = ?", number)
        if not row or row[1] is None:
            return None
        return row[0], self._seal.open(row[1], place("round", "model", number))

    def delete_model(self, number: int) -> None:
        """Also the models of recipes, and the joint counts."""
        self._do("UPDATE round SET model = NULL, counts = NULL WHERE number = ?", number)
        self._do("DELETE FROM recipe_model WHERE round = ?", number)

    def put_recipe_model(self, number: int, hospital: str, recipe: str, run: bytes, model: bytes) -> None:
        """A hospital's own model; it takes the place of an earlier one of the same recipe."""
        sealed = self._seal.close(model, _place_of_recipe(number, hospital, recipe))
        self._do("INSERT OR REPLACE INTO recipe_model VALUES (?, ?, ?, ?, ?)", number, hospital, recipe, run, sealed)

    def recipe_model(self, number: int, hospital: str, recipe: str) -> tuple[bytes, bytes] | None:
        """Which training the model comes from, and the model."""
        query = "SELECT run, model FROM recipe_model WHERE round = ? AND hospital = ? AND recipe = ?"
        row = self._one(query, number, hospital, recipe)
        return row and (row[0], self._seal.open(row[1], _place_of_recipe(number, hospital, recipe)))

    def put_counts(self, number: int, counts: bytes) -> None:
        """This party's share of the noisy counts, or these themselves where they are given to hospitals."""
        self._do(
            "UPDATE round SET counts = ? WHERE number = ?", self._seal.close(counts, _place_of_counts(number)), number
        )

    def counts(self, number: int) -> bytes | None:
        row = self._one("SELECT counts FROM round WHERE number = ?", number)
        return self._seal.open(row[0], _place_of_counts(number)) if row and row[0] is not None else None

    def _close_model(self, number: int, model: bytes) -> bytes:
        return self._seal.close(model, place("round", "model", number))

    # Rows that hospitals keep aside, for the joint test

    def put_aside(self, number: int, hospital: str, id: bytes, share: bytes) -> None:
        """This party's share of the totals of a hospital's rows, in the place of one of an earlier question."""
        sealed = self._seal.close(share, _place_of_aside(number, hospital, id))
        self._do("INSERT OR REPLACE INTO aside VALUES (?, ?, ?, ?)", number, hospital, id, sealed)

    def aside_ids(self, number: int) -> dict[str, bytes]:
        """By hospital the question in which it gave its rows."""
        return dict(self._all("SELECT hospital, id FROM aside WHERE round = ?", number))

    def aside(self, number: int) -> dict[str, bytes]:
        """By hospital this party's share of the totals of its rows."""
        rows = self._all("SELECT hospital, id, share FROM aside WHERE round = ?", number)
        return {name: self._seal.open(share, _place_of_aside(number, name, id)) for name, id, share in rows}

    def delete_aside(self, number: int) -> None:
        self._do("DELETE FROM aside WHERE round = ?", number)

    # Contributions

    def contributions(self, number: int) -> dict[str, Held]:
        """By hospital."""
        return _contributions(self._connection, number)

    def inclusion(self, number: int, hospital: str) -> Inclusion | None:
        """What became of this hospital's contribution, if this party holds one."""
        row = self._one("SELECT verdict FROM contribution WHERE round = ? AND hospital = ?", number, hospital)
        return Inclusion(row[0]) if row else None

    def messages(self, number: int) -> dict[str, bytes]:
        """What the hospitals sent that are not left out, by hospital."""
        found = self._all(
            "SELECT hospital, message FROM contribution WHERE round = ? AND verdict <> ?", number, LEFT_OUT.value
        )
        return {name: self._seal.open(message, _place_of_message(number, name)) for name, message in found}

    def message_tag(self, number: int, hospital: str) -> bytes | None:
        """The tag of the message that this hospital sent, or None if it sent none."""
        row = self._one("SELECT digest FROM contribution WHERE round = ? AND hospital = ?", number, hospital)
        return row and row[0]

    def tag_of(self, message: bytes) -> bytes:
        """A tag under this node's key: with a plain digest of a share the other party could test guesses."""
        return self._seal.tag(message)

    def add_contribution(self, number: int, hospital: str, held: Held, message: bytes) -> None:
        self._do(
            "INSERT INTO contribution (round, hospital, id, digest, message, verdict) VALUES (?, ?, ?, ?, ?, ?)",
            number,
            hospital,
            held.id,
            self.tag_of(message),
            self._seal.close(message, _place_of_message(number, hospital)),
            held.verdict.value,
        )

    def was_contributed(self, hospital: str, id: bytes) -> bool:
        """Whether this hospital has sent a contribution with this id, to whatever round."""
        return self._one("SELECT 1 FROM contribution WHERE hospital = ? AND id = ?", hospital, id) is not None

    def verdicts(self, number: int) -> dict[str, KeptVerdict]:
        """By hospital, how often the verdict on its contribution was opened, and what it is."""
        rows = self._all("SELECT hospital, openings, holds FROM contribution WHERE round = ?", number)
        return {name: KeptVerdict(openings, None if holds is None else bool(holds)) for name, openings, holds in rows}

    def count_opening(self, number: int, hospital: str, most: int) -> bool:
        """The verdict is opened once more. False if it was opened so often already."""
        statement = "UPDATE contribution SET openings = openings + 1 WHERE round = ? AND hospital = ? AND openings < ?"
        return bool(self._do(statement, number, hospital, most))

    def keep_verdict(self, number: int, hospital: str, holds: bool) -> bool:
        """False if another verdict is kept, which stays."""
        statement = "UPDATE contribution SET holds = ? WHERE round = ? AND hospital = ? AND holds IS NOT ?"
        return bool(self._do(statement, int(holds), number, hospital, int(not holds)))

    def delete_messages(self, number: int) -> None:
        """The contributions' ids, tags and verdicts stay."""
        self._do("UPDATE contribution SET message = x'' WHERE round = ?", number)


class ContributionTables(Tables):
    """A transaction of a hospital with mixers: what it sends to each of them, by agreement and round."""

    def put_counted(self, agreement: str, number: int, counts: bytes) -> None:
        """A tag of what this hospital has contributed to the round."""
        self._do("INSERT OR REPLACE INTO counted VALUES (?, ?, ?)", agreement, number, self._seal.tag(counts))

    def counted_otherwise(self, agreement: str, counts: bytes) -> bool:
        """Whether other counts than these were contributed to some round under this agreement."""
        query = "SELECT 1 FROM counted WHERE agreement = ? AND digest <> ?"
        return self._one(query, agreement, self._seal.tag(counts)) is not None

    def same_counted(self, agreement: str, number: int, counts: bytes) -> bool:
        """Whether these are the counts that were contributed to the round."""
        row = self._one("SELECT digest FROM counted WHERE agreement = ? AND round = ?", agreement, number)
        return row is not None and row[0] == self._seal.tag(counts)

    def has_contribution(self, agreement: str, number: int) -> bool:
        return self._one("SELECT 1 FROM outbox WHERE agreement = ? AND round = ?", agreement, number) is not None

    def add_message(self, agreement: str, number: int, mixer: str, id: bytes, message: bytes) -> None:
        """One mixer's message of the contribution with this id."""
        sealed = self._seal.close(message, _place_in_outbox(agreement, number, mixer))
        self._do(
            "INSERT INTO outbox (agreement, round, mixer, id, message) VALUES (?, ?, ?, ?, ?)",
            agreement,
            number,
            mixer,
            id,
            sealed,
        )

    def due_messages(self, agreement: str, number: int) -> dict[str, bytes]:
        """What is not acknowledged, by mixer."""
        rows = self._all(
            "SELECT mixer, message FROM outbox WHERE agreement = ? AND round = ? AND NOT acknowledged AND NOT sealed",
            agreement,
            number,
        )
        return {mixer: self._seal.open(sealed, _place_in_outbox(agreement, number, mixer)) for mixer, sealed in rows}

    def all_acknowledged(self, agreement: str, number: int) -> bool:
        query = "SELECT 1 FROM outbox WHERE agreement = ? AND round = ? AND NOT acknowledged"
        return self._one(query, agreement, number) is None

    def acknowledge(self, agreement: str, number: int, mixer: str, id: bytes) -> bool:
        """Whether there is such a message."""
        return bool(
            self._do(
                "UPDATE outbox SET acknowledged = 1 WHERE agreement = ? AND round = ? AND mixer = ? AND id = ?",
                agreement,
                number,
                mixer,
                id,
            )
        )

    def delete_messages(self, agreement: str, number: int) -> None:
        """The contribution's id stays."""
        self._do("UPDATE outbox SET message = NULL WHERE agreement = ? AND round = ?", agreement, number)

    def count_as_sealed(self, agreement: str, number: int) -> None:
        """The round counts among those that the agreement allows."""
        self._do("UPDATE outbox SET sealed = 1 WHERE agreement = ? AND round = ?", agreement, number)

    def sealed_rounds(self, agreement: str) -> int:
        """The number of sealed rounds to which this hospital has a contribution."""
        query = "SELECT COUNT(DISTINCT round) FROM outbox WHERE agreement = ? AND sealed"
        return int(self._one(query, agreement)[0])

    def put_drawn(self, agreement: str, mixer: str, charges: int) -> None:
        """How often this mixer says that it has charged noise. One that says less than before has lost its ledger: what
        it had charged still counts."""
        row = self._one("SELECT last, lost FROM drawn WHERE agreement = ? AND mixer = ?", agreement, mixer)
        last, lost = row or (0, 0)
        lost += max(0, last - charges)
        self._do("INSERT OR REPLACE INTO drawn VALUES (?, ?, ?, ?)", agreement, mixer, charges, lost)

    def drawn(self, agreement: str) -> dict[str, int]:
        """By mixer, how often it has charged noise under this agreement, as far as it ever said so."""
        return dict(self._all("SELECT mixer, last + lost FROM drawn WHERE agreement = ?", agreement))

    def last_sealed(self) -> int:
        """The number of the last sealed round, under any agreement, to which this hospital has a contribution; or 0."""
        return int(self._one("SELECT COALESCE(MAX(round), 0) FROM outbox WHERE sealed")[0])


@dataclass(frozen=True)
class Owner:
    """Whose tables lie in a folder, which key closed them, and how long their audit trail is."""

    kind: str
    owner: str
    key: str
    """The fingerprint of the state key."""
    records: int


def owner_of(folder: Path) -> Owner | None:
    """Read beside a node that may be running; None if no node made these tables."""
    with looking(folder) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        if "about" not in tables:
            return None
        records = connection.execute("SELECT count(*) FROM audit").fetchone()[0]
        kind, owner, key = connection.execute("SELECT kind, owner, key FROM about").fetchone()
        return Owner(kind, owner, key, records)


def last_round_in(folder: Path) -> Round:
    """A computing party's last round, read beside the node that may be running."""
    with looking(folder) as connection:
        return _last_round(connection)


def _last_round(connection: Connection, at: str = "") -> Round:
    found = _last_state(connection, at)
    return replace(found, contributions=_contributions(connection, found.number))


def _last_state(connection: Connection, at: str) -> Round:
    row = connection.execute(
        "SELECT number, state, reason, opened, run FROM round ORDER BY number DESC LIMIT 1"
    ).fetchone()
    if not row:
        raise BadState("The state folder holds no round. Put it aside and take part in a new round with an empty one.")
    number, state, reason, opened, run = row
    return Round(number, State(state), reason, opened, run, at=at)


def _contributions(connection: Connection, number: int) -> dict[str, Held]:
    rows = connection.execute("SELECT hospital, id, verdict FROM contribution WHERE round = ?", (number,))
    return {name: Held(id, Inclusion(verdict)) for name, id, verdict in rows}


def _place_of_message(number: int, hospital: str) -> str:
    return place("contribution", "message", number, hospital)


def _place_in_outbox(agreement: str, number: int, mixer: str) -> str:
    return place("outbox", "message", agreement, number, mixer)


def _place_of_seed(agreement: str, number: int, contributions: str) -> str:
    return place("noise", "seed", agreement, number, contributions)


def _place_of_recipe(number: int, hospital: str, recipe: str) -> str:
    return place("recipe_model", "model", number, hospital, recipe)


def _place_of_aside(number: int, hospital: str, id: bytes) -> str:
    return place("aside", "share", number, hospital, id.hex())


def _place_of_counts(number: int) -> str:
    return place("round", "counts", number)
