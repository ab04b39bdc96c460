"""How often mixer a tries again."""

from __future__ import annotations

import threading
from typing import Any, cast

from mixbayes.mixers.leading import TICK, lead
from mixbayes.node.rounds.leader import Leader
from mixbayes.transport.errors import Disagreement, Unreachable

REFUSED, AWAY = Disagreement("mixer b", "greeting", "why"), Unreachable("mixer b", "greeting", "why")


class Wake(threading.Event):
    """Nobody waits for it: it notes for how long they would have."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout or 0.0)
        return True


class Scripted:
    """A leader whose steps end like this."""

    def __init__(self, *errors: Exception | None) -> None:
        self.errors = list(errors)
        self.stopped = threading.Event()
        self.hindrance: Exception | None = None

    def step(self) -> bool:
        self.hindrance = self.errors.pop(0)
        if not self.errors:
            self.stopped.set()
        return False


def waits_after(*errors: Exception | None) -> list[float]:
    leader, wake = Scripted(*errors), Wake()
    lead(cast("Leader", cast("Any", leader)), wake, leader.stopped)
    return wake.waits


def test_mixer_a_dials_a_mixer_b_that_is_away_as_often_as_ever() -> None:
    assert waits_after(AWAY, AWAY, AWAY, None) == [TICK] * 4


def test_mixer_a_that_is_refused_asks_later_and_later_and_then_as_before() -> None:
    *refused, after = waits_after(*[REFUSED] * 6, None)
    assert refused[0] > 3
    assert refused[-1] > 100
    assert after == TICK
