"""The pool of one conversation between the computing parties, filled from lots that they have made before it began.

A names lots on the conversation's channel, and both use them in the order of the names. Their order is all that the two
must agree on. So A names lots as soon as it can tell that they will be needed, and B reads a name only when it needs
one: it waits for no name that A could have sent before. Where no lots are to be had, A says so, and both make the
transfers on the same channel, by an extension of their own.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Protocol

from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import OutOfRange, Reuse, WrongStep
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.shares import A
from mixbayes.protocol.transfer.extension import STRETCH, Received, Sent
from mixbayes.protocol.transfer.kinds import EXTENDED, TransferKind
from mixbayes.protocol.transfer.lots import LOT, NAMED_BYTES, NO_SESSION, Lot, Lots
from mixbayes.protocol.transfer.pads import FixedKeyHash
from mixbayes.protocol.transfer.pool import BothWays, Marks, PairPool, connect_pair

STEP = "lots of transfers"
_MOST = 1 << 16
"""Lots that one message may name."""
USUAL = Marks()
_WINDOW = 2 * STRETCH
"""Transfers that a pool of A asks for at most while none are ready, so that other pools get theirs in between."""


class Source(Protocol):
    """Where a party has its lots. A promises them to a pool, and both take them."""

    def promise(self, lots: int) -> Lots | None:
        """The names of at least one and at most so many lots; nothing if there are none, and none will be made soon."""
        ...

    def take(self, lots: Lots) -> list[Lot]:
        """These lots, once they are made. Raises `Reuse` if one of them was taken before."""
        ...


class NoLots:
    """A source without any."""

    def promise(self, lots: int) -> Lots | None:
        return None

    def take(self, lots: Lots) -> list[Lot]:
        raise Reuse("No lots of transfers are made here.")


class SuppliedPool(BothWays):
    """What the pools of A and B have in common.

    The hashes for long masks are those of the first transfers that the pool got. They stay the same when later ones
    come from another session, so that one set of masks can be made of both.
    """

    def __init__(self, channel: Channel, source: Source, connect: Callable[[], PairPool], marks: Marks) -> None:
        super().__init__(channel, marks)
        self._source = source
        self._connect = connect
        self._own: PairPool | None = None
        self._hashes: tuple[FixedKeyHash, ...] = ()

    @property
    def sent_hash(self) -> FixedKeyHash:
        return self._both_hashes()[0]

    @property
    def received_hash(self) -> FixedKeyHash:
        return self._both_hashes()[1]

    def reserve(self, count: int) -> None:
        self._refuse_if_broken()
        with self._final_on_failure():
            while self.left < count:
                self._stretch(self._missing(count))

    def _stretch(self, count: int) -> None:
        """Add what is named next. It is not always `count` transfers."""
        named = self._next(count)
        found = self._made_here(named.count) if named.session == NO_SESSION else self._taken(named)
        total = sum(lot.size for lot in found)
        self._sent.room(total)
        self._received.room(total)
        for lot in found:
            self._add(lot)

    @abstractmethod
    def _next(self, count: int) -> Lots:
        """The next name. Under `NO_SESSION`, `count` is the number of transfers that both make."""

    def _taken(self, named: Lots) -> list[Lot]:
        return self._source.take(named)

    def _made_here(self, count: int) -> list[Lot]:
        self._own = own = self._own or self._connect()
        return [Lot(*own.take(count), own.sent_hash, own.received_hash)]

    def _add(self, lot: Lot) -> None:
        size = lot.size
        self._sent.next()[:, :size] = lot.sent.pads
        choices, pads = self._received.next()
        choices[:size], pads[:size] = lot.received.choices, lot.received.pads
        self._sent.add(size)
        self._received.add(size)
        self._hashes = self._hashes or (lot.sent_hash.anew(), lot.received_hash.anew())

    def _both_hashes(self) -> tuple[FixedKeyHash, ...]:
        if not self._hashes:
            self.reserve(1)
        return self._hashes


class NamingPool(SuppliedPool):
    """A's pool."""

    def __init__(self, channel: Channel, source: Source, connect: Callable[[], PairPool], marks: Marks) -> None:
        super().__init__(channel, source, connect, marks)
        self._named: deque[Lots] = deque()
        """The lots whose names were sent, and that are not in this pool yet."""
        self._look_ahead(1)

    def take(self, count: int) -> tuple[Sent, Received]:
        found = super().take(count)
        # Whoever takes transfers often takes as many again. B has their names by then.
        self._look_ahead(min(count, STRETCH))
        return found

    def top_up(self) -> None:
        if self.left + self._coming < self._marks.low:
            self._look_ahead(self._marks.high)

    @property
    def _coming(self) -> int:
        return LOT * sum(named.count for named in self._named)

    def _next(self, count: int) -> Lots:
        self._look_ahead(self.left + min(count, _WINDOW))
        if not self._named:
            self._name(Lots(NO_SESSION, 0, min(count, STRETCH)))
        return self._named.popleft()

    def _look_ahead(self, count: int) -> None:
        """Name lots until this pool will hold `count` transfers, if there are lots to be had."""
        self._refuse_if_broken()
        with self._final_on_failure():
            while (missing := count - self.left - self._coming) > 0:
                found = self._source.promise(min(-(-missing // LOT), _MOST))
                if found is None:
                    return
                self._name(found)

    def _name(self, lots: Lots) -> None:
        self.channel.send(STEP, lots.encoded())
        self._named.append(lots)


class FollowingPool(SuppliedPool):
    """B's pool. It is filled by what A names, so there is nothing to do ahead."""

    def top_up(self) -> None:
        self._refuse_if_broken()

    def _next(self, count: int) -> Lots:
        named = Lots.decoded(self.channel.receive(STEP, NAMED_BYTES).tobytes())
        most = STRETCH if named.session == NO_SESSION else _MOST
        if not 0 < named.count <= most:
            raise OutOfRange(self.channel.peer, STEP, "it names no transfers, or more than it may at once")
        return named

    def _taken(self, named: Lots) -> list[Lot]:
        try:
            return super()._taken(named)
        except Reuse:
            raise WrongStep(self.channel.peer, STEP, "it names transfers that were used before") from None


def connect_supplied(
    role: int,
    channel: Channel,
    random: Randomness,
    source: Source,
    marks: Marks = USUAL,
    kind: TransferKind = EXTENDED,
) -> SuppliedPool:
    """A computing party's pool of one conversation. Where there are no lots, it connects when it first needs one."""
    connect = partial(connect_pair, role, channel, random, marks, kind)
    return (NamingPool if role == A else FollowingPool)(channel, source, connect, marks)
