"""What the promises of a round with noise would notice."""

from __future__ import annotations

import secrets
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mixbayes.node.rounds.rounds import Rounds
from mixbayes.node.rounds.state import SERVING
from mixbayes.protocol.bayes.tossing import Draw
from tests.mixers.promises import Promises
from tests.mixers.three_hospitals import MIXERS, NOISE, agreement, new_folder
from tests.mixers.world import World, deal_base_transfers


def serving(folder: str) -> World:
    world = World(Path(folder), agreement(NOISE))
    world.everybody()
    assert {world.on_disk(mixer)[1].state for mixer in MIXERS} == {SERVING}
    return world


def test_coins_that_are_not_those_that_were_charged_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if noise were drawn anew at every training of one set."""
    deal_base_transfers(monkeypatch)
    charge = Rounds.charge_noise

    def anew(rounds: Rounds, *about: Any) -> Draw:
        return replace(charge(rounds, *about), seed=secrets.token_bytes(32))

    monkeypatch.setattr(Rounds, "charge_noise", anew)
    with new_folder() as folder:
        world = serving(folder)
        with pytest.raises(AssertionError):
            Promises(world).check()
        world.close()


def test_both_charge_the_same_set_once(monkeypatch: pytest.MonkeyPatch) -> None:
    deal_base_transfers(monkeypatch)
    with new_folder() as folder:
        world = serving(folder)
        Promises(world).check()
        of_a, of_b = (world.on_disk(mixer)[1].noise for mixer in MIXERS)
        assert len(of_a) == 1
        assert of_a.keys() == of_b.keys()
        assert [*of_a.values(), *of_b.values()] == [None, None], "seeds are deleted once the model serves"
        assert len({seed for seeds in world.seeds.values() for seed in seeds}) == 2
        world.close()


def test_whom_the_leader_blames_when_it_ends_a_round_is_its_own_word(monkeypatch: pytest.MonkeyPatch) -> None:
    deal_base_transfers(monkeypatch)
    with new_folder() as folder:
        world = World(Path(folder), agreement(NOISE))
        world.a.leader._other.fail(1, "party north, at contribution: its numbers are not the counts of any table.")
        assert world.b.rounds.status("south").reason.startswith("mixer a says: party north, at contribution")
        world.close()
