"""What may listen at an address and is no node."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress

import pytest

from mixbayes.transport import probe
from mixbayes.transport.tls import Credentials
from tests.transport.tls import context

Answer = Callable[[socket.socket], socket.socket | None]


@contextmanager
def listening(answer: Answer) -> Iterator[str]:
    """Something at an address that is no node: it accepts, does this with every connection, and leaves it open."""
    with socket.create_server(("127.0.0.1", 0)) as server, ExitStack() as held, ThreadPoolExecutor(8) as pool:
        server.settimeout(0.05)
        stopped = threading.Event()

        def accept() -> None:
            while not stopped.is_set():
                with suppress(TimeoutError):
                    connection, _ = server.accept()
                    connection.settimeout(60)
                    held.enter_context(connection)
                    pool.submit(treat, connection)

        def treat(connection: socket.socket) -> None:
            if made := answer(connection):
                held.enter_context(made)

        pool.submit(accept)
        try:
            yield f"127.0.0.1:{server.getsockname()[1]}"
        finally:
            stopped.set()


def tls_and_then_silence(own: Credentials, *, only_1_2: bool = False) -> Answer:
    """For `listening`: it shakes hands and never answers."""
    made = context(own, server=True, only_1_2=only_1_2)

    def answer(raw: socket.socket) -> socket.socket | None:
        with suppress(OSError):
            return made.wrap_socket(raw, server_side=True)
        return None

    return answer


def be_silent_for(seconds: float, patch: pytest.MonkeyPatch) -> None:
    """Who shakes hands and then says nothing is waited for no longer; the handshake itself may take its time."""
    explain = probe._explain_silence

    def soon(wire: ssl.SSLSocket, address: str) -> str | None:
        wire.settimeout(seconds)
        return explain(wire, address)

    patch.setattr(probe, "_explain_silence", soon)


def silence(raw: socket.socket) -> None:
    """It accepts, and no more."""


def plain_http(raw: socket.socket) -> None:
    with suppress(OSError):
        raw.recv(1024)
        raw.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
        raw.shutdown(socket.SHUT_RDWR)


def hanging_up(raw: socket.socket) -> None:
    raw.shutdown(socket.SHUT_RDWR)
