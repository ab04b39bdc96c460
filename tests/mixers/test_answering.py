"""A mixer in a conversation: both compare and charge before anything, and keep what they release."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
import pytest

from mixbayes.mixers import answering
from mixbayes.mixers.answering import converse
from mixbayes.mixers.joint_test import JointTest
from mixbayes.mixers.personal import Personal
from mixbayes.node import questions
from mixbayes.node.questions import NEXT, Kind, Question, Verdict
from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Bytes
from mixbayes.protocol.bayes import label, public_rows
from mixbayes.protocol.bayes.classification import ask_private, fetch
from mixbayes.protocol.bayes.label import Labels
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.question import TableReader
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model
from mixbayes.protocol.bayes.training import run_training
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import DifferentSets, MixbayesError, OutOfRange, PeerError, PeerGone, PeerSilent
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer import pool
from mixbayes.protocol.transfer.base import COUNT, BaseReceived, BaseSent
from mixbayes.transport.errors import OverBudget, QuestionSpent, RefusedByPolicy, RoundOver
from tests.mixers.world import already_sent
from tests.protocol.pairs import Ends, layout_of, random_codes, random_counts, seed

LAYOUT = layout_of(2, [3, 2], max_rows=64)
COUNTS = random_counts(LAYOUT, np.random.default_rng(7), 40, empty=0.0)
MODELS = run_training(LAYOUT, [COUNTS], (seed(1), seed(2), seed(3)))
CODES = random_codes(LAYOUT, np.random.default_rng(8), 5)
EXPECTED = fixed_labels(LAYOUT, fixed_model(LAYOUT, COUNTS), CODES).tolist()
WIDTH = MODELS[0].width
RUN = b"r" * 16
PRIVATE = Question(Kind.PRIVATE, 1, 5, b"private".ljust(16))
PUBLIC = Question(Kind.PUBLIC, 1, 5, b"public".ljust(16))
A, B = 0, 1
TOTALS = 9
NOTHING = cast("Personal", None)
"""Nobody here asks for a recipe."""
NO_TEST = cast("JointTest", None)


class Full(MixbayesError):
    """A disk that takes no more."""


class Book:
    """A ledger in memory that says what it is told to say, and notes what happens in which order."""

    def __init__(self, role: int, events: list[tuple[int, str, bytes]]) -> None:
        self.role, self.events = role, events
        self.says: Callable[[Question], Verdict] = self._honest
        self.run = RUN
        self.full_at = ""
        self.answers: dict[bytes, list[bytes]] = {}
        self.charged: list[Question] = []
        self.written = 0
        self.given: list[tuple[bytes, int]] = []

    def verdict(self, question: Question) -> Verdict:
        return self.says(question)

    def charge(self, question: Question) -> None:
        self._note("charge", question)
        self.charged.append(question)

    def keep(self, question: Question, piece: int, share: Bytes) -> None:
        self._note("keep", question)
        assert piece == len(self.answers.setdefault(question.id, []))
        self.answers[question.id].append(share.tobytes())

    def release(self, question: Question, piece: int) -> None:
        self._note("release", question)
        assert piece < len(self.answers[question.id])

    def begin(self, question: Question) -> None:
        raise AssertionError("a mixer keeps its shares")

    def freeze(self, question: Question) -> int:
        self._note("freeze", question)
        return self.written

    def give_back(self, question: Question, known: int) -> None:
        self._note("give back", question)
        self.given.append((question.id, known))

    def kept(self, question: Question) -> list[bytes]:
        return self.answers[question.id]

    def trained(self, number: int) -> tuple[bytes, Model]:
        return self.run, MODELS[self.role]

    def _honest(self, question: Question) -> Verdict:
        return Verdict.STORED if question.id in self.answers else Verdict.GO

    def _note(self, what: str, question: Question) -> None:
        if self.full_at == what:
            raise Full("The disk is full.")
        self.events.append((self.role, what, question.id))


class Lines(NamedTuple):
    """A hospital's channels to both mixers, and what it has of their tables."""

    to_a: Channel
    to_b: Channel
    reader: TableReader

    @property
    def channels(self) -> tuple[Channel, Channel]:
        return self.to_a, self.to_b


class Stage:
    """One conversation: an asker that follows a script, and both mixers. Errors by role stay for the test to see."""

    def __init__(self) -> None:
        self.events: list[tuple[int, str, bytes]] = []
        self.books = Book(A, self.events), Book(B, self.events)
        self.errors: dict[str, MixbayesError] = {}
        self.between_mixers: list[Ends] = []

    def play(self, script: Callable[[Lines], Any]) -> Any:
        mixers = self.between_mixers = [Ends("mixer a", "mixer b") for _ in range(2)]
        at_a, at_b = (Ends("party north", name) for name in ("mixer a", "mixer b"))
        draws = [Randomness.from_system() for _ in range(3)]

        def hospital() -> Any:
            to_a, to_b = at_a.first, at_b.first
            result = script(Lines(to_a, to_b, TableReader((to_a, to_b), draws[2])))
            for channel in (to_a, to_b):
                questions.send(channel, Question(Kind.END))
            return result

        def mixer(role: int, other: list[Channel], asker: Channel) -> None:
            converse(role, other, asker, LAYOUT, self.books[role], NOTHING, NO_TEST, draws[role])

        roles = {
            "party north": (hospital, [at_a, at_b]),
            "mixer a": (lambda: mixer(A, [ends.first for ends in mixers], at_a.second), [*mixers, at_a]),
            "mixer b": (lambda: mixer(B, [ends.second for ends in mixers], at_b.second), [*mixers, at_b]),
        }
        result, *_ = memory.together(*(self._guarded(name, *role) for name, role in roles.items()))
        return result

    def _guarded(self, name: str, role: Callable[[], Any], ends: list[Ends]) -> Callable[[], Any]:
        def run() -> Any:
            try:
                return role()
            except MixbayesError as error:
                self.errors[name] = error
                return None
            finally:
                for one in ends if name in self.errors else []:
                    one.cut()

        return run

    @property
    def charges(self) -> list[list[Question]]:
        return [book.charged for book in self.books]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Randomness(bytes(32))
    keys, choices = random.words(2, COUNT, 2), random.bits(COUNT)
    monkeypatch.setattr(pool, "send_base", partial(already_sent, BaseSent(keys)))
    chosen = keys[choices, np.arange(COUNT)]
    monkeypatch.setattr(pool, "receive_base", lambda channel, random: BaseReceived(choices, chosen))


def tell(lines: Lines, *told: Question) -> list[Verdict]:
    """Announce a question to both mixers, or to each another one. Rows that are shown follow at once."""
    for channel, what in zip(lines.channels, itertools.cycle(told), strict=False):
        questions.send(channel, what)
        if what.kind is Kind.PUBLIC:
            public_rows.send(channel, LAYOUT, CODES[:, : what.rows])
    return [questions.receive_verdict(channel) for channel in lines.channels]


def ask(lines: Lines, question: Question) -> Labels:
    verdicts = tell(lines, question)
    assert verdicts[0] is verdicts[1]
    assert verdicts[0] in (Verdict.GO, Verdict.STORED)
    if question.private and verdicts[0] is Verdict.GO:
        return ask_private(lines.channels, LAYOUT, WIDTH, CODES, lines.reader, about=question.model)
    return fetch(lines.channels, LAYOUT, WIDTH, question.rows, private=question.private)


@pytest.mark.parametrize("question", [PRIVATE, PUBLIC], ids=["private", "public"])
def test_both_charge_and_keep_before_the_labels_come(question: Question) -> None:
    stage = Stage()
    labels = stage.play(lambda lines: ask(lines, question))
    assert labels.tolist() == EXPECTED
    assert stage.errors == {}
    what = [name for _, name, _ in stage.events]
    assert what == ["charge", "charge", "keep", "keep", "release", "release"]


def test_questions_follow_each_other_in_one_conversation() -> None:
    stage = Stage()

    def script(lines: Lines) -> list[list[int]]:
        found = [ask(lines, replace(PRIVATE, id=bytes([i]) * 16)).tolist() for i in range(3)]
        for channel in lines.channels:
            questions.send(channel, Question(Kind.TOP_UP))
        return [*found, ask(lines, PUBLIC).tolist(), ask(lines, PRIVATE).tolist()]

    assert stage.play(script) == [EXPECTED] * 5
    assert [len(charges) for charges in stage.charges] == [5, 5]


@pytest.mark.parametrize("question", [PRIVATE, PUBLIC], ids=["private", "public"])
def test_stored_answer_is_given_again_for_nothing(question: Question) -> None:
    stage = Stage()
    first, again = stage.play(lambda lines: [ask(lines, question).tolist() for _ in range(2)])
    assert first == again == EXPECTED
    assert stage.charges == [[question]] * 2


def test_stored_answer_is_given_in_a_later_conversation_too() -> None:
    stage = Stage()
    stage.play(lambda lines: ask(lines, PRIVATE))
    assert stage.play(lambda lines: ask(lines, PRIVATE)).tolist() == EXPECTED
    assert stage.charges == [[PRIVATE]] * 2


def totals(lines: Lines, question: Question) -> None:
    assert tell(lines, question) == [Verdict.GO] * 2
    for channel in lines.channels:
        channel.receive("totals of the evaluation", 8 * TOTALS)


@pytest.mark.parametrize(("kind", "asked"), [(Kind.PUBLIC, ask), (Kind.EVALUATION, totals)], ids=["labels", "totals"])
def test_every_question_of_every_conversation_has_a_pad_of_its_own(
    kind: Kind, asked: Callable[[Lines, Question], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of shares without any randomness, what leaves is the pad."""
    monkeypatch.setattr(label, "decided", lambda me, scores, model: np.full(scores.shape[1], me.role, np.uint64))
    nothing = np.zeros(TOTALS, np.uint64)
    monkeypatch.setattr(answering, "_evaluate", lambda desk, question: answering._open(desk, question, nothing))
    ids = [bytes([at]) * 16 for at in range(8)]

    def pads() -> list[bytes]:
        stage = Stage()
        stage.play(lambda lines: [asked(lines, Question(kind, 1, 5, id)) for id in ids])
        assert stage.errors == {}
        return [stage.books[A].answers[id][0] for id in ids]

    first = pads()
    assert len(set(first)) > 1
    assert pads() != first


SETTLED = {
    (Verdict.GO, Verdict.GO): Verdict.GO,
    (Verdict.STORED, Verdict.STORED): Verdict.STORED,
    (Verdict.GO, Verdict.STORED): Verdict.SPENT,
}
REFUSED = {
    Verdict.OVER_BUDGET: OverBudget,
    Verdict.NOT_SERVING: RoundOver,
    Verdict.NOT_AGREED: RefusedByPolicy,
    Verdict.NOT_COUNTED: RefusedByPolicy,
}


@pytest.mark.parametrize("pair", list(itertools.combinations_with_replacement(Verdict, 2)), ids=str)
@pytest.mark.parametrize("swapped", [False, True])
def test_of_two_verdicts_the_stricter_one_holds_and_only_go_is_charged(
    pair: tuple[Verdict, Verdict], swapped: bool
) -> None:
    stage = Stage()
    for book, verdict in zip(stage.books, reversed(pair) if swapped else pair, strict=True):
        book.says = lambda question, verdict=verdict: verdict
        book.answers[PRIVATE.id] = [b"x" * 4]
    expected = SETTLED.get(pair, max(pair))
    got: list[Verdict] = []

    def script(lines: Lines) -> None:
        got.extend(tell(lines, PRIVATE))
        raise PeerGone("party north", "asking", "it leaves")

    stage.play(script)
    if kind := REFUSED.get(expected):
        assert isinstance(stage.errors["mixer a"], kind)
        assert isinstance(stage.errors["mixer b"], kind)
        assert got == []
    else:
        assert got == [expected] * 2
    assert stage.charges == ([[PRIVATE]] * 2 if expected is Verdict.GO else [[], []])
    assert not any(what == "keep" for _, what, _ in stage.events)


@pytest.mark.parametrize(
    "other",
    [
        replace(PRIVATE, kind=Kind.PUBLIC),
        replace(PRIVATE, round=2),
        replace(PRIVATE, rows=4),
        replace(PRIVATE, id=PUBLIC.id),
    ],
    ids=["kind", "round", "rows", "id"],
)
@pytest.mark.parametrize("swapped", [False, True])
def test_hospital_that_tells_the_mixers_different_things_is_named_and_gets_nothing(
    other: Question, swapped: bool
) -> None:
    stage = Stage()
    told = (other, PRIVATE) if swapped else (PRIVATE, other)
    stage.play(lambda lines: tell(lines, *told))
    assert stage.charges == [[], []]
    blunt = [stage.errors[name] for name in ("mixer a", "mixer b") if not isinstance(stage.errors[name], PeerGone)]
    assert blunt
    for error in blunt:
        assert isinstance(error, OutOfRange)
        assert error.peer in ("party north or mixer a", "party north or mixer b")
        assert "different questions" in error.why


@pytest.mark.parametrize("told", [(Question(Kind.END), PRIVATE), (PRIVATE, Question(Kind.END))])
def test_question_to_one_mixer_alone_costs_and_tells_nothing(told: tuple[Question, Question]) -> None:
    stage = Stage()

    def script(lines: Lines) -> None:
        asked = lines.channels[told.index(PRIVATE)]
        for channel, what in zip(lines.channels, told, strict=True):
            questions.send(channel, what)
        lines.channels[told.index(Question(Kind.END))].close()
        questions.receive_verdict(asked)

    _ends_when_one_leaves(stage, script)
    assert stage.charges == [[], []]


ALONE = Question(Kind.TOP_UP), None
"""Nothing, or something else than the question."""


@pytest.mark.parametrize("told", [(PRIVATE, other) for other in ALONE] + [(other, PRIVATE) for other in ALONE])
def test_mixer_that_waits_for_one_that_was_not_asked_names_the_hospital(
    told: tuple[Question | None, Question | None],
) -> None:
    stage = Stage()
    at = told.index(PRIVATE)

    def script(lines: Lines) -> None:
        ask(lines, PUBLIC)
        for wire in itertools.chain(*(ends.wires for ends in stage.between_mixers)):
            wire._deadline = 0.2
        for channel, what in zip(lines.channels, told, strict=True):
            if what:
                questions.send(channel, what)
        questions.receive_verdict(lines.channels[at])

    stage.play(script)
    mixers = {"mixer a": "mixer b", "mixer b": "mixer a"}
    first = [(name, error) for name, error in stage.errors.items() if name in mixers and type(error) is PeerSilent]
    assert first
    for name, error in first:  # the other one finds that this one hangs up
        other = mixers[name]
        assert error.peer == f"party north or {other}"
        assert f"from {other}: party north told one mixer alone" in error.why
    assert stage.charges == [[PUBLIC]] * 2


def _ends_when_one_leaves(stage: Stage, script: Callable[[Lines], Any]) -> None:
    """A mixer whose conversation is over hangs up, as its node does."""
    guarded = stage._guarded

    def hanging_up(name: str, role: Callable[[], Any], ends: list[Ends]) -> Callable[[], Any]:
        inner = guarded(name, role, ends)

        def run() -> Any:
            try:
                return inner()
            finally:
                for one in ends:
                    one.cut()

        return run

    stage._guarded = hanging_up  # type: ignore[method-assign]
    stage.play(script)


BROKEN = Question(Kind.BROKEN, 1, id=PRIVATE.id)


def give_up(lines: Lines, *told: Question) -> list[int]:
    for channel, what in zip(lines.channels, itertools.cycle(told), strict=False):
        questions.send(channel, what)
    return [questions.receive_given(channel) for channel in lines.channels]


def test_broken_question_is_frozen_at_both_before_either_gives_it_back_by_the_smaller_count() -> None:
    stage = Stage()
    stage.books[A].written, stage.books[B].written = 3, 1

    def script(lines: Lines) -> tuple[list[int], Labels]:
        return give_up(lines, BROKEN), ask(lines, PUBLIC)

    given, labels = stage.play(script)
    assert given == [1, 1]
    assert labels.tolist() == EXPECTED
    assert [book.given for book in stage.books] == [[(PRIVATE.id, 1)]] * 2
    assert [what for _, what, _ in stage.events[:4]] == ["freeze", "freeze", "give back", "give back"]


@pytest.mark.parametrize("other", [replace(BROKEN, id=PUBLIC.id), PRIVATE], ids=["another one", "a question"])
def test_question_that_is_given_up_at_one_mixer_alone_is_given_back_at_none(other: Question) -> None:
    stage = Stage()
    stage.play(lambda lines: give_up(lines, BROKEN, other))
    assert [book.given for book in stage.books] == [[], []]
    assert stage.charges == [[], []]
    blunt = [error for error in stage.errors.values() if isinstance(error, OutOfRange)]
    assert blunt
    assert {error.peer for error in blunt} <= {"party north or mixer a", "party north or mixer b"}


@pytest.mark.parametrize("role", [A, B])
def test_nothing_is_given_back_unless_both_have_frozen_it(role: int) -> None:
    stage = Stage()
    stage.books[role].full_at = "freeze"
    stage.play(lambda lines: give_up(lines, BROKEN))
    assert [book.given for book in stage.books] == [[], []]


def test_models_of_different_trainings_answer_nothing() -> None:
    stage = Stage()
    stage.books[B].run = b"s" * 16
    stage.play(lambda lines: tell(lines, PRIVATE))
    assert stage.charges == [[], []]
    blunt = [error for error in stage.errors.values() if not isinstance(error, PeerGone)]
    assert {type(error) for error in blunt} == {DifferentSets}
    assert "another training" in str(blunt[0])


@pytest.mark.parametrize("role", [A, B])
@pytest.mark.parametrize("question", [PRIVATE, PUBLIC], ids=["private", "public"])
def test_nothing_is_answered_unless_both_have_charged(role: int, question: Question) -> None:
    """The one that has charged does not wait to hear it of the other, but it takes no message of it before."""
    stage = Stage()
    stage.books[role].full_at = "charge"
    assert stage.play(lambda lines: ask(lines, question)) is None
    assert isinstance(stage.errors["party north"], PeerGone)
    assert stage.charges[role] == []
    assert [what for _, what, _ in stage.events] in ([], ["charge"])


@pytest.mark.parametrize("role", [A, B])
@pytest.mark.parametrize("question", [PRIVATE, PUBLIC], ids=["private", "public"])
def test_share_that_cannot_be_kept_does_not_leave(role: int, question: Question) -> None:
    """Neither does that of the other mixer, which has kept its own."""
    stage = Stage()
    stage.books[role].full_at = "keep"
    assert stage.play(lambda lines: ask(lines, question)) is None
    assert isinstance(stage.errors["party north"], PeerGone)
    assert stage.charges == [[question]] * 2
    assert stage.books[role].answers == {}
    assert all(what != "release" for _, what, _ in stage.events)


@pytest.mark.parametrize("role", [A, B])
def test_share_leaves_once_it_is_written_down_that_it_does(role: int) -> None:
    stage = Stage()
    stage.books[role].full_at = "release"
    assert stage.play(lambda lines: ask(lines, PUBLIC)) is None
    assert isinstance(stage.errors["party north"], PeerGone)
    assert [len(book.answers[PUBLIC.id]) for book in stage.books] == [1, 1]


@pytest.mark.parametrize("role", [A, B])
@pytest.mark.parametrize("question", [PRIVATE, PUBLIC], ids=["private", "public"])
def test_stored_share_leaves_once_it_is_written_down_that_it_does(role: int, question: Question) -> None:
    """What was kept and never released is charged when it is sent again."""
    stage = Stage()
    stage.books[role].full_at = "release"
    assert stage.play(lambda lines: ask(lines, question)) is None
    stage.books[role].full_at = ""
    stage.events.clear()
    assert stage.play(lambda lines: ask(lines, question)).tolist() == EXPECTED
    assert sorted(stage.events) == [(A, "release", question.id), (B, "release", question.id)]
    stage.books[role].full_at = "release"
    assert stage.play(lambda lines: ask(lines, question)) is None
    assert isinstance(stage.errors[f"mixer {'ab'[role]}"], Full)


def test_command_that_is_none_ends_the_conversation_for_the_hospital_alone() -> None:
    stage = Stage()

    def script(lines: Lines) -> None:
        for channel in lines.channels:
            channel.send(NEXT, bytes([9, *bytes(27)]))
        questions.receive_verdict(lines.to_a)

    stage.play(script)
    for name in ("mixer a", "mixer b"):
        error = stage.errors[name]
        assert isinstance(error, PeerError)
        assert isinstance(error, OutOfRange | PeerGone)
    assert stage.charges == [[], []]


def test_spent_question_leaves_the_conversation_open() -> None:
    stage = Stage()
    for book in stage.books:
        book.says = lambda question: Verdict.SPENT if question.id == PRIVATE.id else Verdict.GO

    def script(lines: Lines) -> Labels:
        assert tell(lines, PRIVATE) == [Verdict.SPENT] * 2
        return ask(lines, PUBLIC)

    assert stage.play(script).tolist() == EXPECTED
    assert stage.charges == [[PUBLIC]] * 2


def test_question_that_another_conversation_charged_meanwhile_breaks_off() -> None:
    stage = Stage()

    def taken(question: Question) -> None:
        raise QuestionSpent("The same question was asked in two conversations at once.")

    stage.books[A].charge = taken  # type: ignore[method-assign]
    assert stage.play(lambda lines: ask(lines, PRIVATE)) is None
    assert isinstance(stage.errors["mixer a"], QuestionSpent)
    assert all(what != "keep" for _, what, _ in stage.events)
