"""Pools of random transfers that are made ahead, in stretches, and each handed out once.

A pool is filled when a role asks for more transfers than it holds, or when `top_up` finds it below its low mark. Both
parties ask for the same numbers of transfers in the same order, so both fill their pools at the same points. Nothing is
put back: a pool whose filling failed half-way is broken and hands out nothing any more.

What is handed out depends on no input. A circuit puts a random transfer to use by announcing, masked by the random
choice, which of the two pads it wants (Beaver, CRYPTO 1995).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from mixbayes.protocol.arrays import Bits, Words
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import Reuse
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.shares import A
from mixbayes.protocol.transfer.base import COUNT, BaseReceived, BaseSent, receive_base, send_base
from mixbayes.protocol.transfer.extension import (
    STRETCH,
    UNIT,
    Received,
    ReceiverExtension,
    SenderExtension,
    Sent,
)
from mixbayes.protocol.transfer.kinds import EXTENDED, TransferKind, hear, tell
from mixbayes.protocol.transfer.pads import FixedKeyHash
from mixbayes.protocol.transfer.silent import SilentPair

_AHEAD = 4
"""A role that asks for transfers is likely to ask again: this multiple of them is made, up to the high mark."""


@dataclass(frozen=True, slots=True)
class Marks:
    """A pool below `low` is filled to `high` transfers."""

    low: int = 1 << 12
    high: int = 1 << 15


class _Stock(ABC):
    """The transfers of one direction that are made and not yet handed out: `_start` to `_end` of its arrays."""

    def __init__(self) -> None:
        self._start = self._end = 0

    @property
    def left(self) -> int:
        return self._end - self._start

    @abstractmethod
    def room(self, count: int) -> None:
        """Make room for `count` transfers behind those that are left, and for the cipher's spare row behind them."""

    def add(self, count: int) -> None:
        """Count transfers that were written to where `next` pointed."""
        self._end += count


class SentStock(_Stock):
    """The sender's stock."""

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
        """Where the next transfers are to be written."""
        return self._pads[:, self._end :]

    def hand_out(self, count: int) -> Sent:
        self._start += count
        return Sent(self._pads[:, self._start - count : self._start])


class ReceivedStock(_Stock):
    """The receiver's stock."""

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
        """Where the choices and the pads of the next transfers are to be written."""
        return self._choices[self._end :], self._pads[self._end :]

    def hand_out(self, count: int) -> Received:
        self._start += count
        part = slice(self._start - count, self._start)
        return Received(self._choices[part], self._pads[part])


class _Pool(ABC):
    """What the three kinds of pool share: when a pool is filled, and that a failure while filling is final."""

    def __init__(self, channel: Channel, marks: Marks, *stocks: _Stock) -> None:
        self.channel = channel
        self._marks = marks
        self._stocks = stocks
        self._broken = False

    @property
    def left(self) -> int:
        """Transfers made and not yet handed out, in each direction."""
        return self._stocks[0].left

    @abstractmethod
    def _stretch(self, count: int) -> None:
        """Make the next `count` transfers and add them to the stock."""

    def top_up(self) -> None:
        """Fill to the high mark if below the low one. A node does this while it has nothing else to do."""
        if self.left < self._marks.low:
            self.reserve(self._marks.high)

    def reserve(self, count: int) -> None:
        """Make transfers until the pool holds at least `count`."""
        self._refuse_if_broken()
        if self.left >= count:
            return
        with self._final_on_failure():
            for stock in self._stocks:
                stock.room(self._missing(count))
            while self.left < count:
                self._stretch(min(STRETCH, self._missing(count)))

    def _refuse_if_broken(self) -> None:
        if self._broken:
            raise Reuse(
                f"The transfers shared with {self.channel.peer} broke off while being made, and none of them may be "
                "used any more. Connect again."
            )

    def _missing(self, count: int) -> int:
        """How many to make so that the pool holds `count`, and some more for the requests to come.

        A small request makes more than it needs, up to the high mark. A request beyond that mark makes what it needs.
        """
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
    """Transfers in one direction, of which this party is the sender."""

    def __init__(self, extension: SenderExtension, channel: Channel, marks: Marks) -> None:
        self._extension = extension
        self._stock = SentStock()
        super().__init__(channel, marks, self._stock)

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
    """Transfers in one direction, of which this party is the receiver."""

    def __init__(self, extension: ReceiverExtension, channel: Channel, marks: Marks) -> None:
        self._extension = extension
        self._stock = ReceivedStock()
        super().__init__(channel, marks, self._stock)

    @property
    def hash(self) -> FixedKeyHash:
        return self._extension.long_hash

    def take(self, count: int) -> Received:
        self.reserve(count)
        return self._stock.hand_out(count)

    def _stretch(self, count: int) -> None:
        self._extension.make(self.channel, count, *self._stock.next())
        self._stock.add(count)


class BothWays(_Pool):
    """Transfers in both directions, as the two computing parties use them: `take(n)` hands out n each way."""

    def __init__(self, channel: Channel, marks: Marks) -> None:
        self._sent, self._received = SentStock(), ReceivedStock()
        super().__init__(channel, marks, self._sent, self._received)

    @property
    @abstractmethod
    def sent_hash(self) -> FixedKeyHash:
        """For long masks of what this party sends."""

    @property
    @abstractmethod
    def received_hash(self) -> FixedKeyHash:
        """For long masks of what this party receives."""

    def take(self, count: int) -> tuple[Sent, Received]:
        self.reserve(count)
        return self._sent.hand_out(count), self._received.hand_out(count)


class PairPool(BothWays):
    """Transfers that the two computing parties make by extensions of their own.

    With `silent`, the extension makes the first transfers of a session alone, and silent ones follow. Which comes next
    depends on the numbers asked for, which both parties know.
    """

    def __init__(
        self,
        sender: SenderExtension,
        receiver: ReceiverExtension,
        channel: Channel,
        marks: Marks,
        silent: SilentPair | None = None,
        extended: int = 0,
    ) -> None:
        self._sender, self._receiver = sender, receiver
        self._silent, self._extended_left = silent, extended
        super().__init__(channel, marks)

    @property
    def sent_hash(self) -> FixedKeyHash:
        return self._sender.long_hash

    @property
    def received_hash(self) -> FixedKeyHash:
        return self._receiver.long_hash

    def _stretch(self, count: int) -> None:
        if self._silent and (self._silent.left >= count or count > self._extended_left):
            self._expand(self._silent, count)
        else:
            self._extend(count)

    def _expand(self, silent: SilentPair, count: int) -> None:
        if not silent.left:
            silent.begin(self.channel)
        count = min(count, silent.left)
        silent.expand(count, self._sent.next(), *self._received.next())
        self._sent.add(count)
        self._received.add(count)

    def _extend(self, count: int) -> None:
        self._extended_left -= count
        started = self._receiver.start(count)
        # Both parties send their stretch before either waits for the other's.
        started.send(self.channel)
        self._receiver.finish(started, *self._received.next())
        self._received.add(count)
        self._sender.make(self.channel, count, self._sent.next())
        self._sent.add(count)


def connect_pair(
    role: int, channel: Channel, random: Randomness, marks: Marks = Marks(), kind: TransferKind = EXTENDED
) -> PairPool:
    """The two computing parties' pool."""
    random = random.branch()
    tell(channel, kind)
    sender, receiver = _extensions(role, channel, random, kind)
    silent = SilentPair(role, sender, receiver, random, kind.sizes) if kind.sizes else None
    return PairPool(sender, receiver, channel, marks, silent, kind.extended)


def _extensions(
    role: int, channel: Channel, random: Randomness, kind: TransferKind
) -> tuple[SenderExtension, ReceiverExtension]:
    """Both directions of the extension, once each party has heard how the other makes transfers.

    Base transfers are made in one direction. The first 128 extended transfers of that direction serve as the base
    transfers of the other one.
    """
    grouping = kind.grouping
    if role == A:
        hear(channel, kind)
        sender = SenderExtension(receive_base(channel, random), channel, random, grouping)
        pads = np.empty((2, COUNT + 1, 2), np.uint64)
        sender.make(channel, COUNT, pads)
        return sender, ReceiverExtension(BaseSent(pads[:, :COUNT].copy()), channel, random, grouping)
    base = send_base(channel, random, lambda: hear(channel, kind))
    receiver = ReceiverExtension(base, channel, random, grouping)
    choices, chosen = np.empty(COUNT, np.uint8), np.empty((COUNT + 1, 2), np.uint64)
    receiver.make(channel, COUNT, choices, chosen)
    return SenderExtension(BaseReceived(choices, chosen[:COUNT].copy()), channel, random, grouping), receiver


def connect_asker(channel: Channel, random: Randomness, marks: Marks = Marks()) -> ReceivedPool:
    """The asking hospital's pool with one mixer. It is only ever the receiver."""
    random = random.branch()
    return ReceivedPool(ReceiverExtension(send_base(channel, random), channel, random), channel, marks)


def connect_answerer(channel: Channel, random: Randomness, marks: Marks = Marks()) -> SentPool:
    """A mixer's pool with an asking hospital."""
    random = random.branch()
    return SentPool(SenderExtension(receive_base(channel, random), channel, random), channel, marks)
