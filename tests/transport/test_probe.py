"""Why a connection does not come about: for each cause a sentence of its own, in bounded time."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, closing

import grpc
import pytest

from mixbayes.protocol.errors import PeerSilent
from mixbayes.transport import probe
from mixbayes.transport.errors import Unreachable
from mixbayes.transport.peer import Endpoint, Peer
from mixbayes.transport.probe import Silence, explain
from mixbayes.transport.tls import Credentials
from mixbayes.transport.watch import Watch
from mixbayes.wire.v1.node_pb2 import ReportRequest
from mixbayes.wire.v1.node_pb2_grpc import MixerStub
from tests.ports import free_port
from tests.transport.loopback import serving
from tests.transport.strangers import be_silent_for, hanging_up, listening, plain_http, silence, tls_and_then_silence
from tests.transport.tls import DAY, TODAY, credentials, issuer, node_server

AUTHORITY, OTHER = issuer(), issuer()
MIXER = credentials(AUTHORITY, "a")
NORTH = credentials(AUTHORITY, "north")


PATIENCE = 60.0
HASTE = 0.6
"""Seconds for what ends in nothing but silence."""


@pytest.fixture(autouse=True)
def calm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "PATIENCE", PATIENCE)
    for name in ("grpc_proxy", "https_proxy", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_nothing_is_wrong() -> None:
    with node_server(MIXER) as address:
        assert explain(address, "a", NORTH) is None


PEERS: dict[str, tuple[Callable[[], AbstractContextManager[str]], str]] = {
    "silence": (lambda: listening(silence), "accepts connections and says nothing"),
    "TLS and then silence": (lambda: listening(tls_and_then_silence(MIXER)), "speaks TLS and then says nothing"),
    "plain HTTP": (lambda: listening(plain_http), "does not speak TLS"),
    "hanging up": (lambda: listening(hanging_up), "hangs up during the greeting"),
    "TLS 1.2": (lambda: listening(tls_and_then_silence(MIXER, only_1_2=True)), "does not speak TLS 1.3"),
    "another authority": (
        lambda: node_server(credentials(OTHER, "a", trusting=AUTHORITY)),
        "is not signed by the authority in this node's authority.pem",
    ),
    "expired": (lambda: node_server(credentials(AUTHORITY, "a", TODAY - 3 * DAY, TODAY - DAY)), "has expired"),
    "too early": (
        lambda: node_server(credentials(AUTHORITY, "a", TODAY + DAY, TODAY + 2 * DAY)),
        "is not valid yet: compare both clocks",
    ),
    "another name": (lambda: node_server(credentials(AUTHORITY, "b")), "is not for 'a'"),
}


@pytest.mark.parametrize("peer", PEERS)
def test_the_peer(peer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if peer == "silence":
        monkeypatch.setattr(probe, "PATIENCE", HASTE)
    if peer == "TLS and then silence":
        be_silent_for(HASTE, monkeypatch)
    made, words = PEERS[peer]
    with made() as address:
        said = explain(address, "a", NORTH)
    assert said is not None
    assert words in said
    assert address in said


OWN: dict[str, tuple[Credentials, str]] = {
    "another authority": (credentials(OTHER, "north", trusting=AUTHORITY), "it trusts another authority"),
    "expired": (credentials(AUTHORITY, "north", TODAY - 3 * DAY, TODAY - DAY), "this node's certificate"),
    "too early": (credentials(AUTHORITY, "north", TODAY + DAY, TODAY + 2 * DAY), "this node's certificate"),
}


@pytest.mark.parametrize("what", OWN)
def test_this_nodes_own_certificate(what: str) -> None:
    own, words = OWN[what]
    with node_server(MIXER) as address:
        said = explain(address, "a", own)
    assert said is not None
    assert words in said


def test_plain_gRPC_does_not_speak_TLS() -> None:
    with serving(grpc.unary_unary_rpc_method_handler(lambda request, context: request)) as port:
        said = explain(f"127.0.0.1:{port}", "a", NORTH) or ""
        assert "does not speak TLS" in said or "perhaps it speaks no TLS" in said


def test_nothing_listens() -> None:
    address = f"127.0.0.1:{free_port()}"
    assert explain(address, "a", NORTH) == f"nothing listens at {address}"


def test_an_unknown_host() -> None:
    assert explain("mixer.invalid:8443", "a", NORTH) == "the host name in mixer.invalid:8443 is unknown here"


def test_a_proxy_that_is_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*where: object) -> None:
        raise TimeoutError

    monkeypatch.setattr(socket, "create_connection", lost)
    assert explain("mixer.example:1", "a", NORTH) == "mixer.example:1 does not answer; a firewall may be in between"
    monkeypatch.setenv("https_proxy", "http://user:secret@proxy.invalid:3128")
    said = explain("mixer.example:1", "a", NORTH) or ""
    assert said.endswith("may be in between (calls go through the proxy proxy.invalid:3128 (https_proxy))")


def test_an_ipv6_address_is_dialled() -> None:
    said = explain("[::1]:1", "a", NORTH)
    assert said is not None
    assert "[::1]:1" in said


def of_silence(address: str, name: str, own: Credentials) -> str:
    return Silence("it says nothing")


@pytest.mark.parametrize("why", [of_silence, explain], ids=["silent", "closed"])
def test_what_is_found_out_decides_which_error_it_is(why: Callable[[str, str, Credentials], str | None]) -> None:
    """gRPC gives up a greeting by itself, at some moment before or after the agreed deadline."""
    peer = Peer(Endpoint("mixer a", "a", f"127.0.0.1:{free_port()}"), lambda: NORTH, (), PATIENCE, Watch(), why)
    with pytest.raises((PeerSilent, Unreachable)) as of_call:
        peer.call(MixerStub(peer.channel).Report, ReportRequest(), "asking")
    with (
        pytest.raises((PeerSilent, Unreachable)) as of_stream,
        closing(peer.stream(MixerStub(peer.channel).Ask, {})) as to,
    ):
        to.read(memoryview(bytearray(1)), "asking")
    peer.close()
    expected = PeerSilent if why is of_silence else Unreachable
    assert [type(of_call.value), type(of_stream.value)] == [expected, expected]
