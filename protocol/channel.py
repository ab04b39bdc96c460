"""How two roles talk: `send`, `receive` and `swap` of messages, which both ends know by step and size.

A message travels in a frame: a header of 16 bytes (a checksum of the step's name, a running number, the length) and the
payload. Every protocol here fixes in advance which message comes next and how long it is. The header of what arrives is
compared with that, here and once for every transport, so that any departure from the protocol is noticed.
"""

from __future__ import annotations

import struct
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, cast

import numpy as np

from mixbayes.protocol.arrays import Bytes
from mixbayes.protocol.errors import Reuse, WrongLength, WrongStep

Buffer = bytes | bytearray | memoryview | Bytes

_HEADER = struct.Struct("<IIQ")


@dataclass
class Traffic:
    """What one end of a channel has sent and received, in bytes. A change of direction begins a new round."""

    sent: int = 0
    received: int = 0
    rounds: int = 0
    _last: str = field(default="", repr=False)

    def count_sent(self, size: int) -> None:
        self.sent += size
        self._turn("sent")

    def count_received(self, size: int) -> None:
        self.received += size
        self._turn("received")

    def count_started(self, size: int, *, together: bool) -> None:
        """The sent half of a swap. It begins a round, if it does not travel together with another swap."""
        self.sent += size
        self.rounds += not together
        self._last = ""

    def count_finished(self, size: int) -> None:
        self.received += size

    def _turn(self, direction: str) -> None:
        self.rounds += self._last != direction
        self._last = direction


class Wire(Protocol):
    """A transport: it moves bytes in order to one peer and back.

    It raises `PeerSilent` when nothing came before its deadline, and `PeerGone` when the peer has closed the
    connection.
    """

    def write(self, parts: Sequence[Buffer], step: str) -> None:
        """Take the bytes and return, so that both ends can write before either reads.

        The caller does not change the bytes afterwards.
        """
        ...

    def read(self, into: memoryview, step: str) -> None:
        """Fill `into` with the next bytes."""
        ...

    def close(self) -> None:
        """Deliver what was written, and close the connection."""
        ...


@dataclass(slots=True)
class _Due:
    """A message of the peer that is due, until it is read."""

    step: str
    size: int
    body: Bytes | None = None


class _Unbroken:
    """A block that fails is the last one.

    The two ends may then be at different steps, and an old message could be taken for a new one.
    """

    def __init__(self, peer: str) -> None:
        self._peer = peer
        self.over = False

    def __enter__(self) -> None:
        if self.over:
            raise Reuse(f"The conversation with {self._peer} broke off before and cannot go on. Connect again.")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self.over = self.over or kind is not None


class Channel:
    """One end of a conversation in which both ends know the next step and the size of its message."""

    def __init__(self, peer: str, wire: Wire) -> None:
        self.peer = peer
        self.traffic = Traffic()
        self._wire = wire
        self._sent = 0
        self._received = 0
        self._unbroken = _Unbroken(peer)
        self._due: deque[_Due] = deque()

    def send(self, step: str, payload: Buffer) -> None:
        """Send one message."""
        size = _size(payload)
        with self._unbroken:
            self._wire.write([self._header(step, size), payload], step)
        self.traffic.count_sent(_HEADER.size + size)

    def receive(self, step: str, size: int) -> Bytes:
        """Receive the message of this step, of exactly this size."""
        with self._unbroken:
            self._read_due()
            body = self._read(step, size)
        self.traffic.count_received(_HEADER.size + size)
        return body

    def swap(self, step: str, payload: Buffer, size: int | None = None) -> Bytes:
        """Send one message and receive the peer's message of the same step, of the same size unless `size` is given."""
        return self.start_swap(step, payload, size)()

    def start_swap(self, step: str, payload: Buffer, size: int | None = None) -> Callable[[], Bytes]:
        """The first half of `swap`: send now. What is returned is the second half, which receives.

        Swaps that are started before one of them is finished travel together, and are one round.
        """
        sending = _size(payload)
        due = _Due(step, sending if size is None else size)
        with self._unbroken:
            self._wire.write([self._header(step, sending), payload], step)
        self.traffic.count_started(_HEADER.size + sending, together=bool(self._due))
        self._due.append(due)
        return partial(self._finished, due)

    def close(self) -> None:
        """End the conversation."""
        self._unbroken.over = True
        self._wire.close()

    def _finished(self, due: _Due) -> Bytes:
        if due.body is None:
            with self._unbroken:
                self._read_due(due)
        return cast(Bytes, due.body)

    def _read_due(self, last: _Due | None = None) -> None:
        """Read what is due of swaps in the order in which they were started: up to `last`, or all of it."""
        while self._due and (last is None or last.body is None):
            due = self._due[0]
            due.body = self._read(due.step, due.size)
            self.traffic.count_finished(_HEADER.size + due.size)
            self._due.popleft()

    def _header(self, step: str, size: int) -> bytes:
        header = _HEADER.pack(_name(step), self._sent & 0xFFFFFFFF, size)
        self._sent += 1
        return header

    def _read(self, step: str, size: int) -> Bytes:
        """Read the next message, and check its header before its payload is read."""
        raw = bytearray(_HEADER.size)
        self._wire.read(memoryview(raw), step)
        name, number, length = _HEADER.unpack(raw)
        if number != self._received & 0xFFFFFFFF:
            raise WrongStep(
                self.peer,
                step,
                f"message {number} came where message {self._received} was due (repeated, lost or out of order)",
            )
        if name != _name(step):
            raise WrongStep(self.peer, step, "a message of another step came")
        if length != size:
            raise WrongLength(self.peer, step, f"{length} bytes came where {size} were due")
        self._received += 1
        body = np.empty(size, np.uint8)
        self._wire.read(body.data, step)
        return body


def _name(step: str) -> int:
    return zlib.crc32(step.encode())


def _size(payload: Buffer) -> int:
    return payload.nbytes if isinstance(payload, np.ndarray | memoryview) else len(payload)
