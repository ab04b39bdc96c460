"""Two hospitals alone, as nodes on loopback: what they do when the other one is away, silent, or another."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest

from mixbayes.node.rounds.state import COLLECTING
from mixbayes.node.serving import dialling
from mixbayes.node.serving.greeting import greeting
from mixbayes.parties.alone import node as partner_node
from mixbayes.protocol.errors import MixbayesError, PeerGone, PeerSilent
from mixbayes.transport.errors import TooEarly, Unreachable
from mixbayes.wire.v1.node_pb2 import Rows
from tests.services.couple import NORTH, OTHER, SOUTH, Couple, both, make_couple
from tests.services.helpers import HASTE, PATIENCE, Relay, hurry, left_over, wait_until


@both
def test_nobody_there_yet(couple: Couple, name: str) -> None:
    with couple.node(name):
        status = couple.status(name)
        assert (status.state, status.contributed, status.missing) == (COLLECTING, [name], [OTHER[name]])
        with pytest.raises(TooEarly, match=f"party {OTHER[name]} has not contributed yet") as caught:
            couple.labels(name)
    assert caught.value.exit_code == 4


def test_an_application_that_asks_nothing_is_broken_off(tmp_path: Path) -> None:
    couple, over = make_couple(tmp_path / "site", policy={"timeout": HASTE}), threading.Event()

    def nothing() -> Iterator[Rows]:
        over.wait()
        yield from ()

    with couple.node(NORTH), couple.desk(NORTH) as desk:
        call = desk._stub.Classify(nothing(), metadata=greeting(couple.site.federation), timeout=PATIENCE)
        with pytest.raises(grpc.RpcError) as ended:
            next(call)
        over.set()
    assert ended.value.code() is grpc.StatusCode.CANCELLED


def test_the_dialler_says_why_the_other_one_is_missing(couple: Couple) -> None:
    with couple.node(SOUTH):
        wait_until(lambda: "party north" in couple.status(SOUTH).reason, "south says what it waits for")
        assert "nothing listens" in couple.status(SOUTH).reason


@pytest.mark.parametrize(("name", "kind"), [(NORTH, PeerGone), (SOUTH, Unreachable)], ids=[NORTH, SOUTH])
def test_the_other_one_is_gone(tmp_path: Path, name: str, kind: type[MixbayesError]) -> None:
    couple = make_couple(tmp_path / "site")
    with couple.node(name):
        with couple.node(OTHER[name]):
            couple.serve()
            couple.labels(name)
        left = couple.status(name).budget_left
        with pytest.raises(kind, match=rf"^party {OTHER[name]}, at ") as caught:
            couple.labels(name)
        assert caught.value.exit_code == 3
        assert couple.status(name).budget_left == left  # nothing was asked
        with couple.node(OTHER[name]):
            assert couple.labels(name) == couple.due()


@contextmanager
def relayed(monkeypatch: pytest.MonkeyPatch, couple: Couple) -> Iterator[Relay]:
    """Between the two nodes, but not between them and their applications."""
    address = couple.site.federation.party(NORTH).address
    assert address
    with Relay(int(address.split(":")[1])) as relay:
        really = partner_node.dial
        monkeypatch.setattr(partner_node, "dial", partial(really, address=relay.address))
        try:
            yield relay
        finally:
            relay.thaw()


@both
def test_the_other_one_falls_silent(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    couple = make_couple(tmp_path / "site")
    with relayed(monkeypatch, couple) as relay, couple.nodes():
        couple.serve()
        couple.labels(name)
        relay.freeze_after(0)
        with monkeypatch.context() as patch:
            hurry(patch, f"party {OTHER[name]}")
            with pytest.raises(PeerSilent, match=rf"^party {OTHER[name]}, at ") as caught:
                couple.labels(name)
        assert caught.value.exit_code == 4
        relay.thaw()
        wait_until(lambda: _answers(couple, name), f"party {name} can ask again")


def _answers(couple: Couple, name: str) -> bool:
    try:
        return couple.labels(name) == couple.due()
    except MixbayesError:
        return False


@both
def test_a_connection_that_breaks_comes_back(couple: Couple, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question that has not begun does not even notice."""
    with relayed(monkeypatch, couple) as relay, couple.nodes():
        couple.serve()
        for _ in range(3):
            relay.cut()
            assert couple.labels(name, private=False) == couple.due()
    assert len(couple.asked(name)) == 3


def test_conversations_that_broke_take_no_place_for_ever(couple: Couple, monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(threading.enumerate())
    with relayed(monkeypatch, couple) as relay, couple.nodes():
        couple.serve()
        for _ in range(10):
            relay.cut()
            couple.labels(SOUTH, private=False)
        assert couple.labels(NORTH, private=False) == couple.due()
        wait_until(lambda: sum("conversation" in name for name in left_over(before)) <= 2, "each asks in one")
    assert not couple.site.journals[NORTH].says("conversations open already")


@pytest.mark.parametrize(
    ("changes", "part"),
    [({"policy": {"budget": 77}}, "policy"), ({"dictionary": {"max_rows": 1000}}, "dictionary")],
    ids=["policy", "dictionary"],
)
def test_a_partner_with_another_agreement(couple: Couple, changes: dict[str, Any], part: str) -> None:
    other = Couple(couple.site.other(**changes))
    with couple.node(NORTH), other.node(SOUTH):
        wait_until(lambda: part in other.status(SOUTH).reason, "south says what differs")
        reason = other.status(SOUTH).reason
        assert "party north, at greeting: " in reason
        assert f"they differ in the {part}" in reason
        assert other.status(SOUTH).state == couple.status(NORTH).state == COLLECTING
        assert couple.site.journals[NORTH].says("refused", "party south", part)
        assert couple.status(NORTH).missing == [SOUTH]


def test_a_partner_of_another_version(couple: Couple, monkeypatch: pytest.MonkeyPatch) -> None:
    really = dialling.greeting

    def greeting(federation: Any) -> Any:
        return tuple((key, "99" if key.startswith("mixbayes-protocol") else value) for key, value in really(federation))

    with couple.node(NORTH):
        with monkeypatch.context() as patched:
            patched.setattr(dialling, "greeting", greeting)
            south = couple.node(SOUTH)
            south.__enter__()
        try:
            wait_until(lambda: "protocol 99" in couple.status(SOUTH).reason, "south says what differs")
            assert "Upgrade party north, which is the older one" in couple.status(SOUTH).reason
        finally:
            south.__exit__(None, None, None)
