"""The standing supply of random transfers between the two mixers, from which their conversations take lots.

The mixers hold one conversation for as long as both run. In it mixer a orders transfers, lot after lot, and a thread at
each mixer makes them, up to the agreed volume. While questions are worked on, the threads wait unless little is left.
Nothing of the supply is on disk. If the conversation breaks, the lots that nobody has taken end with it at both mixers,
and the next one, of another name, begins from nothing.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from mixbayes.protocol.channel import Channel
from mixbayes.protocol.computing_party import A, B
from mixbayes.protocol.errors import MixbayesError, PeerGone, PeerSilent
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.extension import STRETCH
from mixbayes.protocol.transfer.kinds import EXTENDED, TransferKind
from mixbayes.protocol.transfer.lots import LOT, SESSION_BYTES, Lot, Lots, Shelf
from mixbayes.protocol.transfer.pool import BothWays, connect_pair
from mixbayes.protocol.transfer.supplied import STEP

ORDER, STILL_HERE = "transfers to make ahead", "nothing to make ahead"
_ORDER_BYTES = 4
_END = (1 << 8 * _ORDER_BYTES) - 1
_TOGETHER = STRETCH // LOT
"""Lots of one order."""
_QUIET = 5.0
"""Seconds after which mixer a says that it is still there, if there is nothing to make."""


class Supply:
    """One mixer's end. Its conversations promise and take lots, and one thread puts new ones there."""

    def __init__(self, transfers: int, other: str, deadline: float, kind: TransferKind = EXTENDED) -> None:
        """`transfers` are kept ahead in each direction; with none there is no supply. `other` is whom to blame."""
        self.kind = kind
        self._volume = -(-transfers // LOT)
        self._together = min(_TOGETHER, self._volume)
        self._other = other
        self._deadline = deadline
        self._shelf: Shelf | None = None
        self._at_work = 0
        self._closed = False
        self._hang_up: Callable[[], None] = lambda: None
        self._changed = threading.Condition()

    @property
    def wanted(self) -> bool:
        """Whether the agreement has one, and this node does not stop."""
        return self._volume > 0 and not self._closed

    @property
    def ready(self) -> int:
        """Transfers that are made and promised to nobody."""
        with self._changed:
            return LOT * max(0, self._shelf.spare) if self._shelf else 0

    def promise(self, lots: int) -> Lots | None:
        """All that are ready, or those of the next order: the rest is promised later, and others get theirs between."""
        with self._changed:
            if self._shelf is None:
                return None
            found = self._shelf.promise(min(lots, max(self._shelf.spare, self._together)))
            self._changed.notify_all()
            return found

    def take(self, lots: Lots) -> list[Lot]:
        """These lots, once they are made. If the supply breaks off before, so does the conversation that asks."""
        with self._changed:
            shelf = self._shelf
            if shelf is None or shelf.session != lots.session:
                raise self._broke_off()
            if not self._changed.wait_for(lambda: self._shelf is not shelf or shelf.made >= lots.end, self._deadline):
                raise PeerSilent(self._other, STEP, f"transfers were not made within {self._deadline:g} s")
            if self._shelf is not shelf:
                raise self._broke_off()
            return shelf.take(lots)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """A question or a training is worked on: what is not urgent waits."""
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    @contextmanager
    def session(self, key: str, hang_up: Callable[[], None] = lambda: None) -> Iterator[Shelf]:
        """Lots can be promised while this lasts. `key` is the name of the conversation, which `hang_up` ends."""
        shelf = Shelf(hashlib.sha256(key.encode()).digest()[:SESSION_BYTES])
        self._hang_up = hang_up
        self._replace(shelf)
        try:
            yield shelf
        finally:
            with self._changed:
                if self._shelf is shelf:
                    self._replace(None)

    def end(self) -> None:
        """The session is over: nobody waits for its lots any longer."""
        self._replace(None)

    def close(self) -> None:
        """The node stops."""
        self._closed = True
        self._replace(None)
        self._hang_up()

    def due(self, shelf: Shelf) -> int | None:
        """How many lots to make now, as soon as there are any; none after a while; nothing once the session is over."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._shelf is not shelf or self._due(shelf), min(_QUIET, self._deadline / 3)
            )
            return self._due(shelf) if self._shelf is shelf else None

    def make(self, shelf: Shelf, pool: BothWays, count: int) -> None:
        """Make so many lots, while the other mixer does so too."""
        sent, received = pool.take(count * LOT)
        with self._changed:
            shelf.put(Lot(sent, received, pool.sent_hash, pool.received_hash))
            self._changed.notify_all()

    def pause(self, seconds: float) -> None:
        """Wait, or until the node stops."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed, seconds)

    def _due(self, shelf: Shelf) -> int:
        """What is promised is made at once, and so is what a quarter of the volume lacks. The rest can wait."""
        room = shelf.spare + self._together <= self._volume
        urgent = 4 * shelf.spare < self._volume or not self._at_work
        return self._together if shelf.spare < 0 or (room and urgent) else 0

    def _count(self, more: int) -> None:
        with self._changed:
            self._at_work += more
            self._changed.notify_all()

    def _replace(self, shelf: Shelf | None) -> None:
        with self._changed:
            self._shelf = shelf
            self._changed.notify_all()

    def _broke_off(self) -> PeerGone:
        return PeerGone(self._other, STEP, "the supply of transfers broke off")


NO_SUPPLY = Supply(0, "the other mixer", 0.0)
"""Where every conversation makes its own transfers."""


def lead(supply: Supply, channels: Sequence[Channel], key: str) -> None:
    """Mixer a's part in one conversation about the supply, over its channels for now and ahead."""
    now, ahead = channels
    pool = connect_pair(A, ahead, Randomness.from_system(), kind=supply.kind)
    with supply.session(key) as shelf:
        while (count := supply.due(shelf)) is not None:
            now.send(ORDER, count.to_bytes(_ORDER_BYTES, "little"))
            if count:
                supply.make(shelf, pool, count)
            else:
                now.receive(STILL_HERE, 0)
    now.send(ORDER, _END.to_bytes(_ORDER_BYTES, "little"))


def follow(supply: Supply, channels: Sequence[Channel], key: str) -> None:
    """Mixer b's part: it makes what mixer a orders, until one of the two stops."""
    now, ahead = channels
    try:
        with supply.session(key, now.close) as shelf:
            pool = connect_pair(B, ahead, Randomness.from_system(), kind=supply.kind)
            while (count := int.from_bytes(now.receive(ORDER, _ORDER_BYTES).tobytes(), "little")) != _END:
                if count:
                    supply.make(shelf, pool, count)
                else:
                    now.send(STILL_HERE, b"")
    except MixbayesError:
        if supply.wanted:  # else this node has hung up itself
            raise
