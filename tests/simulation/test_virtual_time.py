"""Roles over links that take time, without waiting for it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, count, repeat
from typing import Any

import pytest

from mixbayes.protocol import memory
from mixbayes.protocol.channel import Channel
from mixbayes.simulation.slow_link import SlowLink
from mixbayes.simulation.virtual_time import Clock, TimedLink

HEADER = 16
LINK = SlowLink(delay=0.5, rate=100.0)
STEP = "step"


def nothing() -> float:
    """Computing that takes no time."""
    return 0.0


class Two:
    """Two roles and a link."""

    def __init__(self, second: Callable[[], float] = nothing) -> None:
        self.clocks = Clock(nothing), Clock(second)
        self.link = TimedLink(LINK, *self.clocks)

    def play(self, first: Callable[[Channel, Channel], Any], second: Callable[[Channel, Channel], Any]) -> None:
        """Each role has its ends of two channels."""
        (now, of_now), (ahead, of_ahead) = (self.link.channels("first", "second") for _ in range(2))
        memory.together(lambda: first(now, ahead), lambda: second(of_now, of_ahead))

    @property
    def seconds(self) -> list[float]:
        return [clock.now() for clock in self.clocks]

    @property
    def delays(self) -> list[int]:
        return [clock.delays for clock in self.clocks]


def test_a_message_arrives_once_its_bytes_have_left_and_a_delay_later() -> None:
    two = Two()
    two.play(lambda now, _: now.send(STEP, bytes(84)), lambda now, _: now.receive(STEP, 84))
    assert two.seconds == [0.0, pytest.approx(1.5)]
    assert two.delays == [0, 1]
    assert two.link.bytes == HEADER + 84


def test_both_directions_are_used_at_the_same_time() -> None:
    two = Two()
    two.play(lambda now, _: now.swap(STEP, bytes(84)), lambda now, _: now.swap(STEP, bytes(84)))
    assert two.seconds == [pytest.approx(1.5)] * 2
    assert two.delays == [1, 1]
    assert two.link.bytes == 2 * (HEADER + 84)


def test_an_answer_comes_after_the_question() -> None:
    two = Two()

    def ask(now: Channel, ahead: Channel) -> None:
        for _ in range(3):
            now.send(STEP, bytes(4))
            now.receive(STEP, 4)

    def answer(now: Channel, ahead: Channel) -> None:
        for _ in range(3):
            now.receive(STEP, 4)
            now.send(STEP, bytes(4))

    two.play(ask, answer)
    assert two.seconds == [pytest.approx(6 * 0.7), pytest.approx(5 * 0.7)]
    assert two.delays == [6, 5]


def test_channels_share_the_link() -> None:
    two = Two()

    def send(now: Channel, ahead: Channel) -> None:
        ahead.send(STEP, bytes(84))
        now.send(STEP, bytes(84))

    two.play(send, lambda now, ahead: now.receive(STEP, 84))
    assert two.seconds[1] == pytest.approx(2.5), "what is sent second waits for what was sent first"
    assert two.delays == [0, 1]


def test_who_comes_late_does_not_wait() -> None:
    computed = chain([0.0], repeat(4.0))  # by the second role, before it reads
    two = Two(lambda: next(computed))
    two.clocks[1].now()
    two.play(lambda now, _: now.send(STEP, bytes(84)), lambda now, _: now.receive(STEP, 84))
    assert two.clocks[1].now() == pytest.approx(4.0)


def test_computing_takes_time() -> None:
    computed = count(1.0)
    clock = Clock(lambda: next(computed))
    assert [clock.now() for _ in range(3)] == [0.0, 1.0, 2.0]
    clock.wait_until(9.0, 4)
    assert (clock.now(), clock.delays) == (10.0, 4)
    clock.wait_until(1.0, 2)
    assert (clock.now(), clock.delays) == (12.0, 4)


def test_threads_count_what_they_compute_themselves() -> None:
    clock = Clock()
    clock.now()
    sum(range(200_000))
    assert clock.now() > 0
