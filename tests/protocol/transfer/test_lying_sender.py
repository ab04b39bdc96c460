"""A sender of silent transfers that lies about its trees: it is caught, unless it guessed where the noise is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import CheatingSender, WrongLength, WrongStep
from mixbayes.protocol.transfer import silent
from mixbayes.protocol.transfer.field import element, product
from mixbayes.protocol.transfer.half_tree import Splitter
from mixbayes.protocol.transfer.silent import ANSWER, QUESTION, SUMS
from tests.protocol.pairs import Ends, random_for
from tests.protocol.transfer.silent_pairs import SMALL, SilentEnds, expanded

ERROR = np.array([0x5A, 0xF00D], np.uint64)


class FalseChannel(Channel):
    """It changes one message of one step on its way out."""

    def __init__(self, ends: Ends, step: str, change: Any) -> None:
        super().__init__("party B", ends.wires[0])
        self.step, self.change = step, change

    def send(self, step: str, payload: Any) -> None:
        super().send(step, self.change(bytes(payload)) if step == self.step else payload)

    def swap(self, step: str, payload: Any, size: int | None = None) -> Any:
        due = len(bytes(payload)) if size is None else size
        return super().swap(step, self.change(bytes(payload)) if step == self.step else payload, due)


def flipped(at: int) -> Any:
    return lambda message: message[:at] + bytes([message[at] ^ 1]) + message[at + 1 :]


def begin_with(step: str, change: Any, number: int = 1) -> SilentEnds:
    ends = SilentEnds(number=number)
    channel = FalseChannel(ends.ends, step, change)
    channel._sent, channel._received = ends.ends.first._sent, ends.ends.first._received
    ends.both(lambda: ends.a.begin(channel), lambda: ends.b.begin(ends.ends.second))
    return ends


@pytest.mark.parametrize("at", [0, 16 * SMALL.trees + 3, 16 * SMALL.levels - 1])
def test_a_changed_sum_of_any_level_is_caught(at: int) -> None:
    with pytest.raises(CheatingSender) as caught:
        begin_with(SUMS, flipped(at))
    assert (caught.value.peer, caught.value.code) == ("party A", "E215")


def test_a_changed_answer_is_caught() -> None:
    with pytest.raises(CheatingSender):
        begin_with(ANSWER, flipped(31))


@pytest.mark.parametrize("step", [SUMS, QUESTION, ANSWER])
def test_messages_of_another_length_are_refused(step: str) -> None:
    for change in (lambda message: message[:-1], lambda message: message + b"\0"):
        with pytest.raises(WrongLength):
            begin_with(step, change)


def test_trees_of_an_earlier_iteration_are_caught_when_they_come_again() -> None:
    ends = SilentEnds()
    ends.begin()
    (old,) = (message for step, message in ends.ends.first.said if step == SUMS)
    for end in (ends.a, ends.b):
        expanded(end, end.left)
    channel = FalseChannel(ends.ends, SUMS, lambda message: old.tobytes())
    channel._sent, channel._received = ends.ends.first._sent, ends.ends.first._received
    with pytest.raises(CheatingSender):
        ends.both(lambda: ends.a.begin(channel), lambda: ends.b.begin(ends.ends.second))


def test_a_message_of_another_step_is_refused() -> None:
    ends = SilentEnds()
    ends.ends.first.send(ANSWER, bytes(32))
    with pytest.raises(WrongStep):
        ends.b.begin(ends.ends.second)


class Guessing(Splitter):
    """It adds an error to both children of one node at the first level of the first tree.

    If that node is on the path that the receiver lacks, the receiver's tree fits the changed one. If not, it does not.
    """

    def __init__(self, honest: Splitter, guess: int) -> None:
        self._honest, self._guess = honest, guess

    def split(self, nodes: Words, size: int) -> None:
        self._honest.split(nodes, size)
        if size == 2:
            nodes[self._guess, 0] ^= ERROR
            nodes[self._guess + size, 0] ^= ERROR


@pytest.mark.parametrize("guess", [0, 1])
def test_a_lie_passes_by_guessing_one_bit_of_the_noise_and_only_then(guess: int) -> None:
    outcomes = [survives(number, guess) for number in range(1, 41)]
    assert all(passed == right for passed, right in outcomes)
    assert 8 < sum(passed for passed, _ in outcomes) < 32


def survives(number: int, guess: int) -> tuple[bool, bool]:
    """Whether the liar passed, and whether the receiver lacked the node that it named."""
    ends = SilentEnds(number=number)
    leaves = ends.a._sender._leaves
    leaves.splitter = Guessing(leaves.splitter, guess)
    passed = True
    try:
        ends.begin()
    except CheatingSender:
        passed = False
    inside = int(ends.b._receiver._places[0]) // SMALL.trees
    return passed, inside & 1 == guess


def test_a_false_hash_of_the_noise_gets_a_digest_that_shows_one_guess_of_delta() -> None:
    """Whoever knows Δ can tell the answer, and nobody else: the answer is a digest of a value moved by a part of Δ."""
    ends = SilentEnds()
    ends.begin()
    sender, receiver = ends.a._sender, ends.b._receiver
    rows = random_for(1).words(128, 2)
    rows[:, 0] &= ~np.uint64(1)
    t, false = rows, 0x77 << 64
    question = np.frombuffer(receiver.question(t, random_for(2)), np.uint8).copy()
    honest = sender.answer(question, rows)
    receiver.verify("party A", np.frombuffer(honest, np.uint8))
    question[16:] ^= np.frombuffer(false.to_bytes(16, "big"), np.uint8)
    wrong = sender.answer(question, rows)
    assert wrong != honest
    moved = silent._hash_of(question[:16].tobytes(), receiver.leaves) ^ silent.combined(t)
    assert wrong == silent._digest(moved ^ product(false, element(sender._delta)))


def test_the_hash_of_the_noise_is_masked_by_choices_that_are_used_for_nothing_else() -> None:
    """With key and noise fixed, what the sender hears changes with the 128 choices, every bit of it."""
    ends = SilentEnds()
    ends.begin()
    receiver = ends.a._receiver
    heard = [receiver.question(random_for(number).words(128, 2), random_for(1)) for number in range(64)]
    assert len({message[:16] for message in heard}) == 1
    ones = np.unpackbits(np.array([list(message[16:]) for message in heard], np.uint8), axis=1).sum(axis=0)
    assert ones.min() > 8
    assert ones.max() < 56
