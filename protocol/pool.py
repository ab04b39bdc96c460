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

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.base_ot import COUNT, BaseReceived, BaseSent, receive_base, send_base
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import Reuse
from mixbayes.protocol.extension import (
    CHECKED_STRETCH,
    CORRECTIONS,
    STRETCH,
    UNIT,
    Received,
    ReceiverExtension,
    SenderExtension,
    Sent,
)
from mixbayes.protocol.fixed_key import FixedKeyHash
from mixbayes.protocol.randomness import Randomness


@dataclass(frozen=True, slots=True)
class Marks:
    """A pool below `low` is filled to `high` transfers."""

    low: int = 1 << 12
    high: int = 1 << 15


class SentStock:
    """What the sender has made and not yet handed out."""

    def __init__(self) -> None:
        self.pads = np.empty((2, 1, 2), np.uint64)
        self.left = 0

    def room(self, count: int) -> None:
        """Keep what is left, at the front, with room for `count` more and the cipher's spare row behind."""
        grown = np.empty((2, self.left + count + 1, 2), np.uint64)
        grown[:, : self.left] = self.pads[:, self.pads.shape[1] - 1 - self.left : -1]
        self.pads = grown

    def hand_out(self, count: int) -> Sent:
        start = self.pads.shape[1] - 1 - self.left
        self.left -= count
        return Sent(self.pads[:, start : start + count])


class ReceivedStock:
    """What the receiver has made and not yet handed out."""

    def __init__(self) -> None:
        self.choices = np.empty(0, np.uint8)
        self.pads = np.empty((1, 2), np.uint64)
        self.left = 0

    def room(self, count: int) -> None:
        """As `SentStock.room`."""
        choices, pads = np.empty(self.left + count, np.uint8), np.empty((self.left + count + 1, 2), np.uint64)
        start = self.choices.size - self.left
        choices[: self.left] = self.choices[start:]
        pads[: self.left] = self.pads[start:-1]
        self.choices, self.pads = choices, pads

    def hand_out(self, count: int) -> Received:
        start = self.choices.size - self.left
        self.left -= count
        return Received(self.choices[start : start + count], self.pads[start : start + count])


class _Pool(ABC):
    """What the three kinds of pool share: when to fill, and that a failed fill is final."""

    def __init__(self, channel: Channel, marks: Marks, stretch_size: int) -> None:
        self.channel = channel
        self._marks = marks
        self._stretch_size = stretch_size
        self._broken = False

    @property
    @abstractmethod
    def left(self) -> int:
        """Transfers made and not handed out."""

    @abstractmethod
    def _stretch(self, count: int) -> int:
        """Make the next stretch of at most `count`; returns how many were made."""

    def top_up(self) -> None:
        """Fill to the high mark if below the low one: what a node does while it has nothing else to do."""
        if self.left < self._marks.low:
            self.reserve(self._marks.high)

    def reserve(self, count: int) -> None:
        """Hold at least `count`."""
        self._refuse_if_broken()
        with self._final_on_failure():
            while self.left < count:
                self._stretch(min(self._stretch_size, self._missing(count)))

    def _refuse_if_broken(self) -> None:
        if self._broken:
            raise Reuse(
                f"The transfers shared with {self.channel.peer} broke off while being made, and none of them may be "
                "used any more. Connect again."
            )

    def _missing(self, count: int) -> int:
        """How many to make for `count` to be there: up to the high mark at least."""
        return -(-(max(count, self._marks.high) - self.left) // UNIT) * UNIT

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
        super().__init__(channel, marks, CHECKED_STRETCH)
        self._extension = extension
        self._stock = SentStock()

    @property
    def left(self) -> int:
        return self._stock.left

    @property
    def hash(self) -> FixedKeyHash:
        return self._extension.long_hash

    def take(self, count: int) -> Sent:
        self.reserve(count)
        return self._stock.hand_out(count)

    def _stretch(self, count: int) -> int:
        self._stock.room(count)
        self._extension.make(self.channel, count, self._stock.pads[:, self._stock.left :])
        self._stock.left += count
        return count


class ReceivedPool(_Pool):
    """One direction: this end receives."""

    def __init__(self, extension: ReceiverExtension, channel: Channel, marks: Marks) -> None:
        super().__init__(channel, marks, CHECKED_STRETCH)
        self._extension = extension
        self._stock = ReceivedStock()
        self._begun: tuple[int, Words] | None = None

    @property
    def left(self) -> int:
        return self._stock.left

    @property
    def hash(self) -> FixedKeyHash:
        return self._extension.long_hash

    def prepare(self, count: int) -> None:
        """Begin to make what `take(count)` will need, without waiting for the sender; the next `take` is of as many."""
        self._refuse_if_broken()
        if self.left < count and self._begun is None:
            with self._final_on_failure():
                self._begun = self._begin(min(self._stretch_size, self._missing(count)))

    def take(self, count: int) -> Received:
        self.reserve(count)
        return self._stock.hand_out(count)

    def _begin(self, count: int) -> tuple[int, Words]:
        packed, corrections = self._extension.start(count)
        self.channel.send(CORRECTIONS, corrections)
        return count, packed

    def _stretch(self, count: int) -> int:
        made, packed = self._begun or self._begin(count)
        self._begun = None
        stock = self._stock
        stock.room(made)
        self._extension.finish(self.channel, made, packed, stock.choices[stock.left :], stock.pads[stock.left :])
        stock.left += made
        return made


class PairPool(_Pool):
    """Both directions at once, as the two computing parties use them: `take(n)` is n transfers each way."""

    def __init__(self, sender: SenderExtension, receiver: ReceiverExtension, channel: Channel, marks: Marks) -> None:
        super().__init__(channel, marks, STRETCH)
        self._sender, self._receiver = sender, receiver
        self._sent, self._received = SentStock(), ReceivedStock()

    @property
    def left(self) -> int:
        return self._sent.left

    @property
    def sent_hash(self) -> FixedKeyHash:
        return self._sender.long_hash

    @property
    def received_hash(self) -> FixedKeyHash:
        return self._receiver.long_hash

    def take(self, count: int) -> tuple[Sent, Received]:
        self.reserve(count)
        return self._sent.hand_out(count), self._received.hand_out(count)

    def _stretch(self, count: int) -> int:
        sent, received = self._sent, self._received
        sent.room(count)
        received.room(count)
        packed, mine = self._receiver.start(count)
        theirs = self.channel.swap(CORRECTIONS, mine)
        self._sender.make(self.channel, count, sent.pads[:, sent.left :], theirs)
        self._receiver.finish(
            self.channel, count, packed, received.choices[received.left :], received.pads[received.left :]
        )
        sent.left += count
        received.left += count
        return count


def connect_pair(role: int, channel: Channel, random: Randomness, marks: Marks = Marks()) -> PairPool:
    """Base transfers one way; the first 128 extended ones are the base transfers of the other way."""
    if role == 0:
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
    return ReceivedPool(ReceiverExtension(send_base(channel, random), channel, random, checked=True), channel, marks)


def connect_answerer(channel: Channel, random: Randomness, marks: Marks = Marks()) -> SentPool:
    """A mixer's end towards an asking hospital."""
    return SentPool(SenderExtension(receive_base(channel, random), channel, random, checked=True), channel, marks)
