"""A preliminary agreement at mixers that are killed: both find the same, of the noise that was charged, and keep it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mixbayes.agreement.agreement import Federation, federation_from
from mixbayes.node.cuts import words_of
from mixbayes.node.questions import Kind
from mixbayes.protocol.bayes.cuts import cuts_in_clear
from mixbayes.transport.errors import RoundOver
from tests.mixers.test_killed import CODES, Operators
from tests.mixers.three_hospitals import HOSPITALS, MIXERS, NOISE, agreement, new_folder
from tests.mixers.world import World, deal_base_transfers

GRID = {"name": "whose", "kind": "binned", "low": 0.0, "high": 3.0, "cuts": [1.0, 2.0]}
BINS = 3


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    deal_base_transfers(monkeypatch)


def preliminary(privacy: dict[str, object] | None = None) -> Federation:
    """With a grid of three cells in the place of three values."""
    content: dict[str, Any] = agreement(privacy).model_dump(mode="json")
    content["dictionary"]["attributes"][0] = GRID
    return federation_from(content | {"cuts": {"bins": BINS}})


@pytest.fixture
def folder() -> Iterator[Path]:
    with new_folder() as made:
        yield Path(made)


class Finders(Operators):
    """Without the promises that are about models."""

    def serve(self, number: int) -> None:
        self.promises.check = lambda: None  # type: ignore[method-assign]
        super().serve(number)


def assert_found(world: World) -> None:
    expected = words_of(cuts_in_clear(world.layout, world.noisy(1, frozenset(HOSPITALS)), BINS))
    for node in (world.a, world.b):
        assert np.frombuffer(node.store.rounds.counts(1), "<u8").tolist() == expected.tolist()
        assert node.store.rounds.model(1)[1] == b""


@pytest.mark.parametrize("name", MIXERS)
def test_kill_at_every_write_point_until_it_serves(name: str) -> None:
    commit = -1
    for commit in count():
        with new_folder() as made:
            world = World(Path(made), preliminary(NOISE))
            fuse = world.fuses[name]
            fuse.left = commit
            try:
                Finders(world).serve(1)
                assert_found(world)
                over = fuse.left is not None
            finally:
                world.close()
        if over:
            break
    assert commit >= 12, "the fuse never reached the round's writes"


def test_nobody_is_answered(folder: Path) -> None:
    world = World(folder, preliminary())
    try:
        Finders(world).serve(1)
        assert_found(world)
        for kind in (Kind.PRIVATE, Kind.PUBLIC):
            with pytest.raises(RoundOver, match="answers no questions"):
                world.asked("north", 1, CODES, private=kind is Kind.PRIVATE, id=bytes([kind]) * 16)
        assert world.on_disk("a")[1].questions == world.on_disk("b")[1].questions == {}
        assert world.on_disk("a")[1].spent == {}
    finally:
        world.close()
