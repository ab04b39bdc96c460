"""What the kernel drops for us."""

from __future__ import annotations

import socket
import sys

import pytest

from mixbayes.transport.barring import bar, program

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has this")
WAIT = 0.3
"""Of a connection that is not to come about."""


def comes_in(server: socket.socket, source: str, target: str = "127.0.0.1", patience: float = 60.0) -> bool:
    try:
        socket.create_connection((target, server.getsockname()[1]), patience, (source, 0)).close()
    except TimeoutError:
        return False
    return True


def test_a_barred_address_cannot_connect_and_others_can() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert bar(["127.0.0.2", "2001:db8::/64"], server)
        assert not comes_in(server, "127.0.0.2", patience=WAIT)
        assert comes_in(server, "127.0.0.3")
        assert bar([], server)
        assert comes_in(server, "127.0.0.2")


def test_a_connection_from_before_goes_on() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname(), 60, ("127.0.0.2", 0)) as near,
        server.accept()[0] as far,
    ):
        assert bar(["127.0.0.2"], server)
        near.sendall(b"x")
        assert far.recv(1) == b"x"


def test_addresses_of_both_families_at_one_socket() -> None:
    with socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as server:
        assert bar(["2001:db8::/64", "127.0.0.2"], server)
        assert comes_in(server, "::1", "::1")
        assert not comes_in(server, "127.0.0.2", patience=WAIT)
        assert comes_in(server, "127.0.0.3")
        assert bar(["::/64"], server)
        assert not comes_in(server, "::1", "::1", WAIT)
        assert comes_in(server, "127.0.0.2")


def test_no_jump_is_longer_than_one_byte() -> None:
    sites = [f"192.0.2.{last}" for last in range(32)] + [f"2001:db8:0:{last}::/64" for last in range(32)]
    assert max(skipped for _, yes, no, _ in program(sites) for skipped in (yes, no)) < 256
