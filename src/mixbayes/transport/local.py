"""A wire over a local socket pair, for roles in separate processes on one machine."""

from __future__ import annotations

import select
import socket
import threading
import time
from collections import deque
from collections.abc import Sequence

import numpy as np

from mixbayes.protocol.channel import Buffer, Channel
from mixbayes.protocol.errors import PeerGone, PeerSilent

DEADLINE = 60.0
_SOCKET_BUFFER = 1 << 22
_SMALL = 1 << 16


class SocketWire:
    """Reads with a deadline; writes at once what the socket takes, and the rest from a thread of its own.

    The thread is what lets both ends write long messages before either reads, and lets a role compute while a long
    message leaves. It starts with the first message that does not fit and ends with the process or with `close`.
    """

    def __init__(self, peer: str, end: socket.socket, deadline: float = DEADLINE) -> None:
        self._peer = peer
        self._end = end
        self._deadline = deadline
        self._rest = _Rest(end, deadline)
        self._room = memoryview(bytearray(_SMALL))
        self._unread = self._room[:0]
        self._readable = select.poll()
        self._readable.register(end, select.POLLIN)
        end.setblocking(False)  # a timeout would make every send wait until the socket takes all of it
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            end.setsockopt(socket.SOL_SOCKET, option, _SOCKET_BUFFER)

    def write(self, parts: Sequence[Buffer], step: str) -> None:
        if self._rest.failed:
            raise self._gone(step) if self._rest.failed == "gone" else self._silent(step)
        for part in _gathered(parts):
            sent = 0 if self._rest.busy else self._write_some(part, step)
            if sent < len(part):
                self._rest.put(part[sent:])

    def read(self, into: memoryview, step: str) -> None:
        until = time.monotonic() + self._deadline
        done = 0
        while done < len(into):
            done += self._read_some(into[done:], step) or self._await_more(until, step)

    def close(self) -> None:
        """Let the last message leave, end the thread, hang up."""
        self._rest.finish()
        self._end.close()

    def _write_some(self, part: memoryview, step: str) -> int:
        try:
            return self._end.send(part)
        except BlockingIOError:
            return 0
        except OSError:
            raise self._gone(step) from None

    def _read_some(self, into: memoryview, step: str) -> int:
        """Small parts come out of what was read at once, so that a header and its message take one call."""
        if not self._unread:
            if len(into) >= _SMALL:
                return self._receive(into, step)
            self._unread = self._room[: self._receive(self._room, step)]
        count = min(len(into), len(self._unread))
        into[:count], self._unread = self._unread[:count], self._unread[count:]
        return count

    def _receive(self, into: memoryview, step: str) -> int:
        try:
            count = self._end.recv_into(into)
        except BlockingIOError:
            return 0
        except OSError:
            raise self._gone(step) from None
        if not count:
            raise self._gone(step)
        return count

    def _await_more(self, until: float, step: str) -> int:
        """Wait for something to read; what has been read meanwhile is nothing."""
        if not self._readable.poll(max(0.0, until - time.monotonic()) * 1000):
            raise self._silent(step)
        return 0

    def _silent(self, step: str) -> PeerSilent:
        return PeerSilent(self._peer, step, f"it took no part for {self._deadline:g} s")

    def _gone(self, step: str) -> PeerGone:
        return PeerGone(self._peer, step, "the connection was closed")


class _Rest:
    """What did not fit into the socket at once, in order, and the thread that sends it."""

    def __init__(self, end: socket.socket, deadline: float) -> None:
        self._end = end
        self._deadline = deadline
        self._parts: deque[memoryview] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._finished = False
        self.failed = ""

    @property
    def busy(self) -> bool:
        return bool(self._parts)

    def put(self, part: memoryview) -> None:
        with self._changed:
            self._parts.append(part)
            self._changed.notify_all()
        if self._thread is None:
            self._thread = threading.Thread(target=self._send_all, name="writer", daemon=True)
            self._thread.start()

    def finish(self) -> None:
        """Wait until all has left, and end the thread."""
        with self._changed:
            self._changed.wait_for(lambda: not self._parts or bool(self.failed), self._deadline)
            self._finished = True
            self._changed.notify_all()
        if self._thread:
            self._thread.join(self._deadline)

    def _send_all(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._parts) or self._finished)
                if not self._parts:
                    return
            if not self._sent(self._parts[0]):
                return
            with self._changed:
                self._parts.popleft()
                self._changed.notify_all()

    def _sent(self, part: memoryview) -> bool:
        """All of it, if the peer goes on reading."""
        while part:
            if not _ready(self._end, select.POLLOUT, self._deadline):
                self._fail("silent")
                return False
            try:
                part = part[self._end.send(part) :]
            except BlockingIOError:
                continue
            except OSError:
                self._fail("gone")
                return False
        return True

    def _fail(self, how: str) -> None:
        with self._changed:
            self.failed = how
            self._parts.clear()
            self._changed.notify_all()


def channel(peer: str, end: socket.socket, deadline: float = DEADLINE) -> Channel:
    """The channel to `peer` over this end of a socket pair."""
    return Channel(peer, SocketWire(peer, end, deadline))


def _ready(end: socket.socket, event: int, seconds: float) -> bool:
    """Can it be read, or written, or has it ended?"""
    poll = select.poll()
    try:
        poll.register(end, event)
    except (OSError, ValueError):
        return True  # closed: the next call on it says so
    return bool(poll.poll(max(0.0, seconds) * 1000))


def _view(part: Buffer) -> memoryview:
    return np.ascontiguousarray(part).data.cast("B") if isinstance(part, np.ndarray) else memoryview(part).cast("B")


def _gathered(parts: Sequence[Buffer]) -> list[memoryview]:
    """Small messages leave in one piece, large ones without a copy."""
    views = [view for view in map(_view, parts) if len(view)]
    if sum(map(len, views)) <= _SMALL:
        return [memoryview(b"".join(views))]
    return views
