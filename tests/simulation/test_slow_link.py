"""A link as slow as one between cities, and the proxy that makes one of loopback."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from multiprocessing import Pipe
from typing import Any

import pytest

from mixbayes.simulation.delaying_proxy import READY, delaying_proxy
from mixbayes.simulation.slow_link import Direction, SlowLink
from mixbayes.simulation.stage import free_ports
from mixbayes.transport.errors import CannotServe

PATIENCE = 20.0
LINK = SlowLink(delay=0.02, rate=1e6)


def test_milliseconds_and_megabits() -> None:
    assert SlowLink.of(25, 100) == SlowLink(0.025, 12_500_000)


def test_bytes_arrive_a_delay_after_the_last_of_them_has_left() -> None:
    assert Direction(LINK).arrival(5.0, 100_000) == pytest.approx(5.0 + 0.1 + 0.02)


def test_what_is_sent_waits_for_what_was_sent_before() -> None:
    direction = Direction(LINK)
    assert [direction.arrival(0.0, 50_000) for _ in range(3)] == pytest.approx([0.07, 0.12, 0.17])
    assert direction.arrival(1.0, 50_000) == pytest.approx(1.07), "and for nothing once the link is free"


class Behind:
    """A proxy in a thread, with a server of ours behind it."""

    def __init__(self, stack: ExitStack) -> None:
        self.server = stack.enter_context(closing(socket.create_server(("127.0.0.1", 0))))
        self.server.settimeout(PATIENCE)
        (self.port,) = free_ports(1)
        behind = {self.port: self.server.getsockname()[1]}
        ends: Any = Pipe()  # its type depends on the system
        self._here, there = ends
        stack.enter_context(there)
        pool = stack.enter_context(ThreadPoolExecutor(1))
        stack.enter_context(self._here)  # once it is closed the proxy ends
        self._running = pool.submit(delaying_proxy, there, LINK, behind)
        assert self._here.poll(PATIENCE)
        assert self._here.recv() == READY
        self._stack = stack

    def connected(self) -> tuple[socket.socket, socket.socket]:
        """Both ends of a connection through the proxy."""
        near = self._stack.enter_context(socket.create_connection(("127.0.0.1", self.port), PATIENCE))
        far = self._stack.enter_context(self.server.accept()[0])
        far.settimeout(PATIENCE)
        return near, far

    def passed(self, begin: float, end: float) -> int:
        self._here.send((begin, end))
        assert self._here.poll(PATIENCE)
        count: int = self._here.recv()
        return count


@pytest.fixture
def behind() -> Iterator[Behind]:
    with ExitStack() as stack:
        yield Behind(stack)


def all_of(end: socket.socket, count: int) -> bytes:
    """So many bytes."""
    found = b""
    while len(found) < count:
        found += end.recv(1 << 16)
    return found


def test_every_byte_passes_in_order_never_early_and_is_counted(behind: Behind) -> None:
    near, far = behind.connected()
    sent, back = bytes(range(256)) * 400, b"an answer"
    begin, began = time.time(), time.monotonic()
    near.sendall(sent)
    assert all_of(far, len(sent)) == sent
    assert time.monotonic() - began >= LINK.delay + len(sent) / LINK.rate
    between, began = time.time(), time.monotonic()
    far.sendall(back)
    assert all_of(near, len(back)) == back
    assert time.monotonic() - began >= LINK.delay
    end = time.time()
    assert behind.passed(begin, between) == len(sent)
    assert behind.passed(between, end) == len(back)
    assert behind.passed(0.0, begin) == 0


def test_who_hangs_up_hangs_up_at_the_other_end(behind: Behind) -> None:
    near, far = behind.connected()
    near.sendall(b"farewell")
    near.shutdown(socket.SHUT_WR)
    assert all_of(far, 8) + far.recv(1) == b"farewell"
    far.sendall(b"you too")
    far.close()
    assert all_of(near, 7) + near.recv(1) == b"you too"


def test_nobody_behind_it(behind: Behind) -> None:
    behind.server.close()
    with socket.create_connection(("127.0.0.1", behind.port), PATIENCE) as near:
        assert near.recv(1) == b""


def test_a_port_that_is_taken() -> None:
    ends: Any = Pipe()
    here, there = ends
    with (
        here,
        there,
        closing(socket.create_server(("127.0.0.1", 0))) as taken,
        pytest.raises(CannotServe, match=r"cannot listen on port .* Try again"),
    ):
        delaying_proxy(there, LINK, {taken.getsockname()[1]: 1})
