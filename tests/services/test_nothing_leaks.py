"""Unusual values are planted in a hospital's table and rows, and then looked for wherever they must not be:

in what the mixers receive and send, in every file that any node keeps, and in every line that any node logs.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mixbayes.mixers.store import Store
from mixbayes.node.disk.database import Database
from mixbayes.node.disk.datastore import COMPUTING_PARTY as SCHEMA
from mixbayes.node.rounds.rounds import Rounds
from mixbayes.protocol.bayes import public_rows
from mixbayes.protocol.channel import Buffer, Channel
from mixbayes.protocol.errors import MixbayesError
from mixbayes.tables.columns import Columns
from mixbayes.tables.counting import counted
from mixbayes.tables.encoding import encode_query
from mixbayes.transport import streams
from mixbayes.transport.streams import StreamWire
from mixbayes.wire.v1.node_pb2 import Column, Rows
from mixbayes.wire.v1.node_pb2_grpc import PartyStub
from tests.services.helpers import Site, make_site

VALUES = ("zyxwvut-planted-one", "qqqppp-planted-two", "kjhgfd-planted-three")
CLASSES = ("planted-class-alpha", "planted-class-omega")
DICTIONARY: dict[str, Any] = {
    "class_column": "outcome-planted",
    "classes": list(CLASSES),
    "attributes": [
        {"name": "gene-planted", "kind": "nominal", "values": list(VALUES)},
        {"name": "dose-planted", "kind": "numeric", "low": 0, "high": 1_000_000},
    ],
}
DOSE = 731_911.246_802
"""Of every patient of the hospital that is looked at. Six digits alone turn up in the times of a log."""
ASKED = 64
"""Rows. Of a few codes the bytes, each 0, 1 or 2, would now and then turn up among shares by chance."""


def planted(rows: int) -> Columns:
    random = np.random.default_rng(5)
    return Columns.of(
        ("gene-planted", "dose-planted", "outcome-planted"),
        (random.choice(VALUES, rows), np.full(rows, str(DOSE)), random.choice(CLASSES, rows)),
        rows,
    )


class Tap:
    """Keeps all application bytes that go through the wires of this process, by who is at the other end."""

    def __init__(self) -> None:
        self.kept: dict[str, bytearray] = {}
        self._lock = threading.Lock()

    def put(self, peer: str, data: bytes) -> None:
        with self._lock:
            self.kept.setdefault(peer, bytearray()).extend(data)


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> tuple[Site, Tap, Tap]:
    """A whole life of a federation; what was said while rows were hidden, and while they were shown."""
    private, public = Tap(), Tap()
    taps = [private]
    with pytest.MonkeyPatch.context() as patch:
        _listen(patch, taps)
        site = make_site(tmp_path_factory.mktemp("leaks") / "site", dictionary=DICTIONARY)
        site.tables |= {name: planted(37 + i) for i, name in enumerate(site.federation.names)}
        with site.mixers():
            site.serve()
            rows = planted(ASKED)
            assert set(site.labels("north", rows)) <= set(CLASSES)
            with site.hospital("south"):
                pass
            taps[0] = public
            assert set(site.labels("north", rows, private=False)) <= set(CLASSES)
    return site, private, public


def _listen(patch: pytest.MonkeyPatch, taps: list[Tap]) -> None:
    write, something = StreamWire.write, StreamWire._something

    def writing(wire: StreamWire, parts: Sequence[Buffer], step: str) -> None:
        for part in parts:
            taps[0].put(f"to {wire.peer}", bytes(streams._view(part)))
        write(wire, parts, step)

    def reading(wire: StreamWire, step: str, patience: float, latest: float) -> bytes:
        data = something(wire, step, patience, latest)
        taps[0].put(f"from {wire.peer}", data)
        return data

    receive = Store.receive

    def receiving(store: Store, hospital: str, message: bytes) -> object:
        taps[0].put(f"contribution of {hospital} to {store.rounds.me}", message)
        return receive(store, hospital, message)

    patch.setattr(Store, "receive", receiving)
    patch.setattr(StreamWire, "write", writing)
    patch.setattr(StreamWire, "_something", reading)


def words() -> list[bytes]:
    """As text, in the encodings in which it could have got somewhere."""
    texts = [*VALUES, *CLASSES, "gene-planted", "dose-planted", "outcome-planted", str(DOSE)]
    return [text.encode(encoding) for text in texts for encoding in ("utf-8", "utf-16-le", "utf-32-le")]


def numbers(site: Site) -> list[bytes]:
    """What a hospital counted, as words of memory, whole and two cells at a time; and each hospital's rows as codes."""
    layout, found = site.federation.layout, []
    for table in site.tables.values():
        vector = counted(layout, table).vector
        found += [vector.tobytes(), vector[:2].tobytes(), vector[-3:].tobytes()]
    total = np.stack([counted(layout, table).vector for table in site.tables.values()]).sum(axis=0, dtype=np.uint64)
    codes = encode_query(site.federation.dictionary, planted(ASKED)).codes
    return [
        *found,
        total.tobytes(),
        total[:2].tobytes(),
        codes.tobytes(),
        codes[0].astype(np.uint8).tobytes(),
    ]


def test_what_the_computing_parties_hear_while_rows_are_hidden(story: tuple[Site, Tap, Tap]) -> None:
    site, private, _ = story
    told = {f"contribution of {name} to mixer {mixer}" for name in site.federation.names for mixer in "ab"}
    assert told | {"to mixer a", "to mixer b", "from party north", "from mixer a", "from mixer b"} <= set(private.kept)
    for who, heard in private.kept.items():
        assert len(heard) > 50, who
        for word in words():
            assert word not in heard, who
        for number in numbers(site):
            assert number not in heard, who


def test_even_shown_rows_travel_as_codes_and_without_a_class(story: tuple[Site, Tap, Tap]) -> None:
    site, _, public = story
    for heard in public.kept.values():
        for word in words():
            assert word not in heard
    said = Said()
    public_rows.send(said, site.federation.layout, encode_query(site.federation.dictionary, planted(ASKED)).codes)
    assert any(said.message in heard for heard in public.kept.values()), "the tap hears"


class Said(Channel):
    """A channel that keeps what is said."""

    def __init__(self) -> None:
        self.message = b""

    def send(self, step: str, payload: Buffer) -> None:
        self.message += bytes(payload)


def test_files_of_all_nodes(story: tuple[Site, Tap, Tap]) -> None:
    site, *_ = story
    looked = 0
    for name in (*site.federation.names, "a", "b"):
        for file in site.state(name).rglob("*"):
            content = file.read_bytes() if file.is_file() else b""
            looked += len(content)
            for word in [*words(), *numbers(site)]:
                assert word not in content, file
    assert looked > 10_000


def test_a_mixer_with_its_own_key_finds_a_share_of_a_model_and_no_counts(story: tuple[Site, Tap, Tap]) -> None:
    """What its operator can open."""
    site, *_ = story
    for name in ("a", "b"):
        title = f"mixer {name}"
        with Database.open(site.state(name), SCHEMA, site.identity(name).seal, f"{title} of tumours") as database:
            rounds = Rounds(database, site.federation, title, lambda: 0.0)
            _, content = rounds.model(1)
        assert len(content) > 500
        for word in [*words(), *numbers(site)]:
            assert word not in content


def test_logs_of_all_nodes(story: tuple[Site, Tap, Tap]) -> None:
    site, *_ = story
    assert set(site.journals) >= {"a", "b", *site.federation.names}
    for name, journal in site.journals.items():
        said = journal.getvalue()
        for word in (*VALUES, *CLASSES, "gene-planted", "dose-planted", "outcome-planted", str(DOSE)):
            assert word not in said, name


def test_a_table_that_does_not_fit_is_told_to_its_owner_alone(story: tuple[Site, Tap, Tap], tmp_path: Path) -> None:
    """An application that sends a foreign value reads of it; the node's log does not say it."""
    site, *_ = story
    request = Rows(columns=[Column(name="gene-planted", cells=["foreign-planted"])])
    before = len(site.journals["north"].getvalue())
    with (
        site.mixers(),
        site.hospital("north") as node,
        site.dialled("north", "north", f"127.0.0.1:{node.port}") as own,
        pytest.raises(MixbayesError) as told,
    ):
        list(own.answers(PartyStub(own.channel).Classify, iter([request]), "classification"))
    assert "dose-planted" in str(told.value)
    said = site.journals["north"].getvalue()[before:]
    assert "refused" in said
    assert "planted" not in said
