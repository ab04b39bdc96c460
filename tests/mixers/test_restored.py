"""A node that lost its state: what comes back from a backup or an old copy, and what the other nodes make of it.

Nobody gets rows of a budget back, and no ledger of noise allows more than it did.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from mixbayes.agreement.promise import cost
from mixbayes.node.disk.backup import back_up, put_back
from mixbayes.node.rounds.state import CLOSED, COLLECTING, FAILED, SERVING
from mixbayes.protocol.arrays import Values
from mixbayes.transport.errors import OverBudget, RefusedByPolicy, RoundOver
from tests.mixers.three_hospitals import BUDGET, HOSPITALS, MIXERS, NOISE, agreement, new_folder
from tests.mixers.world import World, deal_base_transfers
from tests.trails import found_cut

NOW = datetime(2026, 11, 20, tzinfo=UTC)
SOME_NOISE: dict[str, object] = {**NOISE, "total_delta": 1e-5}


def enough_for(rounds: int) -> dict[str, object]:
    """An agreement on noise whose total pays for so many rounds."""
    one = agreement(SOME_NOISE)
    return SOME_NOISE | {"total_epsilon": cost(one.releases, 1e-5, rounds)}


@contextmanager
def world_of(monkeypatch: pytest.MonkeyPatch, privacy: dict[str, object] | None = None) -> Iterator[World]:
    deal_base_transfers(monkeypatch)
    with new_folder() as folder:
        made = World(Path(folder), agreement(privacy))
        try:
            yield made
        finally:
            made.close()


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with world_of(monkeypatch) as made:
        yield made


def serve(world: World, number: int) -> None:
    for _ in range(6):
        world.everybody()
    assert {world.on_disk(mixer)[number].state for mixer in MIXERS} == {SERVING}
    world.clock["a"] += 61.0  # mixer a looks again whether mixer b serves
    world.everybody()


def next_round(world: World, over: int) -> None:
    assert world.close_round("north", over)
    assert world.open_round("north", over + 1)


def rows(count: int) -> Values:
    return np.zeros((2, count), np.int32)


def ask(world: World, number: int, count: int, id: int) -> int:
    """How many labels came back."""
    return len(world.asked("north", number, rows(count), private=True, id=id.to_bytes(16, "little")))


def backup_of(world: World, name: str) -> Path:
    out = world.folder / f"{name}.backup"
    out.touch()
    back_up(world.folder / name, out, NOW)
    return out


def restored(world: World, name: str, backup: Path) -> None:
    world.kill(name)
    shutil.rmtree(world.folder / name)
    put_back(backup, world.folder / name, NOW)
    assert world.start(name)


def copy_of(world: World, name: str) -> Path:
    world.kill(name)
    shutil.copytree(world.folder / name, world.folder / f"{name}.copy")
    assert world.start(name)
    return world.folder / f"{name}.copy"


def old_copy_put_back(world: World, name: str, copy: Path) -> None:
    """As with a snapshot of a virtual machine."""
    world.kill(name)
    shutil.rmtree(world.folder / name)
    shutil.copytree(copy, world.folder / name)
    assert world.start(name)


@pytest.mark.parametrize("name", MIXERS)
def test_a_restored_mixer_answers_no_question_of_the_round_of_before(world: World, name: str) -> None:
    serve(world, 1)
    backup = backup_of(world, name)
    assert ask(world, 1, BUDGET, id=1) == BUDGET
    restored(world, name, backup)
    with pytest.raises(RoundOver):
        ask(world, 1, 1, id=2)
    assert world.on_disk(name)[1].state == CLOSED
    next_round(world, 1)
    serve(world, 2)
    assert ask(world, 2, 1, id=3) == 1


@pytest.mark.parametrize("name", MIXERS)
def test_both_mixers_end_the_round_of_which_one_has_lost_its_share(world: World, name: str) -> None:
    serve(world, 1)
    restored(world, name, backup_of(world, name))
    for _ in range(3):  # the second time mixer a says nothing new
        world.clock["a"] += 61.0
        world.everybody()
    assert {world.on_disk(mixer)[1].state for mixer in MIXERS} == {CLOSED}


def test_a_mixer_that_is_further_stays_where_it_is(world: World) -> None:
    backup = backup_of(world, "a")
    serve(world, 1)
    next_round(world, 1)
    serve(world, 2)
    restored(world, "a", backup)
    world.everybody()
    assert world.on_disk("b")[2].state == SERVING
    assert "a step failed" not in world.said.getvalue()
    assert world.close_round("north", 2)
    assert world.open_round("north", 3)
    serve(world, 3)


@pytest.mark.parametrize("names", [MIXERS[:1], MIXERS[1:], MIXERS], ids=["a", "b", "both"])
def test_restored_mixers_give_no_rows_of_a_round_back(world: World, names: tuple[str, ...]) -> None:
    serve(world, 1)
    backups = {name: backup_of(world, name) for name in names}
    assert ask(world, 1, BUDGET, id=1) == BUDGET
    for name in names:
        restored(world, name, backups[name])
    world.everybody()
    with pytest.raises(RoundOver):
        ask(world, 1, 1, id=2)


@pytest.mark.parametrize("name", MIXERS)
def test_an_old_copy_of_one_mixer_gives_no_budget_back_because_the_other_one_counts(world: World, name: str) -> None:
    serve(world, 1)
    copy = copy_of(world, name)
    assert ask(world, 1, BUDGET, id=1) == BUDGET
    old_copy_put_back(world, name, copy)
    assert world.on_disk(name)[1].state == SERVING
    with pytest.raises(OverBudget):
        ask(world, 1, 1, id=2)


def test_old_copies_of_both_mixers_give_the_budget_back_and_hospitals_see_the_cut_trails(world: World) -> None:
    """What a page warns of: nothing but the heads that hospitals noted shows it."""
    serve(world, 1)
    copies = {name: copy_of(world, name) for name in MIXERS}
    assert ask(world, 1, BUDGET, id=1) == BUDGET
    for name in HOSPITALS:  # a day later heads are noted again
        world.clock[name] += 2 * 86400.0
    for name in MIXERS:
        world.clock[name] += 2 * 86400.0
    world.everybody()
    world.everybody()
    for name, copy in copies.items():
        old_copy_put_back(world, name, copy)
    assert ask(world, 1, BUDGET, id=2) == BUDGET
    world.everybody()
    world.everybody()
    assert set(found_cut(world.folder / "north")) == {"mixer a", "mixer b"}


def test_a_restored_node_is_found_if_others_noted_what_it_lacks(world: World) -> None:
    serve(world, 1)
    backup = backup_of(world, "b")
    next_round(world, 1)
    serve(world, 2)
    assert found_cut(world.folder / "north") == []
    restored(world, "b", backup)
    world.everybody()
    world.everybody()
    assert found_cut(world.folder / "north") == ["mixer b"]
    next_round(world, 2)
    serve(world, 3)
    assert found_cut(world.folder / "a") == ["mixer b"]


def test_a_restored_node_is_not_blamed_if_nobody_noted_anything_since(world: World) -> None:
    serve(world, 1)
    restored(world, "b", backup_of(world, "b"))
    world.clock["a"] += 61.0
    world.everybody()
    world.everybody()
    assert [found_cut(world.folder / name) for name in ("a", *HOSPITALS)] == [[], [], [], []]


@pytest.mark.parametrize("name", MIXERS)
def test_one_restored_mixer_draws_no_noise_that_the_other_cannot_pay(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    with world_of(monkeypatch, enough_for(2)) as world:
        backup = backup_of(world, name)
        serve(world, 1)
        next_round(world, 1)
        serve(world, 2)
        restored(world, name, backup)
        next_round(world, 2)
        for _ in range(6):
            world.everybody()
        states = {world.on_disk(mixer)[3].state for mixer in MIXERS}
        assert states <= {COLLECTING, FAILED}, states


def test_a_restored_hospital_that_contributed_before_goes_on(world: World) -> None:
    serve(world, 1)
    restored(world, "north", backup_of(world, "north"))
    world.everybody()
    assert ask(world, 1, 2, id=1) == 2
    next_round(world, 1)
    serve(world, 2)
    assert world.on_disk("a")[2].counted == frozenset(HOSPITALS)


@pytest.mark.parametrize("lost", ["restored", "begun anew"])
def test_a_hospitals_ledger_of_noise_catches_up_with_the_mixers(monkeypatch: pytest.MonkeyPatch, lost: str) -> None:
    with world_of(monkeypatch, enough_for(2)) as world:
        backup = backup_of(world, "north")
        serve(world, 1)
        next_round(world, 1)
        serve(world, 2)
        if lost == "restored":
            restored(world, "north", backup)
        else:
            world.kill("north")
            shutil.rmtree(world.folder / "north")
            assert world.start("north")
        next_round(world, 2)
        with pytest.raises(RefusedByPolicy, match="party north does not contribute"):
            world.hospital("north").contributor.step()
        assert "north" not in world.on_disk("a")[3].held
