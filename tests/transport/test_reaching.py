"""A network that lost whatever was sent, and is healed: the next call goes through, over a new connection."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from mixbayes.protocol.errors import PeerSilent
from mixbayes.simulation.outage import Outage
from mixbayes.transport import peer as peers
from mixbayes.transport import probe
from mixbayes.transport.errors import Unreachable
from mixbayes.transport.peer import Endpoint, Peer
from mixbayes.transport.watch import Watch
from tests.ports import free_port
from tests.transport.loopback import BACK_AND_FORTH, plain_bytes
from tests.transport.test_tls import MIXER, NORTH
from tests.transport.tls import node_server

HASTE, SOON, CALM = 0.5, 8.0, 30.0
"""`SOON` is before gRPC itself gives a dead connection up."""


@contextmanager
def dialled(outage: Outage, deadline: float) -> Iterator[Peer]:
    endpoint = Endpoint("mixer a", "a", f"127.0.0.1:{outage.port}")
    dialled = Peer(endpoint, lambda: NORTH, (), deadline, Watch(), probe.explain)
    try:
        yield dialled
    finally:
        dialled.close()


@contextmanager
def behind_outage() -> Iterator[Outage]:
    with node_server(MIXER) as address, Outage(int(address.rpartition(":")[2])) as outage:
        yield outage


def ask(peer: Peer, deadline: float = CALM) -> bytes:
    method = peer.channel.unary_unary(BACK_AND_FORTH, plain_bytes, plain_bytes)
    return peer.call(method, b"hello", "asking", deadline)


def test_a_dead_connection_is_replaced_by_the_call_after_the_one_that_it_kept_waiting() -> None:
    with behind_outage() as outage, dialled(outage, CALM) as peer:
        assert ask(peer) == b"hello"
        outage.lose()
        outage.heal()  # what was connected stays dead
        with pytest.raises(PeerSilent):
            ask(peer, HASTE)
        assert ask(peer, SOON) == b"hello"


def test_an_attempt_to_connect_that_hangs_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """gRPC's own one would for the rest of its time."""
    monkeypatch.setattr(probe, "PATIENCE", HASTE)
    monkeypatch.setattr(peers, "_DIAL_AGAIN", (("grpc.min_reconnect_backoff_ms", 60_000),))
    with behind_outage() as outage, dialled(outage, CALM) as peer:
        outage.lose()
        with pytest.raises(PeerSilent, match="accepts connections and says nothing"):
            ask(peer, HASTE)
        outage.heal()
        with pytest.raises(PeerSilent):
            ask(peer, HASTE)  # still over the connection that never came about
        assert ask(peer) == b"hello"


def test_a_call_that_fails_for_what_is_no_longer_true_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until gRPC dials again, it answers every call with its last failure."""
    monkeypatch.setattr(peers, "_DIAL_AGAIN", (("grpc.initial_reconnect_backoff_ms", 60_000),))
    with node_server(MIXER) as address:
        outage = Outage(int(address.rpartition(":")[2]), free_port())
        outage.close()
        with dialled(outage, CALM) as peer:
            with pytest.raises(Unreachable, match="nothing listens"):
                ask(peer)
            with Outage(int(address.rpartition(":")[2]), outage.port):
                assert ask(peer) == b"hello"


def test_a_request_in_pieces_is_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some of them may be gone; whoever made them makes them anew."""
    monkeypatch.setattr(peers, "_DIAL_AGAIN", (("grpc.initial_reconnect_backoff_ms", 60_000),))
    with node_server(MIXER) as address:
        outage = Outage(int(address.rpartition(":")[2]), free_port())
        outage.close()
        with dialled(outage, CALM) as peer:
            with pytest.raises(Unreachable, match="nothing listens"):
                ask(peer)
            method = peer.channel.stream_unary(BACK_AND_FORTH, plain_bytes, plain_bytes)
            with Outage(int(address.rpartition(":")[2]), outage.port):
                with pytest.raises(Unreachable, match="until just now"):
                    peer.call(method, iter([b"hello"]), "asking", CALM)
                assert ask(peer) == b"hello"


def test_a_connection_that_others_have_replaced_is_not_replaced_again() -> None:
    with behind_outage() as outage, dialled(outage, CALM) as peer:
        before = peer.channel.now()
        peer.channel.connect_anew(before)
        now = peer.channel.now()
        assert now is not before
        peer.channel.connect_anew(before)
        assert peer.channel.now() is now
