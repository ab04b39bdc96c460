"""The leading party, step by step, with another one that answers as told: every step can be repeated."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from mixbayes.node.log import logger
from mixbayes.node.rounds.follower import Agreed
from mixbayes.node.rounds.leader import ATTEMPTS, LOOK_EVERY, Leader
from mixbayes.node.rounds.record import sealed_set
from mixbayes.node.rounds.rounds import Rounds
from mixbayes.node.rounds.state import CLOSED, COLLECTING, FAILED, SEALED, SERVING, TRAINED
from mixbayes.protocol.errors import DifferentSets, PeerError, PeerGone, PeerSilent
from mixbayes.transport.errors import (
    BadState,
    Disagreement,
    NotAdmitted,
    RefusedByPolicy,
    RoundFailed,
    RoundOver,
    TooEarly,
    Unreachable,
)
from tests.mixers.three_hospitals import HOSPITALS, HOUR, Clock, rounds_in

IDS = {name: name.encode().ljust(16) for name in HOSPITALS}
RUN = b"r" * 16
SILENT = PeerSilent("mixer b", "a step", "no answer came in time")


class Scripted:
    """Answers what it was told to, and writes down what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[object, ...]] = []
        self.on_seal: Callable[[Mapping[str, bytes]], Agreed] = lambda chosen: Agreed(dict(chosen), sealed=True)
        self.on_confirm: Callable[[bytes], bool] = lambda run: True
        self.error: Exception | None = None

    def seal(self, number: int, chosen: Mapping[str, bytes]) -> Agreed:
        self._asked("seal", number, dict(chosen))
        return self.on_seal(chosen)

    def confirm(self, number: int, run: bytes) -> bool:
        self._asked("confirm", number, run)
        return self.on_confirm(run)

    def fail(self, number: int, reason: str) -> None:
        self._asked("fail", number, reason)

    def close(self, number: int, actor: str) -> None:
        self._asked("close", number, actor)

    def open(self, number: int, actor: str) -> None:
        self._asked("open", number, actor)

    def _asked(self, *what: object) -> None:
        self.asked.append(what)
        if self.error:
            raise self.error


class Scene:
    """A leader whose training writes down a model and nothing else."""

    def __init__(self, rounds: Rounds, clock: Clock) -> None:
        self.rounds, self.clock, self.other, self.said = rounds, clock, Scripted(), io.StringIO()
        self.trainings = 0
        self.training: Exception | None = None
        self.restart()

    def restart(self) -> None:
        self.leader = Leader(self.rounds, self.other, self.train, logger("mixer a", self.said))

    def train(self, number: int) -> None:
        self.trainings += 1
        if self.training:
            raise self.training
        self.rounds.keep_model(number, self.trainings.to_bytes(16, "big"), b"model", [])

    def hold(self, *names: str) -> None:
        number = self.rounds.current().number
        for name in names:
            id = IDS[name] if number == 1 else IDS[name][:-1] + bytes([number])
            self.rounds.hold(number, name, id, b"from " + id)

    def run(self, most: int = 30) -> None:
        """Steps until there is nothing more to do at once."""
        for _ in range(most):
            if not self.leader.step():
                return
        raise AssertionError("the leader never rests")

    def ticks(self, count: int) -> None:
        for _ in range(count):
            self.run()

    @property
    def state(self) -> str:
        return self.rounds.current().state


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    clock = Clock()
    with rounds_in(tmp_path, clock) as rounds:
        yield Scene(rounds, clock)


def test_complete_round_comes_to_serve_and_then_rests(scene: Scene) -> None:
    scene.hold(*HOSPITALS)
    scene.run()
    assert scene.state == SERVING
    assert [what[0] for what in scene.other.asked] == ["seal", "confirm"]
    scene.ticks(3)
    assert len(scene.other.asked) == 2


def test_incomplete_round_asks_nothing_before_its_deadline(scene: Scene) -> None:
    scene.hold("north", "south")
    scene.run()
    assert (scene.state, scene.other.asked) == (COLLECTING, [])
    scene.clock.now += 24 * HOUR
    scene.run()
    assert scene.state == SERVING
    assert sealed_set(scene.rounds.contributions(1)) == {"north": IDS["north"], "south": IDS["south"]}


def test_what_only_one_holds_is_left_out_once_the_round_is_due(scene: Scene) -> None:
    scene.hold(*HOSPITALS)
    theirs = {name: IDS[name] for name in ("north", "west")}
    scene.other.on_seal = lambda chosen: Agreed(theirs, sealed=dict(chosen) == theirs)
    scene.run()
    assert scene.state == COLLECTING
    assert len(scene.other.asked) == 1, "before the deadline it waits for the third"
    scene.clock.now += 24 * HOUR
    scene.run()
    assert scene.state == SERVING
    assert sealed_set(scene.rounds.contributions(1)) == theirs


def test_too_few_in_common_are_never_sealed(scene: Scene) -> None:
    scene.hold(*HOSPITALS)
    scene.clock.now += 24 * HOUR
    scene.other.on_seal = lambda chosen: Agreed({"north": IDS["north"]}, sealed=False)
    scene.ticks(ATTEMPTS + 1)
    assert scene.state == COLLECTING
    assert all(what == ("seal", 1, IDS) for what in scene.other.asked)


def test_set_that_the_other_has_sealed_already_is_taken_over(scene: Scene) -> None:
    """The reply to an earlier proposal got lost, and another hospital has come since."""
    scene.hold(*HOSPITALS)
    theirs = {name: IDS[name] for name in ("north", "south")}
    scene.other.on_seal = lambda chosen: Agreed(theirs, sealed=True)
    scene.run()
    assert scene.state == SERVING
    assert sealed_set(scene.rounds.contributions(1)) == theirs


@pytest.mark.parametrize(
    "theirs", [IDS | {"south": b"another".ljust(16)}, IDS | {"east": b"nobody".ljust(16)}], ids=["different", "more"]
)
def test_set_that_the_leader_does_not_hold_is_never_computed_on(scene: Scene, theirs: dict[str, bytes]) -> None:
    scene.hold(*HOSPITALS)
    scene.other.on_seal = lambda chosen: Agreed(theirs, sealed=True)
    scene.ticks(ATTEMPTS)
    assert (scene.state, scene.trainings) == (FAILED, 0)
    assert "tried 5 times" in scene.rounds.current().reason


@pytest.mark.parametrize(
    "error",
    [
        SILENT,
        PeerGone("mixer b", "a step", "the connection broke"),
        Unreachable("mixer b", "a step", "nothing listens there"),
        Disagreement("mixer b", "greeting", "its agreement is another"),
        NotAdmitted("mixer b", "greeting", "a certificate for 'somebody' was shown"),
    ],
)
def test_round_waits_as_long_as_it_takes_for_what_time_may_mend(scene: Scene, error: Exception) -> None:
    scene.hold(*HOSPITALS)
    scene.other.error = error
    scene.ticks(3 * ATTEMPTS)
    assert scene.state == COLLECTING
    assert scene.leader.waiting == f"waiting: {error}"
    assert scene.leader.hindrance is error
    assert scene.said.getvalue().count('"waiting"') == 1, "said once, not at every tick"
    scene.other.error = None
    scene.run()
    assert (scene.state, scene.leader.waiting, scene.leader.hindrance) == (SERVING, "", None)
    assert scene.said.getvalue().count('"waits no longer"') == 1


def test_what_is_waited_for_is_known_while_it_is_tried_again(scene: Scene) -> None:
    known: list[str] = []

    def silent(chosen: Mapping[str, bytes]) -> Agreed:
        known.append(scene.leader.waiting)
        raise PeerSilent("mixer b", "sealing", "nothing came")

    scene.hold(*HOSPITALS)
    scene.other.on_seal = silent
    scene.ticks(2)
    assert known[0] == ""
    assert "nothing came" in known[1]


def test_a_disk_that_is_full_ends_no_round_and_no_path_is_told(scene: Scene) -> None:
    scene.hold(*HOSPITALS)
    scene.training = BadState("/srv/state/state.sqlite: the disk is full. Make room.")
    scene.ticks(3 * ATTEMPTS)
    assert scene.state == SEALED
    assert "its state folder cannot be used" in scene.leader.waiting
    assert "/srv" not in scene.leader.waiting
    assert scene.said.getvalue().count("/srv/state") == 1
    scene.training = None
    scene.run()
    assert scene.state == SERVING


@pytest.mark.parametrize(
    "error", [RoundFailed("only 1 of the 2 contributions that are needed hold."), RoundFailed("there are too many.")]
)
def test_final_error_of_a_training_ends_the_round_at_once_and_the_other_is_told(scene: Scene, error: Exception) -> None:
    scene.hold(*HOSPITALS)
    scene.training = error
    scene.run()
    assert (scene.state, scene.rounds.current().reason) == (FAILED, str(error))
    scene.run()
    assert scene.other.asked[-1] == ("fail", 1, str(error))
    told = len(scene.other.asked)
    scene.ticks(3)
    assert len(scene.other.asked) == told


def test_other_is_told_of_a_failure_until_it_has_heard(scene: Scene) -> None:
    scene.rounds.fail(1, "for a reason.")
    scene.other.error = SILENT
    scene.ticks(3)
    scene.other.error = None
    scene.ticks(3)
    assert scene.other.asked == [("fail", 1, "for a reason.")] * 4
    scene.restart()
    scene.run()
    assert len(scene.other.asked) == 5


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (DifferentSets("mixer b", "set of contributions", "the two mixers hold different ones"), "hold different ones"),
        (TooEarly("mixer b says: Round 1 is collecting at mixer b."), "is collecting at mixer b"),
        (ValueError("3 patients of north"), "this program made a mistake"),
    ],
    ids=["different sets", "state that was put back", "mistake"],
)
def test_training_that_breaks_off_again_and_again_ends_the_round(scene: Scene, error: Exception, said: str) -> None:
    scene.hold(*HOSPITALS)
    scene.training = error
    scene.ticks(ATTEMPTS - 1)
    assert scene.state == SEALED
    scene.ticks(1)
    assert (scene.state, scene.trainings) == (FAILED, ATTEMPTS)
    assert said in scene.rounds.current().reason
    assert "patients" not in scene.rounds.current().reason + scene.said.getvalue()


def test_lost_model_is_trained_again_but_not_forever(scene: Scene) -> None:
    scene.hold(*HOSPITALS)
    scene.other.on_confirm = lambda run: run == (3).to_bytes(16, "big")
    scene.ticks(3)
    assert (scene.state, scene.trainings) == (SERVING, 3)


def test_other_that_never_keeps_its_model_ends_the_round(scene: Scene) -> None:
    scene.hold(*HOSPITALS)
    scene.other.on_confirm = lambda run: False
    scene.ticks(ATTEMPTS)
    assert (scene.state, scene.trainings) == (FAILED, ATTEMPTS)
    assert "it has not kept this model" in scene.rounds.current().reason


def test_lost_reply_to_a_confirmation_keeps_the_model(scene: Scene) -> None:
    scene.hold(*HOSPITALS)
    scene.leader.step()
    scene.leader.step()
    scene.other.error = SILENT
    scene.ticks(3 * ATTEMPTS)
    assert (scene.state, scene.trainings) == (TRAINED, 1)
    scene.other.error = None
    scene.run()
    assert (scene.state, scene.trainings) == (SERVING, 1)


def serving(scene: Scene) -> None:
    scene.hold(*HOSPITALS)
    scene.run()
    assert scene.state == SERVING


def test_after_a_restart_it_looks_whether_the_other_still_has_the_model(scene: Scene) -> None:
    serving(scene)
    scene.restart()
    scene.run()
    assert [what[0] for what in scene.other.asked] == ["seal", "confirm", "confirm"]
    assert scene.state == SERVING


@pytest.mark.parametrize("later", [LOOK_EVERY, -1.0])
def test_now_and_then_it_looks_whether_the_other_still_serves(scene: Scene, later: float) -> None:
    """Mixer b may be put back to an old state, or have closed the round and its reply got lost."""
    serving(scene)
    scene.other.on_confirm = lambda run: False
    scene.ticks(3)
    assert scene.state == SERVING
    scene.clock.now += later
    scene.run()
    assert scene.state == FAILED
    assert "lost its model" in scene.rounds.current().reason


@pytest.mark.parametrize(
    ("error", "state"),
    [(RoundOver("mixer b says: Round 1 is closed."), CLOSED), (TooEarly("mixer b is at round 0."), FAILED)],
)
def test_other_that_has_left_the_round_ends_it_here(scene: Scene, error: Exception, state: str) -> None:
    serving(scene)
    scene.clock.now += LOOK_EVERY
    scene.other.error = error
    scene.ticks(ATTEMPTS)
    assert scene.state == state


def test_silence_of_the_other_leaves_the_service_as_it_is(scene: Scene) -> None:
    serving(scene)
    scene.clock.now += LOOK_EVERY
    scene.other.error = SILENT
    scene.ticks(3 * ATTEMPTS)
    assert scene.state == SERVING
    assert "no answer came in time" in scene.leader.waiting


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (NotAdmitted("mixer b", "greeting", "a certificate for 'somebody' was shown"), "somebody"),
        (PeerError("mixer b", "its own work", "its program made a mistake"), "its program made a mistake"),
        (RefusedByPolicy("mixer b says: not now."), "not now"),
        (RuntimeError("cell hypertension"), "this program made a mistake"),
    ],
    ids=["a wrong certificate", "a mistake there", "a refusal", "a mistake here"],
)
def test_what_is_wrong_for_a_while_takes_no_model_away(scene: Scene, error: Exception, said: str) -> None:
    serving(scene)
    scene.clock.now += LOOK_EVERY
    scene.other.error = error
    scene.ticks(3 * ATTEMPTS)
    assert scene.state == SERVING
    assert said in scene.leader.waiting
    assert scene.said.getvalue().count('"waiting"') == 1
    assert "hypertension" not in scene.said.getvalue()
    scene.other.error = None
    scene.run()
    assert (scene.state, scene.leader.waiting) == (SERVING, "")


def test_full_disk_stops_no_leader(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot even be written down is tried again at the next tick."""
    scene.hold(*HOSPITALS)

    def full(*_: object) -> None:
        raise BadState("state.sqlite: the disk is full.")

    with monkeypatch.context() as patch:
        for name in ("fail", "seal"):
            patch.setattr(scene.rounds, name, full)
        scene.ticks(2 * ATTEMPTS)
        assert scene.state == COLLECTING
    scene.run()
    assert scene.state == SERVING


def test_a_step_that_fails_again_and_again_is_said_once(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as one that gets no thread: in a failed round it is tried for ever."""

    def starved(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    scene.hold(*HOSPITALS)
    for name in ("seal", "fail"):
        monkeypatch.setattr(scene.other, name, starved)
    scene.ticks(5 * ATTEMPTS)
    assert scene.state == FAILED
    lines = [json.loads(line) for line in scene.said.getvalue().splitlines()]
    said = [(line["state"], line["error"]) for line in lines if line["event"] == "a step failed"]
    assert said == [(COLLECTING, "RuntimeError"), (FAILED, "RuntimeError")]


def test_closing_and_opening_happen_at_the_other_first(scene: Scene) -> None:
    scene.other.error = SILENT
    with pytest.raises(PeerSilent):
        scene.leader.close(1, "party north")
    assert scene.state == COLLECTING
    scene.other.error = None
    scene.leader.close(1, "party north")
    assert scene.state == CLOSED
    scene.other.error = SILENT
    with pytest.raises(PeerSilent):
        scene.leader.open(2, "party north")
    assert scene.rounds.current().number == 1
    scene.other.error = None
    scene.leader.open(2, "party north")
    assert scene.rounds.current().number == 2


def test_round_that_is_not_over_is_not_followed_by_another(scene: Scene) -> None:
    with pytest.raises(RefusedByPolicy, match="round close"):
        scene.leader.open(2, "party north")
    assert scene.other.asked == []


def test_failure_reaches_the_other_before_the_next_round(scene: Scene) -> None:
    scene.rounds.fail(1, "for a reason.")
    scene.leader.open(2, "party north")
    assert scene.other.asked == [("fail", 1, "for a reason."), ("open", 2, "party north")]


def test_new_round_begins_with_all_its_attempts(scene: Scene) -> None:
    scene.hold(*HOSPITALS)
    scene.training = DifferentSets("mixer b", "set of contributions", "they differ")
    scene.ticks(ATTEMPTS)
    scene.training = None
    scene.leader.open(2, "party north")
    scene.hold(*HOSPITALS)
    scene.training = DifferentSets("mixer b", "set of contributions", "they differ")
    scene.ticks(ATTEMPTS - 1)
    assert scene.state == SEALED
    scene.training = None
    scene.run()
    assert scene.state == SERVING
