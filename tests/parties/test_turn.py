"""The turn of a hospital's applications: in their order, in time, and for those who are taken along not at all."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from mixbayes.parties.turn import Turn
from mixbayes.transport.errors import TooEarly
from tests.services.helpers import wait_until

LONG = 60.0


def waiting(turn: Turn[int], number: int) -> Callable[[], bool]:
    return lambda: len(turn._waiting) == number


def test_applications_have_their_turns_in_the_order_in_which_they_came() -> None:
    turn, had = Turn[int](LONG), list[int]()

    def ask(number: int) -> None:
        with turn.mine():
            had.append(number)

    with ThreadPoolExecutor(8) as pool, turn.mine():
        for number in range(8):
            pool.submit(ask, number)
            wait_until(waiting(turn, number + 1), "it waits")
    assert had == list(range(8))
    with turn.if_nobody_asks() as free:
        assert free


def test_nobody_waits_longer_than_the_deadline_and_the_turn_is_not_lost() -> None:
    turn = Turn[int](0.05)
    with turn.mine(), ThreadPoolExecutor(1) as pool:
        with pytest.raises(TooEarly, match=r"more than 0.05 s"):
            pool.submit(lambda: turn.mine().__enter__()).result(LONG)
        with turn.if_nobody_asks() as free:
            assert not free
        assert not turn._waiting
    with turn.mine():
        pass


def test_an_error_passes_the_turn_on() -> None:
    turn = Turn[int](LONG)
    with pytest.raises(ZeroDivisionError), turn.mine():
        raise ZeroDivisionError
    with turn.if_nobody_asks() as free:
        assert free


def test_whoever_has_the_turn_takes_along_what_it_wants_and_the_others_keep_their_places() -> None:
    turn, had = Turn[int](LONG), list[int]()

    def ask(part: int) -> bool:
        with turn.mine_or_taken_along(part) as mine:
            if mine:
                had.append(part)
            return mine

    asked: list[Future[bool]] = []
    with ThreadPoolExecutor(6) as pool:
        with turn.mine():
            for part in range(6):
                asked.append(pool.submit(ask, part))
                wait_until(waiting(turn, part + 1), "it waits")
            assert turn.take_along(lambda part: part % 2 == 0) == [0, 2, 4]
            assert [one.result(LONG) for one in asked[::2]] == [False] * 3, "they wait no more"
        assert [one.result(LONG) for one in asked] == [False, True] * 3
    assert had == [1, 3, 5]


def test_whoever_waits_without_a_part_is_not_taken_along() -> None:
    turn, had = Turn[int](LONG), threading.Event()

    def ask() -> None:
        with turn.mine():
            had.set()

    with ThreadPoolExecutor(1) as pool:
        with turn.mine():
            pool.submit(ask)
            wait_until(waiting(turn, 1), "it waits")
            assert turn.take_along(lambda _: True) == []
        assert had.wait(LONG)
