"""Who is shut out, and for how long."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from mixbayes.node.log import logger
from mixbayes.node.serving.conduct import OF_MEMBERS, OF_OTHERS, Allowance, Conduct

FEW = Allowance(3, 1)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def said() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def conduct(clock: Clock, said: io.StringIO) -> Conduct:
    return Conduct(logger("mixer a", said), clock)


def waste(conduct: Conduct, calls: int, name: str = "north") -> bool:
    return [conduct.wasted(name, f"party {name}", FEW, "192.0.2.1") for _ in range(calls)][-1]


def lines(said: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in said.getvalue().splitlines()]


def test_whoever_uses_up_the_allowance_is_shut_out_and_named_once(conduct: Conduct, said: io.StringIO) -> None:
    assert not waste(conduct, 3)
    assert conduct.shut_out("north") == 0
    assert waste(conduct, 1)
    assert conduct.shut_out("north") == 10
    assert waste(conduct, 50)
    assert [(line["caller"], line["address"], line["seconds"]) for line in lines(said)] == [
        ("party north", "192.0.2.1", 10.0)
    ]


def test_nobody_else_is(conduct: Conduct) -> None:
    waste(conduct, 4)
    assert conduct.shut_out("south") == 0
    assert not waste(conduct, 3, "south")


def test_calls_that_come_to_nothing_now_and_then_are_no_reason(conduct: Conduct, clock: Clock) -> None:
    for _ in range(100):
        assert not waste(conduct, 1)
        clock.now += 1


def test_each_time_is_twice_as_long_up_to_ten_minutes(conduct: Conduct, clock: Clock) -> None:
    seconds = []
    for _ in range(9):
        assert waste(conduct, 4)
        seconds.append(conduct.shut_out("north"))
        clock.now += seconds[-1]
        assert conduct.shut_out("north") == 0
    assert seconds == [10, 20, 40, 80, 160, 320, 600, 600, 600]
    clock.now += 3601
    assert waste(conduct, 4)
    assert conduct.shut_out("north") == 10


def test_what_was_turned_away_is_said_the_next_time(conduct: Conduct, clock: Clock, said: io.StringIO) -> None:
    waste(conduct, 4)
    for _ in range(7):
        conduct.shut_out("north")
    clock.now += 10
    waste(conduct, 4)
    assert [line["turned_away_before"] for line in lines(said)] == [0, 7]


def test_a_patient_program_that_is_shut_out_is_no_flood(conduct: Conduct, clock: Clock) -> None:
    waste(conduct, 4)
    for _ in range(9):
        clock.now += 1
        conduct.shut_out("north")
    assert not conduct.floods("north")
    for _ in range(300):
        conduct.shut_out("north")
    assert conduct.floods("north")


def test_only_so_many_names_are_remembered(conduct: Conduct) -> None:
    for number in range(2000):
        waste(conduct, 1, str(number))
    assert len(conduct._standings) == 1024


def test_a_member_may_lose_a_connection_with_all_its_calls() -> None:
    from mixbayes.node.serving.admission import MOST_CALLS

    assert OF_MEMBERS.at_once >= 2 * MOST_CALLS
    assert OF_OTHERS.at_once <= 10
