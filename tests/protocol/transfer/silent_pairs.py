"""Two ends of silent transfers in memory, of small sizes, over an extension whose base transfers are dealt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mixbayes.protocol.arrays import Bits, Words
from mixbayes.protocol.computing_party import A, B
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.extension import FOURS, ReceiverExtension, SenderExtension
from mixbayes.protocol.transfer.kinds import TransferKind
from mixbayes.protocol.transfer.lpn import LpnSizes
from mixbayes.protocol.transfer.silent import SilentPair
from tests.protocol.adversary import TappedEnds
from tests.protocol.pairs import converse, random_for
from tests.protocol.transfer.test_lying_receiver import dealt_base

SMALL = LpnSizes(secret=128, trees=32, depth=6)
SMALL_KIND = TransferKind(FOURS, SMALL, extended=512)


@dataclass
class Direction:
    """What both ends have of one direction."""

    sent: Words
    choices: Bits
    received: Words

    def assert_related(self) -> None:
        """The receiver has the pad of its choice and not the other, and no pad comes twice."""
        every = np.arange(self.choices.size)
        assert np.array_equal(self.received, self.sent[self.choices, every])
        assert (self.received != self.sent[1 - self.choices, every]).any(axis=1).all()
        assert np.unique(self.sent[..., 0]).size == self.sent[..., 0].size


class SilentEnds:
    """A and B with silent transfers, and ears at the channel between them."""

    def __init__(self, sizes: LpnSizes = SMALL, number: int = 1, draws: dict[int, Randomness] | None = None) -> None:
        self.ends = TappedEnds()
        self.a, self.b = self.both(*(self._connect(role, sizes, number, draws or {}) for role in (A, B)))

    def _connect(self, role: int, sizes: LpnSizes, number: int, draws: dict[int, Randomness]) -> Callable[[], Any]:
        sent, received = dealt_base(100 * number + role)[0], dealt_base(100 * number + 1 - role)[1]
        channel = self.ends.first if role == A else self.ends.second

        def connect() -> SilentPair:
            random = draws.get(role, random_for(100 * number + 10 + role))
            if role == A:
                sender = SenderExtension(received, channel, random, FOURS)
                return SilentPair(role, sender, ReceiverExtension(sent, channel, random, FOURS), random, sizes)
            receiver = ReceiverExtension(sent, channel, random, FOURS)
            return SilentPair(role, SenderExtension(received, channel, random, FOURS), receiver, random, sizes)

        return connect

    def both(self, of_a: Callable[[], Any], of_b: Callable[[], Any]) -> tuple[Any, Any]:
        one, other = converse([self.ends], of_a, of_b)
        return one, other

    def begin(self) -> None:
        self.both(lambda: self.a.begin(self.ends.first), lambda: self.b.begin(self.ends.second))

    def expand(self, count: int) -> tuple[Direction, Direction]:
        (sent_a, choices_a, received_a), (sent_b, choices_b, received_b) = (
            expanded(end, count) for end in (self.a, self.b)
        )
        return Direction(sent_a, choices_b, received_b), Direction(sent_b, choices_a, received_a)


def expanded(end: SilentPair, count: int) -> tuple[Words, Bits, Words]:
    sent, received = np.empty((2, count + 1, 2), np.uint64), np.empty((count + 1, 2), np.uint64)
    choices = np.empty(count, np.uint8)
    end.expand(count, sent, choices, received)
    return sent[:, :-1], choices, received[:-1]
