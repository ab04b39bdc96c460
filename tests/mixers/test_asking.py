"""Hospitals that ask in ways in which no honest program asks: nothing is told twice, for less, or to another."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from mixbayes.node import questions
from mixbayes.node.disk.sealing import Seal
from mixbayes.node.questions import Kind, Question, Verdict
from mixbayes.parties.asking import numbering
from mixbayes.parties.with_mixers import asking
from mixbayes.parties.with_mixers.asking import Asking
from mixbayes.parties.with_mixers.both_mixers import BothMixers
from mixbayes.protocol import memory
from mixbayes.protocol.bayes import public_rows as rows
from mixbayes.protocol.bayes.classification import ask_private, fetch
from mixbayes.protocol.bayes.label import Labels
from mixbayes.protocol.bayes.precision import precision_for
from mixbayes.protocol.bayes.question import TableReader
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import MixbayesError, OutOfRange, PeerError, PeerGone
from mixbayes.protocol.randomness import Randomness
from mixbayes.transport.errors import OverBudget, QuestionSpent, RoundOver
from tests.mixers.misfortune import Cut
from tests.mixers.promises import Promises
from tests.mixers.three_hospitals import BUDGET, HOSPITALS, MIXERS, agreement, new_folder
from tests.mixers.world import World, deal_base_transfers

CODES = np.array([[0, 1, 2, 3], [0, 1, 2, 2]], np.int32)
ALL = frozenset(HOSPITALS)
LAYOUT = agreement().layout
PRIVATE = Question(Kind.PRIVATE, 1, 4, b"private".ljust(16))
PUBLIC = replace(PRIVATE, kind=Kind.PUBLIC, id=b"public".ljust(16))
NUMBERED = numbering(Seal(bytes(32)))
Channels = tuple[Channel, Channel]


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    deal_base_transfers(monkeypatch)
    with new_folder() as folder:
        made = World(Path(folder))
        made.everybody()
        yield made
        made.bury()
        Promises(made).check()
        made.close()


def announce(found: Iterable[Channel], question: Question) -> None:
    """Rows that are shown follow at once."""
    for channel in found:
        questions.send(channel, question)
        if question.kind is Kind.PUBLIC:
            rows.send(channel, LAYOUT, CODES)


def verdicts(found: Channels) -> list[Verdict]:
    return [questions.receive_verdict(channel) for channel in found]


def answer(world: World, found: Channels, question: Question, verdict: Verdict = Verdict.GO) -> list[int]:
    """The labels of the first question of a conversation that is in the hands of the test."""
    width = precision_for(world.layout).width
    if question.private and verdict is Verdict.GO:
        reader = TableReader(found, Randomness.from_system())
        return ask_private(found, world.layout, width, CODES, reader, about=question.model).tolist()
    return fetch(found, world.layout, width, question.rows, private=question.private).tolist()


def spent(world: World) -> list[int]:
    return [world.on_disk(mixer)[1].spent.get("north", 0) for mixer in MIXERS]


@pytest.mark.parametrize("question", [PRIVATE, PUBLIC], ids=["private", "public"])
def test_same_question_in_a_second_conversation_is_spent_until_it_is_answered(world: World, question: Question) -> None:
    expected = world.expected(ALL, CODES)
    with world.conversation("north") as one, world.conversation("north") as two:
        announce(one, question)
        assert verdicts(one) == [Verdict.GO] * 2
        announce(two, question)
        assert verdicts(two) == [Verdict.SPENT] * 2
        assert answer(world, one, question) == expected
        announce(two, question)
        assert verdicts(two) == [Verdict.STORED] * 2
        assert answer(world, two, question, Verdict.STORED) == expected
    assert spent(world) == [4, 4]


def test_copies_of_rows_are_charged_once_under_one_id_and_change_no_label(world: World) -> None:
    mixers, many = world.hospital("north").mixers, np.repeat(CODES, 2, axis=1)
    for _ in range(2):
        asks = Asking(mixers, world.layout, NUMBERED, repeats=3)
        (labels,) = asks.labels(1, many, private=True, id=PRIVATE.id)
        asks.close()
        assert labels.tolist() == world.expected(ALL, many)
        assert spent(world) == [many.shape[1] + 3] * 2


def test_row_and_its_copy_with_different_labels_are_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row is asked about twice, and one answer is turned over."""

    def lied_to(*about: Any) -> Labels:
        labels = ask_private(*about)
        labels[0] ^= 1
        return labels

    monkeypatch.setattr(asking, "ask_private", lied_to)
    asks = Asking(world.hospital("north").mixers, world.layout, NUMBERED, repeats=CODES.shape[1])
    with pytest.raises(OutOfRange, match="a row that was asked about twice"):
        list(asks.labels(1, CODES, private=True, id=PRIVATE.id))
    asks.close()


def test_crossed_announcements_of_one_question_are_answered_once_at_most(world: World) -> None:
    """In one conversation mixer a hears of it first, in the other mixer b."""
    told = 0
    with world.conversation("north") as one, world.conversation("north") as two:
        announce((one[0], two[1], one[1], two[0]), PUBLIC)
        for found in (one, two):
            with suppress(MixbayesError):
                if verdicts(found) == [Verdict.GO] * 2:
                    assert answer(world, found, PUBLIC) == world.expected(ALL, CODES)
                    told += 1
    assert told <= 1
    assert all(rows <= 4 for rows in spent(world))


def test_budget_is_not_overdrawn_by_conversations_at_once(world: World) -> None:
    questions = [replace(PUBLIC, id=bytes([i]) * 16) for i in range(BUDGET // 4 + 2)]
    answers = 0
    with world.conversation("north") as one, world.conversation("north") as two, world.conversation("north") as three:
        for i, question in enumerate(questions):
            found = (one, two, three)[i % 3]
            with suppress(MixbayesError):
                announce(found, question)
                if verdicts(found) == [Verdict.GO] * 2:
                    answer(world, found, question)
                    answers += 1
    assert answers == BUDGET // 4
    assert spent(world) == [BUDGET, BUDGET]


def test_hospital_cannot_fetch_what_another_one_asked(world: World) -> None:
    world.asked("north", 1, CODES, private=True, id=PRIVATE.id)
    with world.conversation("south") as found:
        announce(found, PRIVATE)
        assert verdicts(found) == [Verdict.SPENT] * 2
    with pytest.raises(QuestionSpent):
        world.asked("south", 1, CODES, private=True, id=PRIVATE.id)
    assert all("south" not in world.on_disk(mixer)[1].spent for mixer in MIXERS)


def test_id_that_was_asked_with_more_rows_is_no_second_question(world: World) -> None:
    world.asked("north", 1, CODES[:, :1], private=False, id=PUBLIC.id)
    with pytest.raises(QuestionSpent):
        world.asked("north", 1, CODES, private=False, id=PUBLIC.id)
    with pytest.raises(QuestionSpent):
        world.asked("north", 1, CODES[:, :1], private=True, id=PUBLIC.id)
    assert spent(world) == [1, 1]


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(
    "other",
    [replace(PRIVATE, rows=1), replace(PRIVATE, kind=Kind.PUBLIC), replace(PRIVATE, round=2), PUBLIC],
    ids=["rows", "kind", "round", "id"],
)
def test_different_commands_to_both_mixers_cost_and_tell_nothing(world: World, other: Question, swapped: bool) -> None:
    with world.conversation("north") as found:
        for channel, told in zip(found, (other, PRIVATE) if swapped else (PRIVATE, other), strict=True):
            questions.send(channel, told)
        with pytest.raises(PeerError) as caught:
            verdicts(found)
    assert caught.value.peer in ("party north or mixer a", "party north or mixer b")
    assert spent(world) == [0, 0]


def test_different_rows_to_both_mixers_get_no_label_and_are_paid_for(world: World) -> None:
    with world.conversation("north") as found:
        for channel, shown in zip(found, (CODES, CODES[:, ::-1]), strict=True):
            questions.send(channel, PUBLIC)
            rows.send(channel, world.layout, shown)
        verdicts(found)
        for channel in found:
            with pytest.raises(PeerError, match=r"party north|mixer"):
                channel.receive("label", 1)
    assert spent(world) == [4, 4]


@pytest.mark.parametrize("target", ["north", "b"], ids=["its label", "the comparison"])
def test_answer_that_was_lost_is_fetched_or_spent_but_never_computed_again(
    world: World, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The link breaks after every possible number of messages of mixer a."""
    monkeypatch.setattr(asking, "_PAUSE", 0.0)
    seen = set[str]()
    for after in range(60):
        id = bytes([after]) * 16
        hospital = HOSPITALS[after % 3]
        if world.on_disk("a")[1].spent.get(hospital, 0) >= BUDGET:
            break
        world.cut = Cut("a", hospital if target == "north" else target, after)
        try:
            labels = world.asked(hospital, 1, CODES[:, :1], private=True, id=id)
            assert labels.tolist() == world.expected(ALL, CODES[:, :1])
            seen.add("answered")
        except QuestionSpent:
            seen.add("spent")
        finally:
            world.cut = None
        for mixer in MIXERS:
            asked = world.on_disk(mixer)[1].questions
            assert asked.get(id, (hospital, 1)) == (hospital, 1)
    assert "answered" in seen
    assert "spent" in seen


def test_round_that_is_closed_between_announcement_and_charge_answers_nothing(world: World) -> None:
    page = world.b.store.page("north")
    verdict = page.verdict(PUBLIC)
    assert verdict is Verdict.GO
    assert world.close_round("south", 1)
    with pytest.raises(RoundOver):
        page.charge(PUBLIC)
    with pytest.raises(RoundOver):
        world.asked("north", 1, CODES, private=False, id=PUBLIC.id)


def test_mixer_that_is_ahead_of_the_other_in_its_ledger_decides(world: World) -> None:
    """One mixer charged and was killed before the other did."""
    world.a.store.page("north").charge(replace(PUBLIC, rows=BUDGET))
    with pytest.raises(OverBudget):
        world.asked("north", 1, CODES, private=False, id=bytes(16))
    with pytest.raises(QuestionSpent):
        world.asked("north", 1, CODES[:, :1], private=False, id=PUBLIC.id)
    assert spent(world) == [BUDGET, 0]


SOON = 1.0
"""Seconds, where nothing is to come."""


class TwoMinds:
    """Mixers that say different verdicts on the question that they have both received."""

    def __init__(self, *says: Verdict) -> None:
        self._says = says
        self.followed: list[type[BaseException] | None] = []

    @contextmanager
    def conversation(self) -> Iterator[Channels]:
        ends = [memory.channels("party north", f"mixer {name}", SOON) for name in MIXERS]
        for (_, mixer), verdict in zip(ends, self._says, strict=True):
            questions.send_verdict(mixer, verdict)
        try:
            yield ends[0][0], ends[1][0]
        finally:
            for hospital, mixer in ends:
                hospital.close()
                assert questions.receive(mixer).id == PRIVATE.id
                with suppress(PeerGone):
                    mixer.receive("anything", 0)
                    self.followed.append(None)


@pytest.mark.parametrize("says", [*itertools.permutations((Verdict.GO, Verdict.STORED, Verdict.SPENT), 2)], ids=str)
def test_mixers_that_contradict_each_other_are_named_and_get_nothing_more(says: tuple[Verdict, Verdict]) -> None:
    """One would take what it hears for a fresh question, and the other's stored share would not fit to it."""
    mixers = TwoMinds(*says)
    asking = Asking(cast("BothMixers", mixers), LAYOUT, lambda *about: PRIVATE.id)
    with pytest.raises(OutOfRange, match="mixer a or mixer b, at verdict on the question: they contradict each other"):
        list(asking.labels(1, CODES, private=True, id=PRIVATE.id))
    assert mixers.followed == []
