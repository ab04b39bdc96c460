"""What happens again and again: how often a log says it, and how long a node waits."""

from __future__ import annotations

import io
import json

from mixbayes.node import repeated
from mixbayes.node.log import logger
from mixbayes.node.pauses import LONGEST, Pauses
from mixbayes.node.repeated import Repeated
from mixbayes.protocol.errors import PeerGone
from mixbayes.transport.errors import Disagreement, NotAdmitted, Unreachable


class Scene:
    def __init__(self) -> None:
        self.now = 0.0
        self.journal = io.StringIO()
        self.log = logger("mixer a", self.journal)
        self.repeated = Repeated(lambda: self.now)

    def happens(self, caller: str = "north", times: int = 1) -> None:
        for _ in range(times):
            self.repeated.say(caller, self.log.warning, "refused", caller=caller)

    @property
    def said(self) -> list[tuple[str, int]]:
        """By line who was refused, and how often by then."""
        lines = map(json.loads, self.journal.getvalue().splitlines())
        return [(line["caller"], line.get("times", 1)) for line in lines]


def test_the_same_is_said_once_and_then_counted() -> None:
    scene = Scene()
    scene.happens(times=100)
    assert scene.said == [("north", 1)]
    scene.now = repeated.EVERY
    scene.happens(times=3)
    assert scene.said == [("north", 1), ("north", 100)]
    scene.now *= 2
    scene.happens()
    assert scene.said[2:] == [("north", 3)]


def test_something_else_is_said_at_once() -> None:
    scene = Scene()
    scene.happens("north", 2)
    scene.happens("south", 2)
    assert scene.said == [("north", 1), ("south", 1)]


def test_the_same_error_of_the_same_place_is_said_once_and_then_counted() -> None:
    scene = Scene()

    def fails(error: Exception, call: str) -> None:
        try:
            raise error
        except Exception as caught:  # noqa: BLE001 - whatever it is
            scene.repeated.failed(scene.log, caught, "a mistake of this program", call=call)

    for error, call in (
        (RuntimeError("1"), "Ask"),
        (RuntimeError("2"), "Ask"),
        (ValueError(), "Ask"),
        (ValueError(), "Do"),
    ):
        fails(error, call)
    scene.now = repeated.EVERY
    fails(RuntimeError("3"), "Ask")
    lines = [json.loads(line) for line in scene.journal.getvalue().splitlines()]
    assert [(line["error"], line["call"], line.get("times", 1)) for line in lines] == [
        ("RuntimeError", "Ask", 1),
        ("ValueError", "Ask", 1),
        ("ValueError", "Do", 1),
        ("RuntimeError", "Ask", 2),
    ]
    assert all("test_repeated.py" in line["at"] for line in lines)


def test_many_callers_do_not_fill_the_memory() -> None:
    scene = Scene()
    for number in range(2 * repeated.MOST):
        scene.happens(f"stranger {number}")
    assert len(scene.repeated._said) == repeated.MOST


REFUSALS = Disagreement("mixer a", "greeting", "why"), NotAdmitted("mixer a", "greeting", "why")


def test_who_is_refused_waits_longer_and_longer() -> None:
    pauses = Pauses(2.0, lambda low, high: 1.0)
    waits = [pauses.after(REFUSALS[turn % 2]) for turn in range(9)]
    assert waits[0] > 2.0
    assert waits == sorted(waits)
    assert waits[-1] == LONGEST


def test_nodes_that_are_refused_together_do_not_come_again_together() -> None:
    pauses = Pauses(2.0)
    assert len({Pauses(2.0).after(REFUSALS[0]) for _ in range(5)}) > 1
    assert all(pauses.after(REFUSALS[0]) <= 1.2 * LONGEST for _ in range(20))


def test_after_a_success_and_where_nobody_refuses_waits_are_as_usual() -> None:
    pauses = Pauses(2.0)
    for error in (None, PeerGone("mixer a", "a step", "why"), Unreachable("mixer a", "a step", "why"), ValueError()):
        for _ in range(5):
            pauses.after(REFUSALS[0])
        assert pauses.after(error) == 2.0
        assert pauses.after(REFUSALS[0]) < 10.0
