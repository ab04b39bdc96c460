"""Many applications of a hospital ask at once: each row is charged once, and each application gets its own labels.

The hospital's node asks real mixers with real ledgers on disk, and any of the three may fail at any of its steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mixbayes.node.disk import audit
from mixbayes.node.disk.sealing import Seal
from mixbayes.parties import gathering
from mixbayes.parties.asking import numbering
from mixbayes.parties.own_patients import OwnPatients
from mixbayes.parties.with_mixers import asking, node
from mixbayes.parties.with_mixers.node import Hospital
from mixbayes.protocol.arrays import Values
from mixbayes.protocol.bayes import public_rows
from mixbayes.protocol.bayes.label import Labels, joined
from mixbayes.protocol.bayes.recipe import JOINT
from mixbayes.protocol.errors import MixbayesError
from mixbayes.transport.errors import OverBudget
from tests.mixers.misfortune import Cut, Killed
from tests.mixers.test_broken_questions import Applications, Fault, Full, Killing, a_copy, books, faults
from tests.mixers.three_hospitals import BUDGET, HOSPITALS, MIXERS, new_folder
from tests.mixers.world import World, deal_base_transfers
from tests.services.helpers import wait_until

ALL = frozenset(HOSPITALS)
LONG = 60.0
CODES = np.array([[0, 1, 2, 0], [0, 1, 2, 1]], np.int32)
NUMBERED = numbering(Seal(bytes(32)))
Outcome = Labels | BaseException


@pytest.fixture(scope="module", autouse=True)
def _quick() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        deal_base_transfers(patch)
        patch.setattr(public_rows, "_PIECE", 1)
        patch.setattr(asking, "_PAUSE", 0.0)
        yield


@pytest.fixture(scope="module")
def served() -> Iterator[Path]:
    """The folders of a federation whose round serves."""
    with new_folder() as folder:
        world = World(Path(folder))
        world.everybody()
        world.close()
        yield Path(folder)


class Together(Applications):
    """Applications of north that ask its node while the node is busy, so that it finds them all waiting."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.node: Hospital | None = None

    def ask_all(self, parts: Sequence[Values], fault: Fault = None, *, private: bool = False) -> list[Outcome]:
        """What became of each application's rows. All nodes begin again that have stopped."""
        self._meet(fault)
        node, asked = self._running(), list[Future[Labels]]()
        try:
            with ThreadPoolExecutor(len(parts)) as pool:
                with node._turn.mine():
                    for codes in parts:
                        asked.append(pool.submit(self._labels, node, codes, private))
                        wait_until(partial(self._waits, node, len(asked)), "it waits")
                return [one.exception(LONG) or one.result(LONG) for one in asked]
        finally:
            if self._killed(asked):
                self.stop()
                self.world.kill("north")
            self._mend()

    def stop(self) -> None:
        """The process ends."""
        if self.node and self.node._asking._lines:
            self.node._asking._break_off()
        self.node = None

    def _running(self) -> Hospital:
        north, federation = self.world.hospital("north"), self.world.federation
        own = cast("OwnPatients", None)
        self.node = self.node or Hospital("north", north.mixers, federation, north.outbox, NUMBERED, own)
        return self.node

    @staticmethod
    def _labels(node: Hospital, codes: Values, private: bool) -> Labels:
        return joined(list(node.labels(codes, private=private, id=b"", renew=False, recipe=JOINT)))

    @staticmethod
    def _waits(node: Hospital, number: int) -> bool:
        return len(node._turn._waiting) == number

    @staticmethod
    def _killed(asked: Sequence[Future[Labels]]) -> bool:
        return any(isinstance(one.exception(0), Killed) for one in asked)


def rows_asked(world: World, *nodes: str) -> list[list[int]]:
    """By node, the rows of each entry of its trail that says that somebody asked."""
    entries = [[record.entry for record in audit.entries(world.folder / node)] for node in nodes]
    return [
        [int(one.details.get("rows shown", one.details.get("rows hidden", 0))) for one in found if one.verb == "asked"]
        for found in entries
    ]


@pytest.mark.parametrize("private", [False, True])
def test_applications_that_wait_are_one_question_of_which_each_gets_its_labels(served: Path, private: bool) -> None:
    parts = [CODES[:, :1], CODES[:, 1:3], CODES[:, 3:], CODES[:, :2]]
    with a_copy(served) as world:
        north = Together(world)
        found = north.ask_all(parts, private=private)
        north.stop()
        assert [one.tolist() for one in cast("list[Labels]", found)] == [world.expected(ALL, one) for one in parts]
        assert books(world).spent == [6, 6]
        assert rows_asked(world, *MIXERS, "north") == [[6], [6], [6]]
        entry = next(one.entry for one in audit.entries(world.folder / "north") if one.entry.verb == "asked")
        assert entry.details["applications"] == 4


def test_those_whose_rows_exceed_the_budget_do_not_take_the_others_down(served: Path) -> None:
    sizes = [4, 4, 4, 3, 1, 2]
    with a_copy(served) as world:
        north = Together(world)
        first = north.ask_all([CODES[:, :3]])
        found = north.ask_all([CODES[:, :size] for size in sizes])
        north.stop()
        assert [isinstance(one, OverBudget) for one in [*first, *found]] == [
            False,
            False,
            False,
            True,
            True,
            False,
            True,
        ]
        for one, size in zip(found, sizes, strict=True):
            if not isinstance(one, BaseException):
                assert one.tolist() == world.expected(ALL, CODES[:, :size])
        assert books(world).spent == [BUDGET, BUDGET]


def test_a_larger_table_has_smaller_questions_while_others_ask_about_few_rows(
    served: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node, "MOST_ROWS", 1)
    monkeypatch.setattr(gathering, "TABLE_ALONE", 3)
    monkeypatch.setattr(gathering, "TABLE_AMONG_OTHERS", 1)
    monkeypatch.setattr(gathering, "_LATELY", LONG)
    with a_copy(served) as world:
        north = Together(world)
        labels = [*north.ask_all([CODES]), *north.ask_all([CODES[:, :1]]), *north.ask_all([CODES])]
        north.stop()
        expected = [world.expected(ALL, codes) for codes in (CODES, CODES[:, :1], CODES)]
        assert [one.tolist() for one in cast("list[Labels]", labels)] == expected
        assert rows_asked(world, *MIXERS, "north") == [[3, 1, 1, 1, 1, 1, 1]] * 2 + [[4, 1, 4]]


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(faults, st.lists(st.integers(1, 2), min_size=1, max_size=3), st.booleans()), max_size=3))
@example([(Full("b", 1, 1), [1, 1, 1], False)] * 2)
@example([(Killing("a", 3), [1, 2], False), (Killing("b", 5), [2, 1], False)])
@example([(Killing("north", 3), [1, 2], True), (Full("north", 1, 1), [1, 1, 1], True)])
@example([(Killing("a", 0), [1, 1], False), (Killing("north", 0), [1], False)])
@example([(Cut("a", "north", 3), [1, 1, 1], True), (Cut("b", "north", 2), [1, 1, 1], True)])
def test_charged_is_what_was_answered_and_at_most_one_open_question(
    served: Path, attempts: list[tuple[Fault, list[int], bool]]
) -> None:
    """Each attempt meets a fault, and the node may begin again after it."""
    with a_copy(served) as world:
        north, got, largest = Together(world), 0, 0
        for fault, sizes, again in attempts:
            parts = [CODES[:, :size] for size in sizes]
            for one, codes in zip(north.ask_all(parts, fault), parts, strict=True):
                assert isinstance(one, BaseException) or one.tolist() == world.expected(ALL, codes)
                assert not isinstance(one, BaseException) or isinstance(one, MixbayesError | Killed)
                got += 0 if isinstance(one, BaseException) else codes.shape[1]
            now, largest = books(world), max(largest, sum(sizes))
            assert all(got <= now.answered <= spent for spent in now.spent), "labels that nobody paid for"
            assert all(spent <= now.answered + largest for spent in now.spent), "more than one question is open"
            if again:
                north.stop()
        if BUDGET - max(books(world).spent) < 1:
            return
        north.ask_all([CODES[:, :1]])
        north.stop()
        now = books(world)
        assert now.spent == [now.answered] * 2, "something is charged that nobody can know"
