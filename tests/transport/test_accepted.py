"""The connections of a port, as the system lists them."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from mixbayes.transport.accepted import End, accepted, can_be_listed, end_of, hang_up

pytestmark = pytest.mark.skipif(not can_be_listed(), reason="this system does not list a process's open files")


@pytest.fixture
def held() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def connected(held: ExitStack, server: socket.socket) -> tuple[socket.socket, socket.socket]:
    """Both ends of a connection: the one that dialled, and the one that was accepted."""
    near = held.enter_context(socket.create_connection(server.getsockname()[:2], 60))
    return near, held.enter_context(server.accept()[0])


def test_the_other_end_as_grpc_writes_it() -> None:
    assert end_of("ipv4:192.0.2.1:4711") == End("192.0.2.1", 4711)
    assert end_of("ipv6:%5B2001:db8::1%5D:4711") == End("2001:db8::1", 4711)
    assert end_of("ipv6:%5B::ffff:192.0.2.1%5D:4711") == End("192.0.2.1", 4711)
    assert end_of("unix:/somewhere") is None


def test_a_site_is_an_address_or_half_of_one() -> None:
    assert End("192.0.2.1", 1).site == End("192.0.2.1", 2).site != End("192.0.2.2", 1).site
    assert End("2001:db8::1", 1).site == End("2001:db8::ffff:1", 1).site != End("2001:db8:0:1::1", 1).site


def test_only_what_was_accepted_at_this_port_is_listed(held: ExitStack) -> None:
    here, elsewhere = (held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(2))
    near, far = connected(held, here)
    connected(held, elsewhere)
    assert accepted(here.getsockname()[1]) == {End(*near.getsockname()): far.fileno()}


def test_an_ipv4_caller_of_both_families_has_one_name(held: ExitStack) -> None:
    server = held.enter_context(socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True))
    port = server.getsockname()[1]
    near = held.enter_context(socket.create_connection(("127.0.0.1", port), 60))
    held.enter_context(server.accept()[0])
    assert list(accepted(port)) == [End(*near.getsockname())]


def test_hanging_up(held: ExitStack) -> None:
    server = held.enter_context(socket.create_server(("127.0.0.1", 0)))
    near, far = connected(held, server)
    assert hang_up(server.getsockname()[1], End(*near.getsockname()), far.fileno())
    assert near.recv(1) == b""
    assert far.fileno() > 0, "whoever accepted it closes it"


def test_a_descriptor_that_is_another_connection_by_now_is_left(held: ExitStack) -> None:
    server = held.enter_context(socket.create_server(("127.0.0.1", 0)))
    (gone, _), (near, far) = connected(held, server), connected(held, server)
    assert not hang_up(server.getsockname()[1], End(*gone.getsockname()), far.fileno())
    near.sendall(b"x")
    assert far.recv(1) == b"x"
