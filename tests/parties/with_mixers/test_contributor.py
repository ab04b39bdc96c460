"""A hospital's node between questions: each mixer gets the one contribution of a round, and never a second."""

from __future__ import annotations

import io
import itertools
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from mixbayes.node.log import logger
from mixbayes.node.rounds.state import State
from mixbayes.node.rounds.status import Status
from mixbayes.parties.background import keep_going
from mixbayes.parties.with_mixers.both_mixers import BothMixers
from mixbayes.parties.with_mixers.contributing import Contributor, Messages, Outbox
from mixbayes.protocol.errors import DifferentSets, MixbayesError, OutOfRange, PeerGone
from mixbayes.transport.errors import AlreadyContributed, Disagreement, NotAdmitted, Unreachable
from tests.parties.with_mixers.test_outbox import outbox_in

NAMES = "north", "south"


class Mixers:
    """Both mixers as the network shows them to a hospital."""

    def __init__(self) -> None:
        self.state = {"a": "collecting", "b": "collecting"}
        self.round = {"a": 1, "b": 1}
        self.received: dict[tuple[str, int], bytes] = {}
        self.silent: dict[str, MixbayesError] = {}
        self.refuses: dict[str, MixbayesError] = {}
        self.loses_replies = False
        self.sendings = 0

    def reports(self) -> tuple[dict[str, Status], dict[str, MixbayesError]]:
        answered = {name: self._report(name) for name in ("a", "b") if name not in self.silent}
        return answered, {f"mixer {name}": error for name, error in self.silent.items()}

    def contribute(self, name: str, message: bytes) -> bytes:
        self.sendings += 1
        if name in self.refuses:
            raise self.refuses[name]
        known = self.received.setdefault((name, self.round[name]), message)
        if known != message:
            raise AlreadyContributed("with other bytes")
        if self.loses_replies:
            raise PeerGone(f"mixer {name}", "contribution", "the connection broke")
        return message[-16:]

    def _report(self, name: str) -> Status:
        there = ["north"] if (name, self.round[name]) in self.received else []
        missing = [other for other in NAMES if other not in there]
        return Status(self.round[name], State(self.state[name]), contributed=there, missing=missing)


class Scene:
    def __init__(self, outbox: Outbox) -> None:
        self.outbox, self.mixers, self.said = outbox, Mixers(), io.StringIO()
        self.made = 0
        self.restart()

    def restart(self) -> None:
        log = logger("party north", self.said)
        self.contributor = Contributor("north", cast("BothMixers", self.mixers), self.outbox, self.make, log)

    def make(self, number: int) -> Messages:
        self.made += 1
        id = bytes([number, self.made]).ljust(16)
        return Messages(id, b"to a " + id, b"to b " + id)

    def tries(self, count: int) -> None:
        for _ in range(count):
            try:
                self.contributor.step()
            except MixbayesError:
                self.restart()


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    with outbox_in(tmp_path) as outbox:
        yield Scene(outbox)


def test_a_round_that_is_sealed_without_this_hospital_is_said_once(scene: Scene) -> None:
    scene.mixers.state = {"a": "serving", "b": "serving"}
    scene.contributor.step()
    scene.contributor.step()
    assert scene.said.getvalue().count("left out of the round") == 1
    scene.mixers.round = {"a": 2, "b": 2}
    scene.contributor.step()
    assert scene.said.getvalue().count("left out of the round") == 2


def test_both_mixers_get_one_contribution_each(scene: Scene) -> None:
    assert scene.contributor.step() == "collecting"
    scene.tries(3)
    assert scene.mixers.received == {("a", 1): b"to a \x01\x01".ljust(21), ("b", 1): b"to b \x01\x01".ljust(21)}
    assert (scene.made, scene.mixers.sendings) == (1, 2)


def test_same_bytes_go_out_until_the_reply_arrives(scene: Scene) -> None:
    scene.mixers.loses_replies = True
    scene.tries(4)
    scene.mixers.loses_replies = False
    scene.tries(2)
    assert len(scene.mixers.received) == 2
    assert scene.made == 1


def test_mixer_that_is_away_gets_its_part_of_the_same_contribution_later(scene: Scene) -> None:
    scene.mixers.silent["b"] = Unreachable("mixer b", "asking for the status", "nothing listens there")
    assert scene.contributor.step() == ""
    assert scene.mixers.received.keys() == {("a", 1)}
    del scene.mixers.silent["b"]
    scene.restart()
    scene.tries(1)
    assert scene.mixers.received.keys() == {("a", 1), ("b", 1)}
    assert scene.made == 1


@pytest.mark.parametrize("state", ["sealed", "trained", "serving", "closed", "failed"])
def test_round_that_does_not_collect_gets_nothing(scene: Scene, state: str) -> None:
    scene.mixers.state = {"a": state, "b": state}
    assert scene.contributor.step() == state
    assert (scene.made, scene.mixers.sendings) == (0, 0)


def test_every_round_gets_a_contribution_of_its_own(scene: Scene) -> None:
    scene.tries(1)
    scene.mixers.round = {"a": 2, "b": 2}
    scene.tries(1)
    assert scene.made == 2
    assert scene.mixers.received["a", 1] != scene.mixers.received["a", 2]


def test_mixers_at_different_rounds_each_get_what_is_due_there(scene: Scene) -> None:
    scene.mixers.round = {"a": 1, "b": 2}
    with pytest.raises(DifferentSets, match="different rounds"):
        scene.contributor.step()
    assert scene.mixers.received.keys() == {("a", 1), ("b", 2)}
    scene.mixers.round = {"a": 2, "b": 2}
    scene.tries(1)
    assert scene.mixers.received["a", 2][-16:] == scene.mixers.received["b", 2][-16:], "one contribution to a round"


def test_mixer_that_lost_what_it_acknowledged_gets_nothing_new(scene: Scene) -> None:
    """A second sharing of the same round would not fit what the other mixer holds."""
    scene.tries(1)
    del scene.mixers.received["b", 1]
    scene.tries(3)
    assert ("b", 1) not in scene.mixers.received
    assert scene.made == 1
    assert "had acknowledged a contribution and has none" in scene.said.getvalue()


def test_hospital_that_has_contributed_from_elsewhere_says_so_and_goes_on(scene: Scene) -> None:
    scene.mixers.refuses["a"] = AlreadyContributed("mixer a says: party north has contributed before")
    assert scene.contributor.step() == "collecting"
    assert scene.mixers.received.keys() == {("b", 1)}
    assert "not contributed" in scene.said.getvalue()


def test_receipt_for_something_else_is_refused(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scene.mixers, "contribute", lambda name, message: bytes(16))
    with pytest.raises(OutOfRange, match="mixer a, at contribution: it acknowledged something else"):
        scene.contributor.step()
    assert set(scene.outbox.due(1, lambda: scene.make(1))) == {"a", "b"}


@pytest.mark.parametrize("kind", [Disagreement, NotAdmitted])
def test_mixer_that_refuses_this_node_ends_the_start(scene: Scene, kind: type[Disagreement]) -> None:
    scene.mixers.silent["a"] = kind("mixer a", "greeting", "its agreement is another")
    with pytest.raises(kind):
        scene.contributor.step()
    assert scene.mixers.sendings == 0


def test_log_says_each_thing_once(scene: Scene) -> None:
    scene.tries(2)
    said = scene.said.getvalue()
    assert sum('"contributed"' in line for line in said.splitlines()) == 2
    scene.tries(5)
    assert scene.said.getvalue() == said


class Clock(threading.Event):
    """An event for which nobody waits: it notes for how long they would have."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.waits: list[float] = []
        self._most = most

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout or 0.0)
        if len(self.waits) == self._most:
            self.set()
        return self.is_set()


def test_a_node_that_is_refused_says_so_once_and_asks_later_and_later(scene: Scene) -> None:
    clock = Clock(10)
    scene.mixers.silent["a"] = NotAdmitted("mixer a", "greeting", "party north is not listed")
    keep_going(scene.contributor.step, clock, logger("party north", scene.said), tick=2.0)
    assert clock.waits[-1] > 100 > 10 > clock.waits[0] > 2
    assert scene.said.getvalue().count("is not listed") == 1


def test_a_node_that_is_admitted_again_goes_on_as_before(scene: Scene) -> None:
    refusals, clock = [NotAdmitted("mixer a", "greeting", "why")] * 5, Clock(8)

    def step() -> None:
        if refusals:
            raise refusals.pop()

    keep_going(step, clock, logger("party north", scene.said), tick=2.0)
    assert clock.waits[4] > 10
    assert clock.waits[5:] == [2.0] * 3
    assert scene.said.getvalue().count('"works again"') == 1


def test_errors_that_take_turns_are_said_once_each(scene: Scene) -> None:
    clock, turn = Clock(10), itertools.cycle([DifferentSets("mixer a", "a step", why) for why in ("one", "two")])

    def step() -> None:
        raise next(turn)

    keep_going(step, clock, logger("party north", scene.said), tick=2.0)
    assert [scene.said.getvalue().count(f"a step: {why}") for why in ("one", "two")] == [1, 1]
    assert set(clock.waits) == {2.0}


def test_work_goes_on_after_errors_until_the_node_stops(scene: Scene) -> None:
    stopped, errors = threading.Event(), [DifferentSets("mixer a", "a step", "why"), ValueError("a cell")]

    def step() -> None:
        if errors:
            raise errors.pop()
        stopped.set()

    keep_going(step, stopped, logger("party north", scene.said), tick=0)
    assert errors == []
    assert "a cell" not in scene.said.getvalue()
    assert "ValueError" in scene.said.getvalue()
