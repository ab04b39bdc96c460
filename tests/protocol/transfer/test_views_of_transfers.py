"""What each end of the transfers hears says nothing: not of the choices that the receiver makes."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from mixbayes.protocol.arrays import Bits, Words
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.base import COUNT, receive_base, send_base
from mixbayes.protocol.transfer.extension import CHECK, CORRECTIONS, TREES, ReceiverExtension, SenderExtension
from mixbayes.protocol.transfer.silent import ANSWER, QUESTION, SUMS
from tests.protocol.adversary import TappedEnds, dealt_receive, dealt_send
from tests.protocol.pairs import converse, random_for, seed
from tests.protocol.transfer.silent_pairs import SMALL, SilentEnds
from tests.protocol.views import RUNS, tells_nothing

TRANSFERS = 256


class Choosing(Randomness):
    """Draws as others do, but its choices are all the same."""

    def __init__(self, number: int, choice: int) -> None:
        super().__init__(seed(number))
        self._choice = choice

    def bits(self, *shape: int) -> Bits:
        return np.full(shape, self._choice, np.uint8)

    def words(self, *shape: int) -> Words:
        """The choices of a stretch; those of its spare transfers, which stand last, are as they are drawn."""
        words = super().words(*shape)
        words[: TRANSFERS // 64] = np.uint64(2**64 - 1 if self._choice else 0)
        return words


def answers(choice: int) -> Bits:
    """The 128 points, (answers, bits), that a sender hears of a receiver that always chooses alike."""
    ends = TappedEnds()
    receiver = Choosing(2000 + choice, choice)
    converse([ends], lambda: send_base(ends.first, random_for(1)), lambda: receive_base(ends.second, receiver))
    ((_, raw),) = ends.first.heard
    return np.unpackbits(raw.reshape(COUNT, -1), axis=1)


def test_answers_are_points_like_random_ones_whatever_is_chosen() -> None:
    tells_nothing([answers(choice) for choice in (0, 1)], 0)


@lru_cache
def extension_views(choice: int) -> list[list[tuple[str, Bits]]]:
    """What the sender of extended transfers hears, message by message, of receivers that always choose alike."""
    runs = []
    for run in range(RUNS):
        ends = TappedEnds()

        def sender(ends: TappedEnds = ends) -> None:
            extension = SenderExtension(dealt_receive(ends.first, random_for(1)), ends.first, random_for(2))
            ends.first.forget()
            for _ in range(2):
                extension.make(ends.first, TRANSFERS, np.empty((2, TRANSFERS + 1, 2), np.uint64))

        def receiver(ends: TappedEnds = ends, number: int = 3000 + 100 * choice + run) -> None:
            base = dealt_send(ends.second, random_for(number))
            extension = ReceiverExtension(base, ends.second, Choosing(number + 1000, choice))
            for _ in range(2):
                extension.make(
                    ends.second, TRANSFERS, np.empty(TRANSFERS, np.uint8), np.empty((TRANSFERS + 1, 2), np.uint64)
                )

        converse([ends], sender, receiver)
        trees = [(step, raw) for step, raw in ends.second.said if step == TREES]
        runs.append([(step, np.unpackbits(raw)) for step, raw in [*trees, *ends.first.heard]])
    return runs


def test_trees_corrections_and_checks_are_uniform_whatever_is_chosen() -> None:
    views = [
        np.stack([np.concatenate([raw for _, raw in run]) for run in extension_views(choice)]) for choice in (0, 1)
    ]
    assert [step for step, _ in extension_views(0)[0]] == [TREES, *2 * [CORRECTIONS, CHECK]]
    tells_nothing(views, 0)


def test_the_sender_s_key_is_all_that_the_receiver_hears() -> None:
    ends = TappedEnds()

    def sender() -> None:
        SenderExtension(dealt_receive(ends.first, random_for(1)), ends.first, random_for(2))

    def receiver() -> None:
        base = dealt_send(ends.second, random_for(3))
        extension = ReceiverExtension(base, ends.second, random_for(4))
        extension.make(ends.second, COUNT, np.empty(COUNT, np.uint8), np.empty((COUNT + 1, 2), np.uint64))

    converse([ends], sender, receiver)
    assert [(step, raw.size) for step, raw in ends.second.heard] == [("OT extension: hash key", 16)]


class ChoosingFirst(Randomness):
    """Its first stretch of choices, from which silent transfers grow, is all the same but for those of the checks."""

    def __init__(self, number: int, choice: int) -> None:
        super().__init__(seed(number))
        self._choice = choice

    def words(self, *shape: int) -> Words:
        words = super().words(*shape)
        alike = (SMALL.secret + SMALL.levels) // 64
        if len(shape) == 1 and words.size > alike:
            words[:alike] = np.uint64(2**64 - 1 if self._choice else 0)
        return words


def silent_view(choice: int, run: int) -> list[tuple[str, Bits]]:
    """What A hears of B's and B's sender hears: all messages of B, whose secret and noise are the same in every run."""
    ends = SilentEnds(number=1, draws={1: ChoosingFirst(4000 + 100 * choice + run, choice)})
    ends.ends.first.forget()
    ends.begin()
    return [(step, np.unpackbits(raw)) for step, raw in ends.ends.first.heard if step in (SUMS, QUESTION, ANSWER)]


def test_messages_of_silent_transfers_are_uniform_whatever_is_chosen() -> None:
    """A's seed is fixed. B's choices are all zeros or all ones, the rest of its seed varies."""
    runs = [[silent_view(choice, run) for run in range(RUNS)] for choice in (0, 1)]
    assert [step for step, _ in runs[0][0]] == [SUMS, QUESTION, ANSWER]
    tells_nothing([np.stack([np.concatenate([raw for _, raw in run]) for run in alike]) for alike in runs], 0)
