"""TLS as the nodes have it: mutual, 1.3 alone at both ends, renewed without a restart."""

from __future__ import annotations

import socket
import ssl
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import grpc
import pytest

from mixbayes.transport import tls
from mixbayes.transport.tls import Credentials, RenewedChannel, for_client
from tests.transport.loopback import BACK_AND_FORTH, plain_bytes
from tests.transport.strangers import listening, tls_and_then_silence
from tests.transport.tls import DAY, TODAY, context, credentials, issuer, node_server

AUTHORITY = issuer()
MIXER = credentials(AUTHORITY, "a")
NORTH = credentials(AUTHORITY, "north")


def ask(address: str, own: Credentials, name: str = "a", timeout: float = 60) -> bytes:
    options = (("grpc.ssl_target_name_override", name),)
    with grpc.secure_channel(address, for_client(own), options) as channel:
        answer: bytes = channel.unary_unary(BACK_AND_FORTH, plain_bytes, plain_bytes)(b"hello", timeout=timeout)
        return answer


def shaken(address: str, made: ssl.SSLContext) -> str | None:
    """The version of TLS, once the other end has said something."""
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), 60) as raw, made.wrap_socket(raw) as wire:
        wire.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
        if not wire.recv(9):
            raise ConnectionError("it hung up")
        return wire.version()


def test_nodes_speak_1_3() -> None:
    with node_server(MIXER) as address:
        assert ask(address, NORTH) == b"hello"
        assert shaken(address, context(NORTH, server=False)) == "TLSv1.3"


def in_a_new_process(code: str) -> str:
    """gRPC has read its settings in this one, perhaps before mixbayes had made them."""
    setting = "import mixbayes, sys; sys.path.insert(0, sys.argv[1]); from tests.transport.test_tls import *; "
    root = str(Path(__file__).parents[2])
    done = subprocess.run([sys.executable, "-c", setting + code, root], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def try_1_2(*suites: str) -> None:
    """Dial a node with TLS 1.2 alone, and say what comes of it."""
    with node_server(MIXER) as address:
        for suite in suites:
            made = context(NORTH, server=False, only_1_2=True)
            made.set_ciphers(suite)
            try:
                print(shaken(address, made))
            except (ssl.SSLError, ConnectionError) as error:
                print("refused", type(error).__name__)


def dial_1_2() -> None:
    """Have a node dial somebody who speaks TLS 1.2 alone, and say what comes of it."""
    with listening(tls_and_then_silence(MIXER, only_1_2=True)) as address:
        try:
            ask(address, NORTH)
        except grpc.RpcError as error:
            print(error.code().name)


def test_a_node_answers_nobody_who_speaks_1_2_only() -> None:
    said = in_a_new_process("try_1_2('DEFAULT', 'ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES256-GCM-SHA384', 'ALL')")
    assert [line.split()[0] for line in said.splitlines()] == ["refused"] * 4


def test_a_node_dials_nobody_who_speaks_1_2_only() -> None:
    """Had they shaken hands, the silence after that would have lasted until the deadline."""
    assert in_a_new_process("dial_1_2()") == "UNAVAILABLE\n"


def test_without_a_certificate_nobody_is_answered() -> None:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = False
    made.load_verify_locations(cadata=NORTH.authority.decode())
    with node_server(MIXER) as address, pytest.raises((ssl.SSLError, ConnectionError)):
        shaken(address, made)


STRANGE = {
    "of another authority": credentials(issuer(), "north", trusting=AUTHORITY),
    "expired": credentials(AUTHORITY, "north", TODAY - 3 * DAY, TODAY - 2 * DAY),
    "not valid yet": credentials(AUTHORITY, "north", TODAY + DAY, TODAY + 2 * DAY),
}


@pytest.mark.parametrize("what", STRANGE)
def test_a_certificate_that_does_not_hold_is_refused_by_the_server(what: str) -> None:
    with node_server(MIXER) as address, pytest.raises((ssl.SSLError, ConnectionError)):
        shaken(address, context(STRANGE[what], server=False))


@pytest.mark.parametrize("what", STRANGE)
def test_a_certificate_that_does_not_hold_is_refused_by_the_caller(what: str) -> None:
    with node_server(STRANGE[what]) as address, pytest.raises(grpc.RpcError) as refused:
        ask(address, NORTH, "north")
    assert refused.value.code() is grpc.StatusCode.UNAVAILABLE


def test_a_certificate_for_another_name_is_refused_by_the_caller() -> None:
    with node_server(MIXER) as address, pytest.raises(grpc.RpcError):
        ask(address, NORTH, "b")


def test_a_server_shows_what_is_current_at_every_handshake() -> None:
    """Here the new one is of a new authority."""
    renewed = issuer()
    both = MIXER.authority + credentials(renewed, "x").authority
    shown = [Credentials(MIXER.private_key, MIXER.certificate, both)]
    later = credentials(renewed, "north")
    with node_server(MIXER, lambda: shown[0]) as address:
        assert ask(address, NORTH)
        with pytest.raises(grpc.RpcError):
            ask(address, later)
        shown[0] = credentials(renewed, "a")
        assert ask(address, later)
        with pytest.raises(grpc.RpcError):
            ask(address, NORTH)


def test_a_server_is_given_a_configuration_only_when_it_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    """To replace one that another handshake is reading ends the whole process."""
    made: list[object] = []
    really = grpc.ssl_server_certificate_configuration

    def counted(pairs: Any, authority: bytes) -> grpc.ServerCertificateConfiguration:
        made.append(pairs)
        return really(pairs, authority)

    monkeypatch.setattr(grpc, "ssl_server_certificate_configuration", counted)
    shown = [MIXER]
    with node_server(MIXER, lambda: shown[0]) as address:
        for renewals in (0, 1):
            for _ in range(3):
                assert shaken(address, context(NORTH, server=False)) == "TLSv1.3"
            assert len(made) == 1 + renewals
            shown[0] = credentials(AUTHORITY, "a")


def test_a_caller_shows_what_is_current_at_every_call() -> None:
    shown = [credentials(issuer(), "north", trusting=AUTHORITY)]
    with node_server(MIXER) as address:
        channel = RenewedChannel(address, (("grpc.ssl_target_name_override", "a"),), lambda: shown[0])
        with channel:
            method = channel.unary_unary(BACK_AND_FORTH, plain_bytes, plain_bytes)
            with pytest.raises(grpc.RpcError):
                method(b"", timeout=60)
            for _ in range(3):
                shown[0] = credentials(AUTHORITY, "north")
                assert method(b"hello", timeout=60) == b"hello"


def test_what_is_under_way_outlives_one_renewal() -> None:
    shown = [NORTH]
    with (
        node_server(MIXER) as address,
        RenewedChannel(address, (("grpc.ssl_target_name_override", "a"),), lambda: shown[0]) as channel,
    ):
        before = channel.now()
        assert channel.now() is before
        shown[0] = credentials(AUTHORITY, "north")
        assert channel.now() is not before
        assert before.unary_unary(BACK_AND_FORTH, plain_bytes, plain_bytes)(b"x", timeout=60) == b"x"


def test_hanging_up_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """As gRPC does if Ctrl-C came between the beginning of a call and that of the thread which ends it."""
    monkeypatch.setattr(tls, "_FAREWELL", 0.05)
    channel, never = RenewedChannel("localhost:1", (), lambda: NORTH), threading.Event()
    connection = channel.now()
    usual = connection.close
    monkeypatch.setattr(connection, "close", never.wait)
    channel.close()
    never.set()
    usual()


def test_no_key_is_shown() -> None:
    assert repr(MIXER) == "Credentials()"
