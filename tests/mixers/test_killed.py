"""A node is killed at every side of every one of its commits in a round: nothing is lost, and nothing happens twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from mixbayes.node.rounds.state import SERVING
from mixbayes.parties.with_mixers import asking
from mixbayes.protocol.bayes.label import Labels
from mixbayes.protocol.errors import MixbayesError, PeerGone, PeerSilent
from mixbayes.transport.errors import QuestionSpent, Unreachable
from tests.mixers.promises import Promises
from tests.mixers.three_hospitals import HOSPITALS, MIXERS, NOISE, agreement, new_folder
from tests.mixers.world import World, deal_base_transfers

SIDES = {"a": 36, "b": 36, "north": 6}
"""Three contributions, sealed, verdicts opened, verdicts kept, trained, serving, closed, opened; of each of two
questions: charged, kept, released, and released again. At the hospital: made, twice received."""
CODES = np.array([[0, 1, 2, 3], [0, 1, 2, 2]], np.int32)
PATIENCE = 6
"""Tries. One kill costs one or two of them."""


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    deal_base_transfers(monkeypatch)
    monkeypatch.setattr(asking, "_PAUSE", 0.0)


@contextmanager
def new_world(privacy: dict[str, object] | None = None) -> Iterator[World]:
    with new_folder() as folder:
        world = World(Path(folder), agreement(privacy))
        try:
            yield world
        finally:
            world.close()


class Operators:
    """People who start what has stopped and ask again for what they did not get."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.promises = Promises(world)
        self.ids = count(1)

    def until(self, done: Callable[[], bool], order: Callable[[], object]) -> None:
        for _ in range(PATIENCE):
            for name in self.world.clock:
                self.world.start(name)
            if done():
                return
            order()
            self.promises.check()
        raise AssertionError("it does not come to an end")

    def state(self, number: int) -> set[str]:
        found = [self.world.on_disk(mixer).get(number) for mixer in MIXERS]
        return {one.state if one else "not there" for one in found}

    def serve(self, number: int) -> None:
        self.until(lambda: self.state(number) == {SERVING}, self.world.everybody)

    def ask(self, private: bool) -> bytes:
        """Under one id as long as it is good."""
        self.id = next(self.ids).to_bytes(16, "big")
        got: list[Labels] = []

        def once() -> None:
            try:
                got.append(self.world.asked("north", 1, CODES, private=private, id=self.id))
            except QuestionSpent:
                self.id = next(self.ids).to_bytes(16, "big")
            except MixbayesError:
                pass

        self.until(lambda: bool(got), once)
        assert got[0].tolist() == self.world.expected(frozenset(HOSPITALS), CODES)
        self.promises.answered(self.id, "north", 1, got[0])
        return self.id

    def ask_again(self, id: bytes, private: bool) -> None:
        """What was answered once is answered under the same id ever after, and never spent."""
        got: list[Labels] = []

        def once() -> None:
            with suppress(PeerGone, PeerSilent, Unreachable):
                got.append(self.world.asked("north", 1, CODES, private=private, id=id))

        self.until(lambda: bool(got), once)
        self.promises.answered(id, "north", 1, got[0])


def whole_round(world: World) -> Operators:
    """From the first contribution to the next round."""
    people = Operators(world)
    people.serve(1)
    hidden, shown = people.ask(private=True), people.ask(private=False)
    people.ask_again(hidden, private=True)
    people.ask_again(shown, private=False)
    people.until(lambda: people.state(1) == {"closed"}, lambda: world.close_round("south", 1))
    people.until(lambda: people.state(2) == {"collecting"}, lambda: world.open_round("south", 2))
    return people


@pytest.mark.parametrize("name", ["a", "b", "north"])
def test_kill_at_every_write_point_of_a_round(name: str) -> None:
    """With noise, which has one more write at the mixers before anything is drawn: it is the same ever after."""
    commit, sides = -1, SIDES[name] + 2 * (name in MIXERS)
    for commit in count():
        with new_world(NOISE) as world:
            fuse = world.fuses[name]
            fuse.left = commit
            people = whole_round(world)
            at_a, at_b = (world.on_disk(mixer)[1] for mixer in MIXERS)
            assert at_a.counted == at_b.counted == frozenset(HOSPITALS)
            people.promises.check()
            if fuse.left is not None:
                break
    assert commit >= sides, "the fuse never reached the round's writes"


@pytest.mark.parametrize("name", ["a", "b"])
@pytest.mark.parametrize("commit", [0, 1])
def test_kill_at_the_first_write_of_a_node(name: str, commit: int) -> None:
    """On an empty folder the first round opens by itself, once."""
    with new_world() as world:
        world.kill(name)
        for part in (world.folder / name).iterdir():
            part.unlink()
        world.fuses[name].left = commit
        assert not world.start(name)
        assert world.start(name)
        assert list(world.on_disk(name)) == [1]
        Operators(world).serve(1)
