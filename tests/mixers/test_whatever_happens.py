"""Hospitals, two mixers and questions under every fault: one set, counted once, or no model; charged, then answered.

Every hospital has one patient, in a cell of the counts that nobody else fills. Opened, joint counts are then 0 and 1
only: a 2 was counted twice, a huge number is noise of shares that do not belong together.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from mixbayes.node.rounds.record import Round
from mixbayes.node.rounds.state import CLOSED, FAILED, SERVING
from mixbayes.parties.with_mixers import asking
from mixbayes.protocol.arrays import Values
from mixbayes.protocol.bayes.label import Labels
from mixbayes.protocol.errors import MixbayesError, PeerGone, PeerSilent
from mixbayes.transport.errors import OverBudget, QuestionSpent, RoundFailed, RoundOver, Unreachable
from tests.mixers.misfortune import Cut, Fate
from tests.mixers.promises import Promises
from tests.mixers.three_hospitals import HOSPITALS, HOUR, MIXERS, NOISE, agreement, new_folder
from tests.mixers.world import World, deal_base_transfers

ENOUGH = 12
"""Steps of everybody within which a round comes to its end once nothing fails any more."""
OVER = (CLOSED, FAILED)

hospitals = st.sampled_from(HOSPITALS)
nodes = st.sampled_from((*MIXERS, *HOSPITALS))
fates = st.lists(st.sampled_from(Fate), max_size=2)
cuts = st.builds(
    Cut,
    st.sampled_from((*MIXERS, *HOSPITALS)),
    st.sampled_from((*MIXERS, *HOSPITALS)),
    st.integers(0, 12),
)
rows = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=3)
"""Values of both attributes; the last one is "missing"."""


def codes_of(rows: list[tuple[int, int]]) -> Values:
    return np.array(rows, np.int32).T


def settled(world: World, promises: Promises) -> int:
    """Nothing fails any more: the round comes to serve, or has ended for a reason. Returns its number."""
    world.fates.clear()
    world.cut = None
    for fuse in world.fuses.values():
        fuse.left = None
    for name in world.clock:
        assert world.start(name)
        world.clock[name] = max(world.clock.values()) + 25 * HOUR
    now: dict[str, Round] = {}
    for _ in range(ENOUGH):
        world.everybody()
        promises.check()
        now = {"a": world.a.rounds.current(), "b": world.b.rounds.current()}
        if now["a"].number == now["b"].number:
            states = {one.state for one in now.values()}
            if states == {SERVING} or states <= set(OVER):
                assert all(one.reason for one in now.values() if one.state == FAILED)
                return now["a"].number
        else:  # a hospital asked for a new round, and never heard back: it asks again
            latest = max(one.number for one in now.values())
            assert world.open_round("north", latest) or world.open_round("north", latest + 1)
    raise AssertionError(f"the round came to no end: {now}; {world.a.leader.waiting}")


@contextmanager
def fated(world: World, fates: list[Fate]) -> Iterator[None]:
    """The next calls meet these fates."""
    world.fates.extend(fates)
    try:
        yield
    finally:
        world.fates.clear()


class WhateverHappens(RuleBasedStateMachine):
    """The network, the nodes and the clocks do what they like; what was promised holds."""

    PRIVACY: ClassVar[dict[str, object] | None] = None

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        deal_base_transfers(self.patch)
        self.patch.setattr(asking, "_PAUSE", 0.0)
        self.folder = new_folder()
        self.world = World(Path(self.folder.name), agreement(self.PRIVACY))
        self.promises = Promises(self.world)
        self.asked: list[tuple[str, int, bool, Values, bytes]] = []
        self.numbers = count(1)
        self.spoilt: set[int] = set()
        """Rounds that people closed, or contributed to twice: these alone may fail."""

    def teardown(self) -> None:
        try:
            self.check_the_end()
        finally:
            self.world.close()
            self.folder.cleanup()
            self.patch.undo()

    def check_the_end(self) -> None:
        """What was held up arrives; then a round comes to its end, the next one serves, and all can ask."""
        number = settled(self.world, self.promises)
        while self.world.late:
            self.world.deliver_late(0)
            self.promises.check()
        number = settled(self.world, self.promises)
        if self.world.a.rounds.current().state in OVER:
            assert self.world.open_round("south", number + 1)
            number = settled(self.world, self.promises)
            assert self.world.a.rounds.current().state == SERVING
            assert set(self.world.on_disk("a")[number].sealed_set) == set(HOSPITALS)
        at_both = self.world.a.rounds, self.world.b.rounds
        left = {name: min(one.budget_of(number, name)[1] for one in at_both) for name in HOSPITALS}
        for name in HOSPITALS:
            if left[name] >= 1:
                self.ask(name, number, name == "north", codes_of([(0, 2)]), self.new_id())
        self.nothing_is_lost()

    @initialize(
        there=st.sets(hospitals, min_size=2), due=st.booleans(), steps=st.integers(0, 3), fate=st.sampled_from(Fate)
    )
    def round_is_under_way(self, there: set[str], due: bool, steps: int, fate: Fate) -> None:
        """Begin where it matters; the leader's last call meets its fate."""
        for name in sorted(there):
            self.world.visit(name)
        if due:
            self.all_clocks_go_on()
        for _ in range(steps):
            self.world.lead()
        with fated(self.world, [fate]):
            self.world.lead()

    # What nodes do.

    @rule()
    def everybody_steps(self) -> None:
        self.world.everybody()

    @rule(name=hospitals, fates=fates)
    def hospital_steps(self, name: str, fates: list[Fate]) -> None:
        with fated(self.world, fates):
            self.world.visit(name)

    @rule(steps=st.integers(1, 3), fates=fates, cut=st.none() | cuts)
    def leader_steps(self, steps: int, fates: list[Fate], cut: Cut | None) -> None:
        self.world.cut = cut
        with fated(self.world, fates):
            for _ in range(steps):
                self.world.lead()
        self.world.cut = None

    # What befalls them.

    @precondition(lambda self: self.world.late)
    @rule(data=st.data())
    def call_arrives_late(self, data: st.DataObject) -> None:
        self.world.deliver_late(data.draw(st.integers(0, len(self.world.late) - 1)))

    @rule(name=nodes)
    def node_restarts(self, name: str) -> None:
        self.world.kill(name)
        self.world.start(name)

    @rule(name=nodes)
    def node_stops(self, name: str) -> None:
        self.world.kill(name)

    @rule(name=nodes, commits=st.integers(0, 7))
    def node_dies_at_a_write(self, name: str, commits: int) -> None:
        self.world.fuses[name].left = commits

    @precondition(lambda self: len(self.world.nodes) < len(self.world.clock))
    @rule()
    def all_start(self) -> None:
        for name in self.world.clock:
            self.world.start(name)

    @rule()
    def all_clocks_go_on(self) -> None:
        for name in self.world.clock:
            self.world.clock[name] += 25 * HOUR

    @rule(name=nodes, hours=st.sampled_from([25, 1, -1, -25]))
    def clock_jumps(self, name: str, hours: int) -> None:
        self.world.clock[name] += hours * HOUR

    # What people do.

    @rule(name=hospitals, fates=fates)
    def round_is_closed(self, name: str, fates: list[Fate]) -> None:
        self.spoilt.add(self.latest())
        with fated(self.world, fates):
            self.world.close_round(name, self.latest())

    @rule(name=hospitals, fates=fates)
    def new_round_is_asked_for(self, name: str, fates: list[Fate]) -> None:
        with fated(self.world, fates):
            self.world.open_round(name, self.latest() + 1)

    @rule(name=hospitals, private=st.booleans(), rows=rows, cut=st.none() | cuts, patient=st.booleans())
    def question(self, name: str, private: bool, rows: list[tuple[int, int]], cut: Cut | None, patient: bool) -> None:
        if patient:
            self.wait_for_service()
        self.world.cut = cut
        if name in self.world.nodes:
            self.ask(name, self.latest(), private, codes_of(rows), self.new_id())
        self.world.cut = None

    @precondition(lambda self: self.asked)
    @rule(data=st.data(), cut=st.none() | cuts)
    def question_again(self, data: st.DataObject, cut: Cut | None) -> None:
        name, number, private, codes, id = data.draw(st.sampled_from(self.asked))
        self.world.cut = cut
        if name in self.world.nodes:
            self.ask(name, number, private, codes, id)
        self.world.cut = None

    # What must not work.

    @rule(name=hospitals)
    def different_contributions(self, name: str) -> None:
        """To each mixer another one."""
        if name in self.world.nodes:
            self.spoilt.add(self.latest())
            one, other = (self.world.made(name, self.latest()) for _ in range(2))
            self.contribute(name, "a", one.to_a)
            self.contribute(name, "b", other.to_b)

    @precondition(lambda self: self.asked)
    @rule(name=hospitals, data=st.data())
    def answer_of_another_hospital(self, name: str, data: st.DataObject) -> None:
        owner, number, private, codes, id = data.draw(st.sampled_from(self.asked))
        known = any(id in found.questions for m in MIXERS for found in self.world.on_disk(m).values())
        if owner != name and name in self.world.nodes and known:
            with pytest.raises((QuestionSpent, RoundOver, RoundFailed, Unreachable, PeerGone, OverBudget)):
                self.world.asked(name, number, codes, private=private, id=id)

    @invariant()
    def promises_hold(self) -> None:
        self.promises.check()
        self.nothing_is_lost()

    # How.

    def nothing_is_lost(self) -> None:
        """Lost, doubled and late messages, restarts and wrong clocks delay a round; they do not end it."""
        failed = {n for mixer in MIXERS for n, found in self.world.on_disk(mixer).items() if found.state == FAILED}
        assert failed <= self.spoilt

    def wait_for_service(self) -> None:
        """Somebody sees to it that all nodes are up and that there is a round."""
        for name in self.world.clock:
            self.world.start(name)
        self.world.everybody()
        self.world.open_round("west", self.latest() + 1)
        self.world.everybody()

    def latest(self) -> int:
        return max(max(self.world.on_disk(mixer)) for mixer in MIXERS)

    def new_id(self) -> bytes:
        return next(self.numbers).to_bytes(16, "little")

    def contribute(self, name: str, mixer: str, message: bytes) -> None:
        with suppress(MixbayesError):
            self.world.hospital(name).mixers.contribute(mixer, message)

    def ask(self, name: str, number: int, private: bool, codes: Values, id: bytes) -> Labels | None:
        """Labels are right and paid for, or there are none for a reason that can be."""
        self.asked.append((name, number, private, codes, id))
        try:
            labels = self.world.asked(name, number, codes, private=private, id=id)
        except (QuestionSpent, OverBudget, RoundOver, PeerGone, PeerSilent, Unreachable):
            return None
        counted = self.world.on_disk("a")[number].counted
        assert labels.tolist() == self.world.expected(counted, codes, number)
        self.promises.answered(id, name, number, labels)
        return labels


class WhateverHappensWithNoise(WhateverHappens):
    """The same, and the noise of a set of contributions is drawn as often as it may be, and charged once."""

    PRIVACY = NOISE


TestWhateverHappensWithNoise = WhateverHappensWithNoise.TestCase
TestWhateverHappensWithNoise.settings = settings(max_examples=50, stateful_step_count=20)
TestWhateverHappens = WhateverHappens.TestCase
TestWhateverHappens.settings = settings(max_examples=50, stateful_step_count=20)
