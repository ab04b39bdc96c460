"""Questions that break off: charged is what may be known, and at most one open question more, whatever fails.

Each mixer by itself charges what it has sent, so the budget also holds against a hospital and the other mixer together.

Real mixers with real ledgers on disk answer in memory. Every row is a piece of its own, so that a question can break
off in the middle of its answer. A row counts as answered once both mixers have written down their shares of it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mixbayes.node import questions
from mixbayes.node.disk.sqlite import looking
from mixbayes.node.questions import ID_BYTES, Kind, Question, Verdict
from mixbayes.parties.with_mixers import asking
from mixbayes.parties.with_mixers.asking import Asking
from mixbayes.protocol.arrays import Values
from mixbayes.protocol.bayes import public_rows
from mixbayes.protocol.bayes.label import Labels, joined
from mixbayes.protocol.errors import MixbayesError
from mixbayes.protocol.packing import words_bytes
from tests.mixers.misfortune import Cut, Killed
from tests.mixers.three_hospitals import BUDGET, HOSPITALS, MIXERS, new_folder
from tests.mixers.world import World, as_it_is, deal_base_transfers

ALL = frozenset(HOSPITALS)
ID = b"an application".ljust(ID_BYTES)
ROWS = 3
CODES = np.array([[0, 1, 2], [0, 1, 2]], np.int32)
ENDS = ("north", *MIXERS)


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


@contextmanager
def a_copy(served: Path) -> Iterator[World]:
    with new_folder() as folder:
        shutil.copytree(served, folder, dirs_exist_ok=True)
        world = World(Path(folder))
        try:
            yield world
        finally:
            world.bury()
            world.close()


@dataclass
class Books:
    """Both mixers' ledgers of north, as they lie on disk."""

    spent: list[int]
    written: list[dict[bytes, int]] = field(default_factory=list)
    """By mixer and question, the rows that were written down."""

    @property
    def answered(self) -> int:
        """The rows of which both mixers have written down a share."""
        at_a, at_b = self.written
        return sum(min(rows, at_b.get(id, 0)) for id, rows in at_a.items())


def books(world: World) -> Books:
    found = Books([world.on_disk(mixer)[1].spent.get("north", 0) for mixer in MIXERS])
    for mixer in MIXERS:
        with ExitStack() as stack:
            node = world.nodes.get(mixer)
            tables = stack.enter_context(node.database.read() if node else looking(world.folder / mixer))
            found.written.append(dict(tables.execute("SELECT id, written FROM question").fetchall()))
    return found


# An honest hospital


@dataclass(frozen=True)
class Killing:
    """A node dies at one side of one of its commits."""

    node: str
    sides: int


@dataclass(frozen=True)
class Full:
    """A disk is full at some of the commits to come."""

    node: str
    first: int
    commits: int


Fault = Cut | Killing | Full | None
cuts = st.tuples(st.permutations(ENDS), st.integers(0, 14)).map(lambda drawn: Cut(drawn[0][0], drawn[0][1], drawn[1]))
faults = (
    cuts
    | st.builds(Killing, st.sampled_from(ENDS), st.integers(0, 12))
    | st.builds(Full, st.sampled_from(ENDS), st.integers(0, 6), st.integers(1, 4))
)


class Applications:
    """What north asks, in a process that goes on or begins again."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.asking: Asking | None = None

    def ask(self, id: bytes, codes: Values, fault: Fault = None) -> Labels | None:
        """The labels; nothing if something failed. Then all nodes begin again that have stopped."""
        self._meet(fault)
        try:
            return joined(list(self._at_work().labels(1, codes, private=False, id=id, renew=True)))
        except MixbayesError:
            return None
        except Killed:
            self.stop()
            self.world.kill("north")
            return None
        finally:
            self._mend()

    def stop(self) -> None:
        """The process ends."""
        if self.asking and self.asking._lines:
            self.asking._break_off()
        self.asking = None

    def _at_work(self) -> Asking:
        node = self.world.hospital("north")
        self.asking = self.asking or Asking(node.mixers, self.world.layout, as_it_is, node.outbox.open_question())
        return self.asking

    def _meet(self, fault: Fault) -> None:
        if isinstance(fault, Cut):
            self.stop()  # a link is cut when it is made
            self.world.cut = fault
        elif isinstance(fault, Killing):
            self.world.fuses[fault.node].left = fault.sides
        elif isinstance(fault, Full):
            self.world.fuses[fault.node].fill(range(fault.first, fault.first + fault.commits))

    def _mend(self) -> None:
        self.world.cut = None
        self.world.bury()
        for name, fuse in self.world.fuses.items():
            fuse.left = None
            fuse.fill(range(0))
            self.world.start(name)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(faults, st.booleans(), st.booleans()), max_size=4),
    st.integers(1, ROWS),
)
@example([(Full("b", 0, 1), False, False)] * 3, ROWS)
@example([(Full("b", 1, 1), False, False)] * 3, ROWS)
@example([(Full("a", 1, 1), True, False), (Full("b", 2, 1), True, False)], ROWS)
@example([(Killing("a", 1), True, False), (Killing("b", 1), True, False)], ROWS)
@example([(Cut("a", "north", 3), True, True), (Cut("b", "north", 2), True, True)], ROWS)
def test_charged_is_what_was_answered_and_at_most_one_open_question(
    served: Path, attempts: list[tuple[Fault, bool, bool]], rows: int
) -> None:
    """Each attempt meets a fault; the process may begin again, and the application may have another question."""
    with a_copy(served) as world:
        north = Applications(world)
        for number, (fault, again, another) in enumerate(attempts):
            id = bytes([number]) * ID_BYTES if another else ID
            north.ask(id, CODES[:, :rows], fault)
            now = books(world)
            assert all(spent <= now.answered + rows for spent in now.spent), "more than one open question is charged"
            assert all(now.answered <= spent for spent in now.spent), "labels that nobody paid for"
            if again:
                north.stop()
        if BUDGET - max(books(world).spent) < rows:
            return
        labels = north.ask(ID, CODES[:, :rows])
        assert labels is not None
        assert labels.tolist() == world.expected(ALL, CODES[:, :rows])
        north.stop()
        now = books(world)
        assert now.spent == [now.answered] * 2, "something is charged that nobody can know"


# A hospital that lies


SOME_IDS = [bytes([number]) * ID_BYTES for number in range(3)]


class Talk:
    """One conversation in the hands of a liar."""

    def __init__(self, world: World) -> None:
        self._held = ExitStack()
        self.mixers = self._held.enter_context(world.conversation("north"))
        self.question: Question | None = None
        self.shown = 0
        self.read = [0, 0]

    @property
    def idle(self) -> bool:
        """Both mixers wait for an announcement."""
        return self.question is None or self.read == [self.question.rows] * 2

    def close(self) -> None:
        self._held.close()


class Liar:
    """North asks in two conversations at once, breaks off when it likes, and keeps every share that it is sent."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.talks: list[Talk | None] = [None, None]
        self.shares: dict[bytes, tuple[set[int], set[int]]] = {id: (set(), set()) for id in SOME_IDS}

    def sent_by(self, mixer: int) -> int:
        """The rows whose labels it can put together, if the other mixer helps it."""
        return sum(len(shares[mixer]) for shares in self.shares.values())

    def act(self, what: str, at: int, id: bytes, mixer: int) -> None:
        """Do one thing, if the conversation is where it can be done."""
        try:
            talk = self.talks[at] = self.talks[at] or Talk(self.world)
            getattr(self, what)(talk, id, mixer)
        except MixbayesError:
            self.leaves(at)
        if self.world._dying:
            self.ends()

    def leaves(self, at: int) -> None:
        talk, self.talks[at] = self.talks[at], None
        if talk:
            talk.close()

    def ends(self) -> None:
        """Both conversations, and whatever has stopped begins again."""
        for at in range(len(self.talks)):
            self.leaves(at)
        self.world.bury()
        for mixer in MIXERS:
            self.world.start(mixer)

    def asks(self, talk: Talk, id: bytes, mixer: int) -> None:
        if not talk.idle:
            return
        talk.question = None
        question = Question(Kind.PUBLIC, 1, ROWS, id)
        for channel in talk.mixers:
            questions.send(channel, question)
        verdicts = {questions.receive_verdict(channel) for channel in talk.mixers}
        if verdicts <= {Verdict.GO, Verdict.STORED}:
            talk.question, talk.read, talk.shown = question, [0, 0], 0 if verdicts == {Verdict.GO} else ROWS

    def shows(self, talk: Talk, id: bytes, mixer: int) -> None:
        """One more row to both."""
        if talk.question and talk.shown < ROWS:
            for channel in talk.mixers:
                public_rows.send(channel, self.world.layout, CODES[:, talk.shown : talk.shown + 1])
            talk.shown += 1

    def reads(self, talk: Talk, id: bytes, mixer: int) -> None:
        """One more share of one of them."""
        if talk.question and talk.read[mixer] < talk.shown:
            talk.mixers[mixer].receive("label", words_bytes(1, self.world.layout.classes))
            self.shares[talk.question.id][mixer].add(talk.read[mixer])
            talk.read[mixer] += 1

    def reads_all(self, talk: Talk, id: bytes, mixer: int) -> None:
        for _ in range(ROWS):
            self.reads(talk, id, mixer)
            self.reads(talk, id, 1 - mixer)

    def gives_up(self, talk: Talk, id: bytes, mixer: int) -> None:
        """Some question, perhaps one that is being answered in the other conversation."""
        if talk.idle:
            for channel in talk.mixers:
                questions.send(channel, Question(Kind.BROKEN, 1, id=id))
            for channel in talk.mixers:
                questions.receive_given(channel)

    def gives_up_at_one(self, talk: Talk, id: bytes, mixer: int) -> None:
        if talk.idle:
            questions.send(talk.mixers[mixer], Question(Kind.BROKEN, 1, id=id))
            questions.send(talk.mixers[1 - mixer], Question(Kind.PUBLIC, 1, ROWS, id))
            questions.receive_given(talk.mixers[mixer])

    def breaks_off(self, talk: Talk, id: bytes, mixer: int) -> None:
        self.leaves(self.talks.index(talk))


ACTS = ["asks", "shows", "shows", "reads", "reads_all", "gives_up", "gives_up", "gives_up_at_one", "breaks_off"]
acts = st.tuples(st.sampled_from(ACTS), st.integers(0, 1), st.sampled_from(SOME_IDS[:2]), st.integers(0, 1))
Q = SOME_IDS[0]
FROZEN_AT_ONE = [("asks", 0, Q, 0), ("gives_up_at_one", 1, Q, 0)]
IN_ANOTHER_CONVERSATION = [("asks", 0, Q, 0), ("shows", 0, Q, 0), ("reads_all", 0, Q, 0), ("gives_up", 1, Q, 0)]


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(acts, min_size=4, max_size=14), st.none() | faults)
@example([*IN_ANOTHER_CONVERSATION, ("shows", 0, Q, 0), ("reads_all", 0, Q, 0)], None)
@example([*IN_ANOTHER_CONVERSATION[:2], ("reads", 0, Q, 0), ("gives_up", 1, Q, 0), ("reads", 0, Q, 1)], None)
@example([*IN_ANOTHER_CONVERSATION, ("breaks_off", 0, Q, 0), ("asks", 1, Q, 0), ("reads_all", 1, Q, 0)], None)
@example([*FROZEN_AT_ONE, ("shows", 0, Q, 0), ("reads", 0, Q, 1), ("gives_up", 1, Q, 0)], None)
def test_whoever_lies_learns_no_label_that_is_not_charged(
    served: Path, acts: list[tuple[str, int, bytes, int]], fault: Fault
) -> None:
    with a_copy(served) as world:
        liar = Liar(world)
        if isinstance(fault, Killing | Full) and fault.node in MIXERS:
            Applications(world)._meet(fault)
        for act in acts:
            liar.act(*act)
            for mixer, spent in enumerate(books(world).spent):
                assert liar.sent_by(mixer) <= spent, "labels that nobody paid for"
        liar.ends()
