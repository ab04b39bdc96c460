"""Random transfers made ahead, in blocks, each handed out once.

A pool fills to its high mark when a role asks for more than it holds, or when `top_up` finds it below its low mark.
Both ends ask for the same numbers in the same order, so both fill at the same points. Nothing is put back: a pool whose
fill failed half-way is broken and hands out nothing any more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from mixbayes.protocol.arrays import Bits, Words
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.computing_party import A
from mixbayes.protocol.errors import LocalError, Reuse
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.base import COUNT, BaseReceived, BaseSent, receive_base, send_base
from mixbayes.protocol.transfer.extension import (
    CHECKED_STRETCH,
    CORRECTIONS,
    STRETCH,
    UNIT,
    Begun,
    Received,
    ReceiverExtension,
    SenderExtension,
    Sent,
)
from mixbayes.protocol.transfer.pads import FixedKeyHash

_AHEAD = 4
"""Who asks for some is likely to ask again: so many times as many are made, up to the high mark."""


@dataclass(frozen=True, slots=True)
class Marks:
    """A pool below `low` is filled to `high` transfers."""

    low: int = 1 << 12
    high: int = 1 << 15


class _Stock(ABC):
    """What one end has made and not yet handed out."""

    def __init__(self) -> None:
        self._start = self._end = 0

    @property
    def left(self) -> int:
        return self._end - self._start

    @abstractmethod
    def room(self, count: int) -> None:
        """Make room for `count` more behind what is left, and for the cipher's spare row behind those."""

    def add(self, count: int) -> None:
        """So many have been put where the next ones go."""
        self._end += count


class SentStock(_Stock):
    """The sender's."""

    def __init__(self) -> None:
        super().__init__()
        self._pads = np.empty((2, 1, 2), np.uint64)

    def room(self, count: int) -> None:
        if self._end + count < self._pads.shape[1]:
            return
        grown = np.empty((2, self.left + count + 1, 2), np.uint64)
        grown[:, : self.left] = self._pads[:, self._start : self._end]
        self._pads, self._start, self._end = grown, 0, self.left

    def next(self) -> Words:
        """Where the next transfers go."""
        return self._pads[:, self._end :]

    def hand_out(self, count: int) -> Sent:
        self._start += count
        return Sent(self._pads[:, self._start - count : self._start])


class ReceivedStock(_Stock):
    """The receiver's."""

    def __init__(self) -> None:
        super().__init__()
        self._choices = np.empty(1, np.uint8)
        self._pads = np.empty((1, 2), np.uint64)

    def room(self, count: int) -> None:
        if self._end + count < len(self._pads):
            return
        size, left = self.left + count + 1, slice(self._start, self._end)
        choices, pads = np.empty(size, np.uint8), np.empty((size, 2), np.uint64)
        choices[: self.left], pads[: self.left] = self._choices[left], self._pads[left]
        self._choices, self._pads, self._start, self._end = choices, pads, 0, self.left

    def next(self) -> tuple[Bits, Words]:
        return self._choices[self._end :], self._pads[self._end :]

    def hand_out(self, count: int) -> Received:
        self._start += count
        part = slice(self._start - count, self._start)
        return Received(self._choices[part], self._pads[part])


class _Pool(ABC):
    """What the three kinds of pool share: when to fill, and that a failed fill is final."""

    def __init__(self, channel: Channel, marks: Marks, stretch_size: int, *stocks: _Stock) -> None:
        self.channel = channel
        self._marks = marks
        self._stretch_size = stretch_size
        self._stocks = stocks
        self._broken = False

    @property
    def left(self) -> int:
        """Transfers made and not handed out, in each direction."""
        return self._stocks[0].left

    @abstractmethod
    def _stretch(self, count: int) -> None:
        """Make the next stretch, of so many."""

    def top_up(self) -> None:
        """Fill to the high mark if below the low one: what a node does while it has nothing else to do."""
        if self.left < self._marks.low:
            self.reserve(self._marks.high)

    def reserve(self, count: int) -> None:
        """Hold at least `count`."""
        self._refuse_if_broken()
        if self.left >= count:
            return
        with self._final_on_failure():
            for stock in self._stocks:
                stock.room(self._missing(count))
            while self.left < count:
                self._stretch(min(self._stretch_size, self._missing(count)))

    def _refuse_if_broken(self) -> None:
        if self._broken:
            raise Reuse(
                f"The transfers shared with {self.channel.peer} broke off while being made, and none of them may be "
                "used any more. Connect again."
            )

    def _missing(self, count: int) -> int:
        """How many to make for `count` to be there: for more to come too, but no more than the high mark for a few."""
        wanted = max(count, min(self._marks.high, _AHEAD * count))
        return -(-(wanted - self.left) // UNIT) * UNIT

    @contextmanager
    def _final_on_failure(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self._broken = True
            raise


class SentPool(_Pool):
    """One direction: this end sends."""

    def __init__(self, extension: SenderExtension, channel: Channel, marks: Marks) -> None:
        self._extension = extension
        self._stock = SentStock()
        super().__init__(channel, marks, CHECKED_STRETCH, self._stock)

    @property
    def hash(self) -> FixedKeyHash:
        return self._extension.long_hash

    def take(self, count: int) -> Sent:
        self.reserve(count)
        return self._stock.hand_out(count)

    def _stretch(self, count: int) -> None:
        self._extension.make(self.channel, count, self._stock.next())
        self._stock.add(count)


class ReceivedPool(_Pool):
    """One direction: this end receives."""

    def __init__(self, extension: ReceiverExtension, channel: Channel, marks: Marks) -> None:
        self._extension = extension
        self._stock = ReceivedStock()
        super().__init__(channel, marks, CHECKED_STRETCH, self._stock)
        self._begun: Begun | None = None
        self._promised = 0

    @property
    def hash(self) -> FixedKeyHash:
        return self._extension.long_hash

    def prepare(self, count: int) -> None:
        """Begin to make what the next `take`, of as many, will need, without waiting for the sender."""
        self._refuse_if_broken()
        if self._promised:
            return
        self._promised = count
        if self.left < count:
            with self._final_on_failure():
                self._begun = self._begin(min(self._stretch_size, self._missing(count)))

    def top_up(self) -> None:
        if self._promised:
            raise LocalError("What was prepared must be taken before the pool is filled.")
        super().top_up()

    def take(self, count: int) -> Received:
        if self._promised not in (0, count):
            raise LocalError(f"{self._promised} transfers were prepared, and then {count} asked for.")
        self.reserve(count)
        self._promised = 0
        return self._stock.hand_out(count)

    def _begin(self, count: int) -> Begun:
        begun = self._extension.start(count)
        self.channel.send(CORRECTIONS, begun.corrections)
        return begun

    def _stretch(self, count: int) -> None:
        begun, self._begun = self._begun or self._begin(count), None
        self._extension.finish(self.channel, begun, *self._stock.next())
        self._stock.add(begun.count)


class PairPool(_Pool):
    """Both directions at once, as the two computing parties use them: `take(n)` is n transfers each way."""

    def __init__(self, sender: SenderExtension, receiver: ReceiverExtension, channel: Channel, marks: Marks) -> None:
        self._sender, self._receiver = sender, receiver
        self._sent, self._received = SentStock(), ReceivedStock()
        super().__init__(channel, marks, STRETCH, self._sent, self._received)

    @property
    def sent_hash(self) -> FixedKeyHash:
        return self._sender.long_hash

    @property
    def received_hash(self) -> FixedKeyHash:
        return self._receiver.long_hash

    def take(self, count: int) -> tuple[Sent, Received]:
        self.reserve(count)
        return self._sent.hand_out(count), self._received.hand_out(count)

    def _stretch(self, count: int) -> None:
        begun = self._receiver.start(count)
        self.channel.send(CORRECTIONS, begun.corrections)
        self._receiver.finish(self.channel, begun, *self._received.next())
        self._received.add(count)
        self._sender.make(self.channel, count, self._sent.next())
        self._sent.add(count)


def connect_pair(role: int, channel: Channel, random: Randomness, marks: Marks = Marks()) -> PairPool:
    """Base transfers one way; the first 128 extended ones are the base transfers of the other way.

    Neither direction is checked: the two computing parties are semi-honest, two hospitals alone too.
    """
    random = random.branch()
    if role == A:
        sender = SenderExtension(receive_base(channel, random), channel, random)
        pads = np.empty((2, COUNT + 1, 2), np.uint64)
        sender.make(channel, COUNT, pads)
        receiver = ReceiverExtension(BaseSent(pads[:, :COUNT].copy()), channel, random)
        return PairPool(sender, receiver, channel, marks)
    receiver = ReceiverExtension(send_base(channel, random), channel, random)
    choices, chosen = np.empty(COUNT, np.uint8), np.empty((COUNT + 1, 2), np.uint64)
    receiver.make(channel, COUNT, choices, chosen)
    sender = SenderExtension(BaseReceived(choices, chosen[:COUNT].copy()), channel, random)
    return PairPool(sender, receiver, channel, marks)


def connect_asker(channel: Channel, random: Randomness, marks: Marks = Marks()) -> ReceivedPool:
    """The asking hospital's end towards one mixer: it only ever receives, and proves that it does so honestly."""
    random = random.branch()
    return ReceivedPool(ReceiverExtension(send_base(channel, random), channel, random, checked=True), channel, marks)


def connect_answerer(channel: Channel, random: Randomness, marks: Marks = Marks()) -> SentPool:
    """A mixer's end towards an asking hospital."""
    random = random.branch()
    return SentPool(SenderExtension(receive_base(channel, random), channel, random, checked=True), channel, marks)
