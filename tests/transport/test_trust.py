"""A channel that trusts one certificate: the one that the other end shows, if its key is the agreed one."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from mixbayes.protocol.errors import MixbayesError, PeerGone, PeerSilent
from mixbayes.transport import peer as peers
from mixbayes.transport import probe, tls, trust
from mixbayes.transport.errors import Revoked, Unreachable, WrongKey
from mixbayes.transport.peer import Endpoint, Peer
from mixbayes.transport.tls import Credentials, for_client
from mixbayes.transport.watch import Watch
from tests.keys.helpers import pem
from tests.ports import free_port
from tests.proxy import proxy
from tests.services.helpers import Relay, wait_until
from tests.transport.loopback import BACK_AND_FORTH, plain_bytes
from tests.transport.strangers import listening, silence
from tests.transport.tls import DAY, TODAY, credentials, issuer, node_server

AUTHORITY = issuer()
MIXER = credentials(AUTHORITY, "a")
IMPOSTOR = credentials(AUTHORITY, "a")
NORTH = credentials(AUTHORITY, "north")


def certificate(own: Credentials) -> x509.Certificate:
    return x509.load_pem_x509_certificate(own.certificate)


def key_of(own: Credentials) -> str:
    spki = certificate(own).public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return sha256(spki).digest().hex(":").upper()


def renewed(own: Credentials) -> Credentials:
    """Another certificate for the same key."""
    key = load_pem_private_key(own.private_key, None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return replace(own, certificate=pem(AUTHORITY.node(key, "a", TODAY - DAY, TODAY + DAY)))


@dataclass
class Talk:
    """Says hello, once for every time that it is called."""

    peer: Peer

    def __call__(self) -> bytes:
        method = self.peer.channel.unary_unary(BACK_AND_FORTH, plain_bytes, plain_bytes)
        return self.peer.call(method, b"hello", "talking")


@contextmanager
def dialled(
    address: str, own: Callable[[], Credentials] = lambda: NORTH, key: str | None = key_of(MIXER)
) -> Iterator[Talk]:
    """Talks with the mixer at this address, whose key is agreed."""
    peer = Peer(Endpoint("mixer a", "a", address, key), own, (), 60, Watch(), probe.explain)
    try:
        yield Talk(peer)
    finally:
        peer.close()


def shown(talk: Talk) -> MixbayesError:
    with pytest.raises(MixbayesError) as told:
        talk()
    return told.value


@pytest.mark.parametrize(("shows", "answers"), [(MIXER, True), (IMPOSTOR, False)])
def test_grpc_takes_the_root_that_is_a_nodes_certificate_and_nobody_else(shows: Credentials, answers: bool) -> None:
    """All rests on this: with the mixer's certificate as the only root, the same authority and name are not enough."""
    options = (("grpc.ssl_target_name_override", "a"),)
    with (
        node_server(shows) as address,
        grpc.secure_channel(address, for_client(NORTH, MIXER.certificate), options) as channel,
    ):
        call = channel.unary_unary(BACK_AND_FORTH, plain_bytes, plain_bytes)
        if answers:
            assert call(b"hello", timeout=60) == b"hello"
            return
        with pytest.raises(grpc.RpcError) as refused:
            call(b"hello", timeout=60)
        assert refused.value.code() is grpc.StatusCode.UNAVAILABLE


def test_the_agreed_key_is_talked_to() -> None:
    with node_server(MIXER) as address, dialled(address) as talk:
        assert talk() == b"hello"


def test_another_key_is_not() -> None:
    with node_server(IMPOSTOR) as address, dialled(address) as talk:
        error = shown(talk)
    assert (type(error), error.code, error.exit_code) == (WrongKey, "E209", 3)
    for part in (key_of(MIXER)[:23], key_of(IMPOSTOR)[:23], "mixer a, at connecting", "by telephone"):
        assert part in str(error)


def test_nor_is_a_revoked_certificate_whatever_its_key() -> None:
    own = replace(NORTH, revoked=frozenset({certificate(MIXER).serial_number}))
    with node_server(MIXER) as address, dialled(address, lambda: own, None) as talk:
        error = shown(talk)
    assert (type(error), error.code) == (Revoked, "E214")


def test_the_next_call_after_a_revocation_is_refused() -> None:
    own = [NORTH]
    with node_server(MIXER) as address, dialled(address, lambda: own[0]) as talk:
        assert talk() == b"hello"
        own[0] = replace(NORTH, revoked=frozenset({certificate(MIXER).serial_number}))
        assert isinstance(shown(talk), Revoked)
        assert isinstance(shown(talk), Revoked)


def test_a_list_of_others_disturbs_nobody() -> None:
    own = replace(NORTH, revoked=frozenset({1}))
    with node_server(MIXER) as address, dialled(address, lambda: own, None) as talk:
        assert talk() == b"hello"


def test_one_connection_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    really = probe._context

    def counted(own: Credentials) -> ssl.SSLContext:
        looked.append("")
        return really(own)

    monkeypatch.setattr(probe, "_context", counted)
    with node_server(MIXER) as address, dialled(address) as talk:
        assert [talk() for _ in range(5)] == [b"hello"] * 5
    assert len(looked) == 1


def test_a_renewed_certificate_of_the_same_key_is_taken_when_the_connection_breaks() -> None:
    """As soon as it is known that the connection is lost, the next call looks who is there."""
    now = [MIXER]
    with behind_a_relay(now) as (relay, talk):
        assert talk() == b"hello"
        for _ in range(2):
            now[0] = renewed(MIXER)
            assert talk() == b"hello", "the connection that is there goes on"
            relay.cut()
            assert _in_the_end(talk) == b"hello"


def test_somebody_who_takes_the_place_later_is_refused() -> None:
    now = [MIXER]
    with behind_a_relay(now) as (relay, talk):
        assert talk() == b"hello"
        now[0] = IMPOSTOR
        relay.cut()
        with pytest.raises(WrongKey):
            _in_the_end(talk)


@contextmanager
def behind_a_relay(shows: list[Credentials]) -> Iterator[tuple[Relay, Talk]]:
    """A mixer that shows what is in the list now, and the way to it, which can be cut."""
    with (
        node_server(shows[0], lambda: shows[0]) as address,
        Relay(int(address.rpartition(":")[2])) as relay,
        dialled(relay.address) as talk,
    ):
        yield relay, talk


def _in_the_end(talk: Talk) -> bytes:
    """A call may begin before gRPC has noticed that the connection is gone; the one after it has no excuse."""
    try:
        return talk()
    except (Unreachable, PeerGone):
        return talk()


def test_somebody_who_lets_the_look_through_to_the_mixer_gains_nothing() -> None:
    """gRPC's own connection is held to the certificate that was looked at, not to the authority."""
    handshakes: list[Credentials] = [MIXER, MIXER]  # the server asks once when it starts

    def current() -> Credentials:
        return handshakes.pop() if handshakes else IMPOSTOR

    with node_server(MIXER, current) as address, dialled(address) as talk:
        assert isinstance(shown(talk), Unreachable | WrongKey)
        assert handshakes == []


@pytest.mark.parametrize("how", ["gRPC tells", "a call fails"])
def test_either_of_two_signs_makes_it_look_again(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    if how == "a call fails":
        monkeypatch.setattr(tls._Connection, "heard", lambda self, state: None)
    now = [MIXER]
    with behind_a_relay(now) as (relay, talk):
        assert talk() == b"hello"
        made = talk.peer.channel._connection
        assert made is not None
        now[0] = renewed(MIXER)
        relay.cut()
        if how == "gRPC tells":
            wait_until(lambda: made.lost, "gRPC has noticed")
            assert talk() == b"hello"
        else:
            assert _in_the_end(talk) == b"hello"


def test_why_there_is_no_connection_is_said_as_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust, "_LONGEST", 0.5)
    address = f"127.0.0.1:{free_port()}"
    with dialled(address) as talk:
        assert str(shown(talk)).startswith(f"mixer a, at connecting: nothing listens at {address}")
    with listening(silence) as address, dialled(address) as talk:
        assert isinstance(shown(talk), PeerSilent)


def test_it_goes_through_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "on_loopback", lambda address: False)
    asked_for: list[str] = []
    with proxy(b"200 OK", asked_for) as port, node_server(MIXER) as address:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
        with dialled(address) as talk:
            assert talk() == b"hello"
    assert asked_for == [address, address], "once to look, once by gRPC"


def test_a_proxy_that_refuses_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "on_loopback", lambda address: False)
    with proxy(b"403 Forbidden") as port, node_server(MIXER) as address:
        monkeypatch.setenv("https_proxy", f"http://somebody:secret@127.0.0.1:{port}")
        with dialled(address) as talk:
            error = shown(talk)
    assert isinstance(error, Unreachable)
    assert f"{address} cannot be reached through the proxy 127.0.0.1:{port} (https_proxy)" in str(error)
    assert "secret" not in str(error)


def test_an_unpinned_channel_makes_no_connection_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(own: Credentials) -> ssl.SSLContext:
        raise AssertionError

    monkeypatch.setattr(probe, "_context", never)
    with node_server(IMPOSTOR) as address, dialled(address, key=None) as talk:
        assert talk() == b"hello"
