"""Lots: random transfers that two parties have made ahead, in pieces of one size that both number alike.

The parties make their transfers by one extension, in one order, so that a number names the same transfers at both. One
of them, the leader, decides who gets which lots, and each lot is used once.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from mixbayes.protocol.errors import Reuse
from mixbayes.protocol.transfer.extension import Received, Sent
from mixbayes.protocol.transfer.pads import FixedKeyHash

LOT = 1 << 12
"""Transfers of a lot in each direction: several questions about one row, and small enough to waste the rest."""
SESSION_BYTES = 16
NO_SESSION = bytes(SESSION_BYTES)
_NAMED = struct.Struct(f"<{SESSION_BYTES}sQI")
NAMED_BYTES = _NAMED.size


@dataclass(frozen=True, slots=True)
class Lots:
    """The names of `count` lots in a row: `session` is the run of the extension that makes them."""

    session: bytes
    first: int
    count: int

    @property
    def end(self) -> int:
        return self.first + self.count

    def encoded(self) -> bytes:
        return _NAMED.pack(self.session, self.first, self.count)

    @classmethod
    def decoded(cls, raw: bytes) -> Lots:
        return cls(*_NAMED.unpack(raw))


@dataclass(frozen=True, slots=True)
class Lot:
    """Transfers in both directions, and the hashes that make long masks of their pads."""

    sent: Sent = field(repr=False)
    received: Received = field(repr=False)
    sent_hash: FixedKeyHash = field(repr=False)
    received_hash: FixedKeyHash = field(repr=False)

    @property
    def size(self) -> int:
        return len(self.received.choices)

    def parts(self, size: int) -> Iterator[Lot]:
        """The same transfers in pieces of this size."""
        for start in range(0, self.size, size):
            part = slice(start, start + size)
            received = Received(self.received.choices[part], self.received.pads[part])
            yield Lot(Sent(self.sent.pads[:, part]), received, self.sent_hash, self.received_hash)


class Shelf:
    """The lots of one session at one party. `made` and `promised` count from the beginning of the session."""

    def __init__(self, session: bytes) -> None:
        self.session = session
        self.made = 0
        self.promised = 0
        self._lots: dict[int, Lot] = {}

    @property
    def spare(self) -> int:
        """Lots that are made and promised to nobody; less than none if more are promised than made."""
        return self.made - self.promised

    def put(self, made: Lot) -> None:
        """Transfers that both parties have made now, cut into lots under the next numbers."""
        for lot in made.parts(LOT):
            self._lots[self.made] = lot
            self.made += 1

    def promise(self, count: int) -> Lots:
        """Names of the next lots, for one pool of the leader."""
        self.promised += count
        return Lots(self.session, self.promised - count, count)

    def take(self, lots: Lots) -> list[Lot]:
        """These lots, which are used up now. All of them must be made."""
        numbers = range(lots.first, lots.end)
        if any(number not in self._lots for number in numbers):
            raise Reuse("Transfers that were used before were asked for again. Each is used once.")
        return [self._lots.pop(number) for number in numbers]
