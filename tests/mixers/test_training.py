"""One training between two mixers that differ, or hold a lie: refused by name, or nothing at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from mixbayes.mixers.leading import train_with
from mixbayes.mixers.training import train_round
from mixbayes.node.rounds.record import COUNTED, REFUSED
from mixbayes.node.rounds.state import COLLECTING, FAILED, SEALED, SERVING, TRAINED
from mixbayes.protocol import memory
from mixbayes.protocol.bayes.tossing import Draw
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import DifferentSets, WrongStep
from mixbayes.protocol.memory import channels
from mixbayes.protocol.randomness import Randomness
from mixbayes.transport.conversation import AHEAD, ASKING, MODEL_KEPT, NOW, TRAINING
from mixbayes.transport.errors import OverBudget, QuestionSpent, RoundFailed, RoundOver, TooEarly
from mixbayes.transport.peer import CHANNEL, CONVERSATION, PURPOSE, WHOSE
from tests.mixers.misfortune import Cut, Fate
from tests.mixers.promises import Promises
from tests.mixers.three_hospitals import HOSPITALS, new_folder
from tests.mixers.world import World, deal_base_transfers
from tests.node.serving.certificates import shown_by


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    deal_base_transfers(monkeypatch)
    with new_folder() as folder:
        made = World(Path(folder))
        yield made
        made.close()


def contribute(world: World) -> None:
    for name in HOSPITALS:
        world.visit(name)


def states(world: World) -> tuple[str, str]:
    return world.a.rounds.current().state, world.b.rounds.current().state


def test_liar_is_refused_by_name_and_counts_for_nothing(world: World) -> None:
    world.vectors["south"] = world.vectors["south"] * np.uint64(2**63)
    world.everybody()
    assert states(world) == (SERVING, SERVING)
    for node in (world.a, world.b):
        verdicts = {name: one.verdict for name, one in node.rounds.contributions(1).items()}
        assert verdicts == {"north": COUNTED, "south": REFUSED, "west": COUNTED}
        assert node.rounds.status("north").refused == ["south"]
    Promises(world)._same_model(1, world.on_disk("a")[1], world.on_disk("b")[1])


def test_too_few_honest_ones_end_the_round_at_both_and_name_the_liars(world: World) -> None:
    for name in ("south", "west"):
        world.vectors[name] = world.vectors[name] - np.uint64(10**6)
    world.everybody()
    assert states(world) == (FAILED, FAILED)
    for node in (world.a, world.b):
        reason = node.rounds.current().reason
        assert "only 1 of the 2" in reason
        assert "party south" in reason
        assert "party west" in reason
        assert "10" not in reason.replace("100", "")


@pytest.mark.parametrize("rows", [0, 9])
def test_a_hospital_with_too_few_or_too_many_rows_is_refused_by_name(world: World, rows: int) -> None:
    vector = np.zeros_like(world.vectors["south"])
    vector[: world.layout.classes] = rows, 0
    for attribute, block in world.layout.blocks(vector):
        block[attribute.rows - 1] = rows, 0
    world.vectors["south"] = vector
    world.everybody()
    assert states(world) == (SERVING, SERVING)
    assert [node.rounds.status("north").refused for node in (world.a, world.b)] == [["south"], ["south"]]


def test_mixers_with_different_sets_compute_nothing(world: World) -> None:
    contribute(world)
    world.lead()
    contributions = world.a.store.contributions(1), world.b.store.contributions(1)[1:]
    (now_a, now_b), (ahead_a, ahead_b) = (channels("mixer a", "mixer b") for _ in range(2))
    random = Randomness.from_system
    nothing = lambda counted: Draw(b"")  # noqa: E731

    with pytest.raises(DifferentSets):
        memory.together(
            lambda: train_round(0, (now_a, ahead_a), world.layout, 1, contributions[0], 2, random(), nothing),
            lambda: train_round(1, (now_b, ahead_b), world.layout, 1, contributions[1], 2, random(), nothing),
        )


def test_two_sendings_of_one_hospital_end_the_round_and_name_it(world: World) -> None:
    one, other = (world.made("south", 1) for _ in range(2))
    mixers = world.hospital("south").mixers
    mixers.contribute("a", one.to_a)
    mixers.contribute("b", other.to_b)
    world.everybody()
    assert states(world) == (FAILED, FAILED)
    assert "different contributions of party south" in world.a.rounds.current().reason
    assert world.on_disk("a")[1].run is None


def test_two_sendings_under_one_id_are_noise_and_refused(world: World) -> None:
    """The ids agree, the shares do not belong together: the check on shares sees it."""
    one, other = (world.made("south", 1) for _ in range(2))
    mixers = world.hospital("south").mixers
    mixers.contribute("a", one.to_a)
    mixers.contribute("b", other.to_b.replace(other.id, one.id))
    world.everybody()
    assert states(world) == (SERVING, SERVING)
    assert world.a.rounds.status("north").refused == ["south"]


def test_first_mixer_keeps_no_model_before_the_second_has(world: World) -> None:
    """Else it would ask for what the other is still writing down, and train again, and again."""
    contribute(world)
    world.lead()
    world.fuses["b"].left = 0
    world.lead()
    assert "b" not in world.nodes
    assert world.on_disk("a")[1].run is None
    assert world.a.rounds.current().state == SEALED


def test_link_that_breaks_before_the_last_word_leaves_no_model_at_the_first(world: World) -> None:
    contribute(world)
    world.lead()
    last = -1
    for after in range(200):
        world.cut = Cut("b", "a", after)
        world.lead()
        if world.a.rounds.current().state == TRAINED:
            break
        last = after
        assert world.a.rounds.current().run is None
    assert last > 5
    world.everybody()
    assert states(world) == (SERVING, SERVING)
    Promises(world).check()


@pytest.mark.parametrize(
    ("state", "error"), [(COLLECTING, TooEarly), (SERVING, RoundOver), (FAILED, RoundFailed)], ids=str
)
def test_second_mixer_trains_only_a_sealed_round(world: World, state: str, error: type[Exception]) -> None:
    """Put back to an old state, or already serving: the first mixer cannot make it compute."""
    contribute(world)
    if state == SERVING:
        world.everybody()
    elif state == FAILED:
        world.b.rounds.fail(1, "why.")
    assert world.b.rounds.current().state == state
    with pytest.raises(error):
        world.b.pair._training(1)({NOW: cast(Channel, None), AHEAD: cast(Channel, None)})


def test_first_mixer_trains_only_a_sealed_round(world: World) -> None:
    contribute(world)
    with pytest.raises(TooEarly):
        train_with(world.a.leading._led, world.a.store, 1)
    assert states(world) == (COLLECTING, COLLECTING)


def test_last_word_of_a_training_has_a_step_of_its_own() -> None:
    here, there = channels("mixer a", "mixer b")
    there.send("something else", b"")
    with pytest.raises(WrongStep):
        here.receive(MODEL_KEPT, 0)


class Context:
    """A stream that mixer a opens at mixer b."""

    def __init__(self, purpose: str, whose: str) -> None:
        about = {PURPOSE: purpose, WHOSE: whose, CONVERSATION: "key", CHANNEL: "now"}
        self._about = tuple(about.items())
        self.cancelled = False

    def auth_context(self) -> dict[str, list[bytes]]:
        return shown_by("a")

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        return self._about

    def add_callback(self, callback: object) -> bool:
        return True

    def cancel(self) -> None:
        self.cancelled = True


@pytest.mark.parametrize(
    ("purpose", "whose"),
    [
        ("gossip", "north"),
        (ASKING, "east"),
        (ASKING, "a"),
        (ASKING, ""),
        (TRAINING, "north"),
        (TRAINING, "-1"),
        (TRAINING, "1 "),
        (TRAINING, ""),
    ],
)
def test_stream_for_nobody_or_nothing_is_refused(
    world: World, purpose: str, whose: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = world.b.pair
    monkeypatch.setattr(type(pair._reception), "stream", lambda self, incoming, context: None)
    with pytest.raises(WrongStep, match="mixer a, at opening a stream"):
        next(pair.Talk(iter([]), Context(purpose, whose)))  # type: ignore[arg-type]


def test_round_goes_on_after_a_mixer_was_put_back_to_an_old_state(world: World) -> None:
    """Mixer b comes back from a backup that knows of the contributions, and not of the sealed set."""
    contribute(world)
    world.b.database.close()
    backup = {part.name: part.read_bytes() for part in (world.folder / "b").iterdir()}
    world.kill("b")
    world.start("b")
    world.everybody()
    assert states(world) == (SERVING, SERVING)
    run = world.a.rounds.current().run
    world.kill("b")
    for part in (world.folder / "b").iterdir():
        part.unlink()
    for name, content in backup.items():
        (world.folder / "b" / name).write_bytes(content)
    world.start("b")
    assert states(world) == (SERVING, COLLECTING)
    world.clock["a"] += 3600
    for _ in range(10):
        world.everybody()
    assert world.a.rounds.current().state == FAILED, "never another model under the same round"
    assert world.a.rounds.current().run == run
    assert world.b.rounds.current().state == FAILED
    assert world.open_round("north", 2)
    world.everybody()
    assert states(world) == (SERVING, SERVING)


def test_old_ledger_of_one_mixer_buys_no_second_answer(world: World) -> None:
    """Mixer b comes back from a backup of before the questions: the stricter ledger decides."""
    world.everybody()
    world.kill("b")
    backup = {part.name: part.read_bytes() for part in (world.folder / "b").iterdir()}
    world.start("b")
    codes = np.array([[0] * 12, [1] * 12], np.int32)
    world.asked("north", 1, codes, private=False, id=b"1" * 16)
    world.kill("b")
    for name, content in backup.items():
        (world.folder / "b" / name).write_bytes(content)
    world.start("b")
    with pytest.raises(QuestionSpent):
        world.asked("north", 1, codes, private=False, id=b"1" * 16)
    with pytest.raises(OverBudget):
        world.asked("north", 1, codes[:, :1], private=False, id=b"2" * 16)
    assert world.on_disk("b")[1].spent == {}


def test_hospital_that_comes_after_a_lost_reply_to_sealing_is_left_out(world: World) -> None:
    """Mixer b has sealed two; mixer a does not know it yet, and takes a third."""
    for name in ("north", "south"):
        world.visit(name)
    for name in world.clock:
        world.clock[name] += 25 * 3600
    world.fates.append(Fate.REPLY_LOST)
    world.lead()
    assert states(world) == (COLLECTING, SEALED)
    world.visit("west")
    assert "west" in world.a.rounds.contributions(1)
    world.everybody()
    assert states(world) == (SERVING, SERVING)
    assert world.on_disk("a")[1].sealed_set.keys() == world.on_disk("b")[1].sealed_set.keys() == {"north", "south"}
    Promises(world).check()


def test_late_confirmation_of_a_forgotten_training_serves_nothing(world: World) -> None:
    """It was held up in the network while mixer a trained again."""
    contribute(world)
    world.lead()
    world.lead()
    assert world.a.rounds.current().state == TRAINED
    world.fates.append(Fate.LATE)
    world.lead()
    world.a.rounds.forget_model(1)
    world.lead()
    assert world.a.rounds.current().state == TRAINED
    world.deliver_late(0)
    assert world.b.rounds.current().state == TRAINED
    world.everybody()
    assert states(world) == (SERVING, SERVING)
    Promises(world).check()
