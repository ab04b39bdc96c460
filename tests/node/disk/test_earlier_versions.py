"""State folders that earlier versions wrote, as their dumps: the program reads them and goes on."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from mixbayes.agreement.agreement import Federation, federation_from
from mixbayes.node.disk import audit
from mixbayes.node.disk.database import Database
from mixbayes.node.disk.datastore import COMPUTING_PARTY, HOSPITAL, Datastore, Tables
from mixbayes.node.disk.heads import heads_in
from mixbayes.node.disk.schema import Schema
from mixbayes.node.disk.sealing import Seal
from mixbayes.node.rounds.rounds import Rounds
from mixbayes.node.rounds.state import CLOSED, COLLECTING, SERVING
from mixbayes.parties.with_mixers.contributing import Messages, Outbox
from mixbayes.privacy.coins import Coins
from mixbayes.privacy.loss import Release
from tests.mixers.three_hospitals import Clock

EARLIER = Path(__file__).parent / "earlier"
VERSIONS = "before-noise", "protocol-1"
"""The first one had one step of each kind of tables, the second one is the last before nodes noted heads."""
RUN = b"r" * 16
AGREEMENT_OF_PROTOCOL_1 = "956d60e987fe4c6146ed9b4baa068f67544715faa7421068d2d7be83ee644fd4"


def heart() -> Federation:
    return federation_from(
        {
            "name": "heart",
            "parties": [{"name": "north"}, {"name": "south"}],
            "mixers": [{"name": "a", "address": "127.0.0.1:4001"}, {"name": "b", "address": "127.0.0.1:4002"}],
            "policy": {"minimum": 2, "budget": 12, "rounds": 4},
            "dictionary": {
                "class_column": "class",
                "classes": ["no", "yes"],
                "attributes": [{"name": "colour", "kind": "nominal", "values": ["red", "blue"]}],
            },
        }
    )


def put_back(folder: Path, dump: str) -> Path:
    folder.mkdir()
    with closing(sqlite3.connect(folder / "state.sqlite")) as connection:
        connection.executescript((EARLIER / f"{dump}.sql").read_text())
    return folder


def opened(folder: Path, schema: Schema, title: str) -> Database:
    return Database.open(folder, schema, Seal(title.encode().ljust(32)), f"{title} of heart")


def test_an_agreement_has_the_digest_that_it_had() -> None:
    """Else every node would take the agreement for another one, and end its round when it is upgraded."""
    assert heart().digest() == AGREEMENT_OF_PROTOCOL_1


def test_a_mixer_serves_the_round_that_it_served_before(tmp_path: Path) -> None:
    folder = put_back(tmp_path / "a", "mixer-protocol-1")
    before = audit.verify(folder)
    with opened(folder, COMPUTING_PARTY, "mixer a") as database:
        rounds = Rounds(database, heart(), "mixer a", Clock())
        now = rounds.current()
        assert (now.number, now.state, set(now.contributions)) == (1, SERVING, {"north", "south"})
        assert rounds.model(1) == (RUN, b"a share of a model")
        assert rounds.last_sealed() == 1
    assert audit.verify(folder, before.head, before.count).sound


def test_a_mixer_of_the_first_tables_keeps_its_trail_and_begins_a_round_of_the_new_agreement(tmp_path: Path) -> None:
    folder = put_back(tmp_path / "a", "mixer-before-noise")
    before = audit.verify(folder)
    with opened(folder, COMPUTING_PARTY, "mixer a") as database:
        rounds = Rounds(database, heart(), "mixer a", Clock())
        assert rounds.replaced == 1
        assert (rounds.current().number, rounds.current().state) == (2, COLLECTING)
        with rounds.datastore.read() as tables:
            assert tables.releases() == []
    assert audit.verify(folder, before.head, before.count).sound
    with closing(sqlite3.connect(folder / "state.sqlite")) as connection:
        assert connection.execute("SELECT state FROM round WHERE number = 1").fetchone() == (CLOSED,)


@pytest.mark.parametrize(
    ("kind", "schema", "title"),
    [("mixer", COMPUTING_PARTY, "mixer a"), ("hospital", HOSPITAL, "party north")],
    ids=["mixer", "hospital"],
)
def test_noise_that_was_charged_before_coins_were_checked_stays_charged(
    tmp_path: Path, kind: str, schema: Schema, title: str
) -> None:
    folder = put_back(tmp_path / "old", f"{kind}-protocol-1")
    with closing(sqlite3.connect(folder / "state.sqlite")) as connection, connection:
        connection.execute("INSERT INTO noise VALUES ('old', 1, 'a set', '[4, 5, 27]', 14, NULL)")
    checked = Release(Coins((6, 6, 10, 15), 3), 14, 106)
    with opened(folder, schema, title) as database:
        ledger = Datastore(database, Tables, title, Clock())
        with ledger.write() as tables:
            tables.charge_noise("new", 1, "a set", checked, None)
        with ledger.read() as tables:
            assert set(tables.releases()) == {Release(Coins((4, 5, 27)), 14), checked}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_hospital_still_sends_what_a_mixer_has_not_acknowledged(tmp_path: Path, version: str) -> None:
    folder = put_back(tmp_path / "north", f"hospital-{version}")
    agreement = {"before-noise": "39bd8514208c0f1ab12f91de269561984988cfd7e4a959083182cf786e397b95"}
    with opened(folder, HOSPITAL, "party north") as database:
        outbox = Outbox(database, "party north", agreement.get(version, AGREEMENT_OF_PROTOCOL_1), Clock(), 4)
        assert outbox.due(1, lambda: Messages(bytes(16), b"", b"")) == {"b": b"to b"}
    assert audit.verify(folder).sound


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("kind", "schema", "title"),
    [("mixer", COMPUTING_PARTY, "mixer a"), ("hospital", HOSPITAL, "party north")],
    ids=["mixer", "hospital"],
)
def test_the_tables_become_those_of_a_new_folder(
    tmp_path: Path, version: str, kind: str, schema: Schema, title: str
) -> None:
    old = put_back(tmp_path / "old", f"{kind}-{version}")
    assert heads_in(old) is None
    for folder in (old, tmp_path / "new"):
        opened(folder, schema, title).close()
    assert tables_of(old) == tables_of(tmp_path / "new")


def tables_of(folder: Path) -> dict[str, set[tuple[object, ...]]]:
    """By table its columns: name, type, whether it may be empty, place in the key."""
    with closing(sqlite3.connect(folder / "state.sqlite")) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        columns = 'SELECT name, type, "notnull", pk FROM pragma_table_info(?)'
        return {name: set(connection.execute(columns, (name,))) for name in names}
