"""A wire over a local socket pair, for roles in separate processes on one machine."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Sequence

import numpy as np

from mixbayes.protocol.channel import Buffer, Channel
from mixbayes.protocol.errors import PeerGone, PeerSilent

DEADLINE = 60.0
_SOCKET_BUFFER = 1 << 22


class SocketWire:
    """Blocking reads and writes with one deadline each; `exchange` does both at once."""

    def __init__(self, peer: str, end: socket.socket, deadline: float = DEADLINE) -> None:
        self._peer = peer
        self._end = end
        self._deadline = deadline
        end.settimeout(deadline)
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            end.setsockopt(socket.SOL_SOCKET, option, _SOCKET_BUFFER)

    def write(self, parts: Sequence[Buffer], step: str) -> None:
        try:
            for part in _gathered(parts):
                self._end.sendall(part)
        except TimeoutError:
            raise self._silent(step) from None
        except OSError:
            raise self._gone(step) from None

    def read(self, into: memoryview, step: str) -> None:
        until = time.monotonic() + self._deadline
        done = 0
        while done < len(into):
            done += self._receive_some(into[done:], step)
            if done < len(into) and time.monotonic() > until:
                raise self._silent(step)

    def exchange(self, payload: Buffer, into: memoryview, step: str) -> None:
        out = _view(payload)
        until = time.monotonic() + self._deadline
        poll = select.poll()
        try:
            self._end.setblocking(False)
            while out or into:
                poll.register(self._end, (select.POLLOUT if out else 0) | (select.POLLIN if into else 0))
                events = poll.poll(max(0.0, until - time.monotonic()) * 1000)
                if not events:
                    raise self._silent(step)
                out, into = self._move(events[0][1], out, into, step)
        except OSError:
            raise self._gone(step) from None
        finally:
            self._end.settimeout(self._deadline)

    def close(self) -> None:
        self._end.close()

    def _move(
        self, ready: int, out: memoryview, into: memoryview, step: str
    ) -> tuple[memoryview, memoryview]:
        if into and ready & (select.POLLIN | select.POLLHUP):
            into = into[self._receive_some(into, step) :]
        if out and ready & select.POLLOUT:
            out = out[self._end.send(out) :]
        elif out and ready & (select.POLLERR | select.POLLHUP):
            raise self._gone(step)
        return out, into

    def _receive_some(self, into: memoryview, step: str) -> int:
        try:
            count = self._end.recv_into(into)
        except TimeoutError:
            raise self._silent(step) from None
        except BlockingIOError:
            return 0
        except OSError:
            raise self._gone(step) from None
        if not count:
            raise self._gone(step)
        return count

    def _silent(self, step: str) -> PeerSilent:
        return PeerSilent(self._peer, step, f"it took no part for {self._deadline:g} s")

    def _gone(self, step: str) -> PeerGone:
        return PeerGone(self._peer, step, "the connection was closed")


def channel(peer: str, end: socket.socket, deadline: float = DEADLINE) -> Channel:
    """The channel to `peer` over this end of a socket pair."""
    return Channel(peer, SocketWire(peer, end, deadline))


def _view(part: Buffer) -> memoryview:
    return memoryview(np.ascontiguousarray(part) if isinstance(part, np.ndarray) else part).cast("B")


def _gathered(parts: Sequence[Buffer]) -> list[memoryview]:
    """Small messages leave in one piece, large ones without a copy."""
    views = [_view(part) for part in parts if _view(part).nbytes]
    if sum(v.nbytes for v in views) <= 1 << 15:
        return [memoryview(b"".join(views))]
    return views
