"""One node against peers that lie, flood it or send nonsense: it notes little, and never stops."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.node.disk import audit
from mixbayes.node.disk.audit import Head
from mixbayes.node.disk.database import Database
from mixbayes.node.disk.datastore import COMPUTING_PARTY
from mixbayes.node.disk.heads import FOUND_CUT, NOTED
from mixbayes.node.disk.sealing import Seal
from mixbayes.node.log import logger
from mixbayes.node.witnessing import DAY, Statement, Witnessing, decode, encode
from mixbayes.wire.v1.node_pb2 import AuditHead, ReportRequest, RoundReport
from mixbayes.wire.v1.node_pb2 import Witness as Message
from tests.mixers.three_hospitals import Clock

PEER = "party north"
HASHES = st.binary(min_size=32, max_size=32).map(bytes.hex)
HEADS = st.builds(Head, st.integers(1, 2**63 - 1), HASHES)
EARLIER = st.builds(Head, st.integers(1, 2**63 - 1), HASHES | st.just(""))


class Node:
    """A node whose round was sealed, and its disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = Clock()
        self.sealed = 1
        self.said = io.StringIO()
        self.database = Database.open(folder, COMPUTING_PARTY, Seal(bytes(32)), "mixer a")
        log = logger("mixer a", self.said)
        self.witnessing = Witnessing(self.database, "mixer a", self.clock, lambda: self.sealed, log)

    def told(self, statement: Statement) -> RoundReport:
        request = ReportRequest()
        encode(statement, request.witness)
        return self.witnessing.answering(PEER, request, RoundReport())

    def verbs(self) -> list[str]:
        return [one.entry.verb for one in audit.entries(self.folder)]


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    made = Node(tmp_path / "a")
    yield made
    made.database.close()


def head(entries: int) -> Head:
    return Head(entries, f"{entries:064x}")


@given(st.builds(Statement, st.none() | HEADS, st.integers(0, 2**63 - 1), st.none() | EARLIER))
def test_what_is_said_comes_back_from_its_message(statement: Statement) -> None:
    message = Message()
    encode(statement, message)
    assert decode(Message.FromString(message.SerializeToString())) == statement


def test_nothing_to_say_is_said_too() -> None:
    request = ReportRequest()
    encode(Statement(), request.witness)
    assert ReportRequest.FromString(request.SerializeToString()).HasField("witness")


@pytest.mark.parametrize("digest", [b"", b"x", bytes(31), bytes(33)])
@pytest.mark.parametrize("entries", [0, 1, 2**64 - 1])
def test_what_is_no_head_counts_as_none(node: Node, entries: int, digest: bytes) -> None:
    said = Message(head=AuditHead(entries=entries, digest=digest), noted=2**64 - 1)
    node.witnessing.answering(PEER, ReportRequest(witness=said), RoundReport())
    assert NOTED not in node.verbs()
    assert "a mistake" not in node.said.getvalue()


def test_a_peer_that_says_nothing_gets_nothing(node: Node) -> None:
    assert not node.witnessing.answering(PEER, ReportRequest(), RoundReport()).HasField("witness")
    assert node.verbs() == []


def test_a_peer_that_gives_head_after_head_is_noted_once_a_round_and_once_a_day(node: Node) -> None:
    for entries in range(1, 20):
        node.told(Statement(head(entries), 0, head(entries - 1) if entries > 1 else None))
    assert node.verbs().count(NOTED) == 1
    node.clock.now += DAY
    for entries in range(20, 40):
        node.told(Statement(head(entries), 0, head(1)))
    assert node.verbs().count(NOTED) == 2
    node.sealed = 2
    node.told(Statement(head(50), 0, head(20)))
    assert node.verbs().count(NOTED) == 3


def test_a_peer_whose_trail_changes_at_every_call_is_found_once_a_round(node: Node) -> None:
    node.told(Statement(head(5)))
    for entries in range(6, 30):
        last = Head(entries - 1, "ab" * 32)
        node.told(Statement(head(entries), 0, Head(5, "ab" * 32) if entries == 6 else last))
    assert node.verbs().count(FOUND_CUT) == 1
    assert len(node.witnessing.findings()) == 1


def test_a_later_head_is_noted_only_after_the_earlier_one_was_shown(node: Node) -> None:
    node.told(Statement(head(5)))
    node.sealed = 2
    node.told(Statement(head(9)))
    node.told(Statement(head(9), 0, head(4)))
    assert node.verbs().count(NOTED) == 1
    node.told(Statement(head(9), 0, head(5)))
    assert node.verbs().count(NOTED) == 2
    assert node.witnessing.findings() == []


def test_a_trail_without_the_head_is_found(node: Node) -> None:
    node.told(Statement(head(5)))
    reply = node.told(Statement(None, 0, Head(5, "")))
    assert node.verbs().count(FOUND_CUT) == 1
    assert reply.witness.noted == 0
    assert "an audit trail is cut" in node.said.getvalue()


def test_a_peer_may_say_that_it_noted_what_never_was(node: Node) -> None:
    """It is shown as what that peer says; the trail does not grow by it."""
    before = len(node.verbs())
    for entries in range(1000, 1010):
        node.told(Statement(None, entries))
    assert len(node.verbs()) <= before + 1  # its own head
    assert [said for said in node.witnessing.findings() if said.startswith(f"{PEER} says that it noted 1009 entries")]


def test_a_disk_that_fails_stops_nothing(node: Node) -> None:
    node.database.close()
    reply = node.told(Statement(head(5)))
    assert not reply.witness.HasField("head")
    assert "noted no head" in node.said.getvalue()
