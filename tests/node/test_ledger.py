"""The ledger of questions: an id is good once, a budget is a budget, and an answer is its asker's alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.node import ledger
from mixbayes.node.disk import audit
from mixbayes.node.disk.database import Database
from mixbayes.node.disk.datastore import COMPUTING_PARTY
from mixbayes.node.disk.schema import Schema
from mixbayes.node.disk.sealing import Seal
from mixbayes.node.ledger import ANSWERS_KEPT, Page
from mixbayes.node.questions import Kind, Question, Verdict
from mixbayes.node.rounds.rounds import Rounds
from mixbayes.protocol.errors import MixbayesError
from mixbayes.transport.errors import BadState, OverBudget, QuestionSpent, RoundOver
from tests.mixers.three_hospitals import BUDGET, Clock, new_folder, rounds_in

RUN = b"r" * 16
SHARE = np.arange(9, dtype=np.uint8)
ASKED = Question(Kind.PRIVATE, 1, 2, b"q".ljust(16))
PIECES = 2


def serving(rounds: Rounds) -> None:
    number = rounds.current().number
    chosen = {name: f"{name} {number}".encode().ljust(16) for name in ("north", "south")}
    for name, id in chosen.items():
        rounds.hold(number, name, id, id)
    rounds.seal(number, chosen)
    rounds.keep_model(number, RUN, b"model", [])
    rounds.serve(number, RUN)


def parts(rows: int, pieces: int) -> list[int]:
    """The last piece has all rows that the others have not."""
    return [1] * (pieces - 1) + [rows - pieces + 1]


def page_of(rounds: Rounds, hospital: str = "north", pieces: int = PIECES) -> Page[bytes]:
    return Page(rounds, hospital, lambda question: parts(question.rows, pieces), rounds.model)


def answered(page: Page[bytes], question: Question = ASKED, pieces: int = PIECES) -> None:
    page.charge(question)
    for piece in range(pieces):
        page.keep(question, piece, SHARE + np.uint8(piece))


def left(rounds: Rounds, hospital: str = "north") -> int:
    return rounds.budget_of(rounds.current().number, hospital)[1]


@pytest.fixture
def rounds(tmp_path: Path) -> Iterator[Rounds]:
    with rounds_in(tmp_path, Clock()) as found:
        serving(found)
        yield found


def test_verdict_alone_costs_nothing(rounds: Rounds) -> None:
    page = page_of(rounds)
    assert [page.verdict(ASKED) for _ in range(3)] == [Verdict.GO] * 3
    assert left(rounds) == BUDGET


def test_question_costs_its_rows_once_and_its_answer_can_be_fetched_again(rounds: Rounds) -> None:
    page = page_of(rounds)
    answered(page)
    assert left(rounds) == BUDGET - ASKED.rows
    for _ in range(2):
        assert page.verdict(ASKED) is Verdict.STORED
        assert page.kept(ASKED) == [(SHARE + np.uint8(piece)).tobytes() for piece in range(PIECES)]
    assert left(rounds) == BUDGET - ASKED.rows


def test_question_that_broke_off_is_spent(rounds: Rounds) -> None:
    page = page_of(rounds)
    page.charge(ASKED)
    assert page.verdict(ASKED) is Verdict.SPENT
    page.keep(ASKED, 0, SHARE)
    assert page.verdict(ASKED) is Verdict.SPENT, "a part of the answer is no answer"
    assert left(rounds) == BUDGET - ASKED.rows


BROKEN = replace(ASKED, kind=Kind.BROKEN, rows=0)


@pytest.mark.parametrize("pieces", range(PIECES))
def test_what_was_not_written_of_a_broken_question_is_given_back_once(rounds: Rounds, pieces: int) -> None:
    page = page_of(rounds)
    answered(page, pieces=pieces)
    for _ in range(2):
        known = page.freeze(BROKEN)
        assert known == pieces
        page.give_back(BROKEN, known)
        assert left(rounds) == BUDGET - known
    assert page.verdict(ASKED) is Verdict.SPENT


def test_of_a_frozen_question_nothing_is_written_any_more(rounds: Rounds) -> None:
    page = page_of(rounds)
    answered(page, pieces=1)
    page.freeze(BROKEN)
    with pytest.raises(QuestionSpent):
        page.keep(ASKED, 1, SHARE)
    with pytest.raises(QuestionSpent):
        page.release(ASKED, 0)
    assert page.kept(ASKED) == [], "it can never be sent again"


def test_what_was_released_stays_charged_whatever_the_other_party_says(rounds: Rounds) -> None:
    page = page_of(rounds)
    answered(page, pieces=2)
    page.release(ASKED, 0)
    page.freeze(BROKEN)
    page.give_back(BROKEN, 0)
    assert left(rounds) == BUDGET - ASKED.rows // 2


def test_whole_answer_that_is_given_back_before_it_leaves_does_not_leave(rounds: Rounds) -> None:
    page = page_of(rounds)
    answered(page)
    page.freeze(BROKEN)
    page.give_back(BROKEN, 0)
    with pytest.raises(QuestionSpent):
        page.release(ASKED, 0)
    assert (page.verdict(ASKED), left(rounds)) == (Verdict.SPENT, BUDGET)


def test_the_smaller_count_of_the_other_party_holds(rounds: Rounds) -> None:
    page = page_of(rounds)
    answered(page, pieces=1)
    assert page.freeze(BROKEN) == 1
    page.give_back(BROKEN, 0)
    assert left(rounds) == BUDGET


def test_whole_answer_stays_charged_and_can_be_fetched_again(rounds: Rounds) -> None:
    page = page_of(rounds)
    answered(page)
    page.give_back(BROKEN, page.freeze(BROKEN))
    assert (page.verdict(ASKED), left(rounds)) == (Verdict.STORED, BUDGET - ASKED.rows)


def test_whole_answer_that_the_other_party_has_not_is_given_back_and_spent(rounds: Rounds) -> None:
    page = page_of(rounds)
    answered(page)
    page.freeze(BROKEN)
    page.give_back(BROKEN, 0)
    assert (page.verdict(ASKED), left(rounds)) == (Verdict.SPENT, BUDGET)


def test_nothing_is_given_back_that_is_not_frozen(rounds: Rounds) -> None:
    page = page_of(rounds)
    page.charge(ASKED)
    page.give_back(BROKEN, 0)
    assert left(rounds) == BUDGET - ASKED.rows


def test_id_that_was_given_up_before_it_was_charged_can_never_be_charged(rounds: Rounds) -> None:
    """The other party has charged it, and this one is about to."""
    page = page_of(rounds)
    assert page.verdict(ASKED) is Verdict.GO
    assert page.freeze(BROKEN) == 0
    assert page.verdict(ASKED) is Verdict.SPENT
    with pytest.raises(QuestionSpent):
        page.charge(ASKED)
    assert left(rounds) == BUDGET


def test_nobody_gives_back_what_another_hospital_asked(rounds: Rounds) -> None:
    page_of(rounds).charge(ASKED)
    thief = page_of(rounds, "south")
    assert thief.freeze(BROKEN) == ledger.ALL
    thief.give_back(BROKEN, 0)
    assert left(rounds) == BUDGET - ASKED.rows
    page_of(rounds).keep(ASKED, 0, SHARE)


def test_questions_that_break_off_are_counted(rounds: Rounds, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "MOST_BROKEN", 2)
    page, given = page_of(rounds), []
    for number in range(4):
        asked, broken = (replace(one, id=bytes([number]) * 16) for one in (ASKED, BROKEN))
        page.charge(asked)
        known = page.freeze(broken)
        page.give_back(broken, known)
        given.append(known)
    assert given == [0, 0, ledger.ALL, ledger.ALL]
    assert left(rounds) == BUDGET - 2 * ASKED.rows
    assert page.freeze(replace(BROKEN, id=bytes(16))) == 0, "what is frozen stays so, and is counted again"


def test_whole_answer_that_begins_may_be_known(rounds: Rounds) -> None:
    """Where no share is kept, as between two hospitals."""
    page = page_of(rounds)
    page.charge(ASKED)
    page.begin(ASKED)
    assert page.freeze(BROKEN) == ASKED.rows
    page.give_back(BROKEN, ASKED.rows)
    assert (page.verdict(ASKED), left(rounds)) == (Verdict.SPENT, BUDGET - ASKED.rows)


def test_round_that_is_over_gives_nothing_back(rounds: Rounds) -> None:
    page = page_of(rounds)
    page.charge(ASKED)
    rounds.close(1, "party south")
    with pytest.raises(RoundOver):
        page.freeze(BROKEN)


def test_what_is_given_back_is_in_the_audit_trail(tmp_path: Path) -> None:
    with rounds_in(tmp_path, Clock()) as rounds:
        serving(rounds)
        page = page_of(rounds)
        page.charge(ASKED)
        page.give_back(BROKEN, page.freeze(BROKEN))
    (entry,) = [record.entry for record in audit.entries(tmp_path) if record.entry.verb == "was given back"]
    assert (entry.actor, entry.subject) == ("party north", "mixer a")
    assert entry.details == {"round": 1, "rows": ASKED.rows, "question": ASKED.id.hex()}


def test_questions_of_an_earlier_version_stay_charged(tmp_path: Path) -> None:
    """Nobody knows how much of them was written down."""
    earlier = Schema(COMPUTING_PARTY.kind, COMPUTING_PARTY.steps[:4])
    seal = Seal(b"mixer a".ljust(32))
    with Database.open(tmp_path, earlier, seal, "mixer a") as database, database.write() as tables:
        tables.execute("INSERT INTO round (number, agreement, state, opened) VALUES (1, 'x', 'closed', 0)")
        tables.execute("INSERT INTO question VALUES (?, 1, 'north', 0, 1, 7, 2)", (ASKED.id,))
    with rounds_in(tmp_path, Clock()) as rounds, rounds.datastore.read() as tables_now:
        found = tables_now.asked.question(ASKED.id)
    assert found
    assert (found.rows, found.written, found.frozen) == (7, 7, False)


@pytest.mark.parametrize(
    "other",
    [
        replace(ASKED, kind=Kind.PUBLIC),
        replace(ASKED, rows=1),
        replace(ASKED, rows=3),
    ],
    ids=["shown", "fewer rows", "more rows"],
)
def test_id_belongs_to_one_question(rounds: Rounds, other: Question) -> None:
    page = page_of(rounds)
    answered(page)
    assert page.verdict(other) is Verdict.SPENT
    with pytest.raises(QuestionSpent):
        page.charge(other)


def test_answer_belongs_to_the_hospital_that_asked(rounds: Rounds) -> None:
    answered(page_of(rounds, "north"))
    thief = page_of(rounds, "south")
    assert thief.verdict(ASKED) is Verdict.SPENT
    with pytest.raises(QuestionSpent):
        thief.charge(ASKED)
    assert left(rounds, "south") == BUDGET


def test_answer_survives_a_restart_and_lies_there_sealed(tmp_path: Path) -> None:
    secret = np.frombuffer(b"this hospital's share of labels!", np.uint8)
    with rounds_in(tmp_path, Clock()) as rounds:
        serving(rounds)
        page = page_of(rounds, pieces=1)
        page.charge(ASKED)
        page.keep(ASKED, 0, secret)
        assert secret.tobytes() not in b"".join(part.read_bytes() for part in tmp_path.iterdir())
    with rounds_in(tmp_path, Clock()) as rounds:
        assert page_of(rounds, pieces=1).kept(ASKED) == [secret.tobytes()]


def test_answers_that_were_swapped_on_disk_do_not_open(rounds: Rounds) -> None:
    page = page_of(rounds)
    answered(page)
    with rounds.datastore.database.write() as connection:
        connection.execute("UPDATE answer SET piece = 9 WHERE piece = 0")
    with pytest.raises(BadState, match="does not open"):
        page.kept(ASKED)


@pytest.mark.parametrize("rows", [BUDGET + 1, 1 << 14])
def test_more_rows_than_the_budget_are_refused(rounds: Rounds, rows: int) -> None:
    page, question = page_of(rounds), replace(ASKED, rows=rows)
    assert page.verdict(question) is Verdict.OVER_BUDGET
    with pytest.raises(OverBudget, match="party north"):
        page.charge(question)
    assert left(rounds) == BUDGET


def test_budgets_are_of_one_hospital_and_one_round(rounds: Rounds) -> None:
    page_of(rounds).charge(replace(ASKED, rows=BUDGET))
    assert page_of(rounds).verdict(replace(ASKED, id=bytes(16))) is Verdict.OVER_BUDGET
    assert page_of(rounds, "south").verdict(replace(ASKED, id=bytes(16))) is Verdict.GO
    rounds.close(1, "party north")
    rounds.open(2, "party north")
    serving(rounds)
    assert page_of(rounds).verdict(replace(ASKED, id=bytes(16), round=2)) is Verdict.GO


def test_id_of_an_earlier_round_stays_spent(rounds: Rounds) -> None:
    answered(page_of(rounds))
    rounds.close(1, "party north")
    rounds.open(2, "party north")
    serving(rounds)
    assert page_of(rounds).verdict(replace(ASKED, round=2)) is Verdict.SPENT
    assert page_of(rounds).verdict(ASKED) is Verdict.NOT_SERVING
    assert page_of(rounds).kept(ASKED) == []


@pytest.mark.parametrize("end", [lambda rounds: rounds.close(1, "party south"), lambda rounds: rounds.fail(1, "why.")])
def test_round_that_ends_meanwhile_charges_and_keeps_nothing(rounds: Rounds, end: object) -> None:
    """Between the verdict and the charge, and between the charge and the answer, somebody may end the round."""
    page = page_of(rounds)
    assert page.verdict(ASKED) is Verdict.GO
    page.charge(ASKED)
    assert callable(end)
    end(rounds)
    with pytest.raises(MixbayesError):
        page.keep(ASKED, 0, SHARE)
    with pytest.raises(MixbayesError):
        page.charge(replace(ASKED, id=bytes(16)))
    assert page.kept(ASKED) == []
    assert page.verdict(ASKED) is Verdict.NOT_SERVING


@pytest.mark.parametrize("number", [0, 2])
def test_other_rounds_answer_nothing(rounds: Rounds, number: int) -> None:
    assert page_of(rounds).verdict(replace(ASKED, round=number)) is Verdict.NOT_SERVING


def test_round_before_it_serves_answers_nothing(tmp_path: Path) -> None:
    with rounds_in(tmp_path, Clock()) as rounds:
        assert page_of(rounds).verdict(ASKED) is Verdict.NOT_SERVING
        with pytest.raises(MixbayesError):
            page_of(rounds).charge(ASKED)


def test_only_the_latest_answers_are_kept_but_every_id(tmp_path: Path) -> None:
    with rounds_in(tmp_path, Clock(), budget=10_000) as rounds:
        serving(rounds)
        page = page_of(rounds, pieces=1)
        questions = [replace(ASKED, rows=1, id=i.to_bytes(16, "big")) for i in range(ANSWERS_KEPT + 3)]
        for question in questions:
            answered(page, question, 1)
        verdicts = [page.verdict(question) for question in questions]
        assert verdicts == [Verdict.SPENT] * 3 + [Verdict.STORED] * ANSWERS_KEPT


def test_two_conversations_at_once_do_not_ask_the_same_question_twice(rounds: Rounds) -> None:
    one, other = page_of(rounds), page_of(rounds)
    assert one.verdict(ASKED) is other.verdict(ASKED) is Verdict.GO
    one.charge(ASKED)
    with pytest.raises(QuestionSpent, match="two conversations"):
        other.charge(ASKED)
    assert left(rounds) == BUDGET - ASKED.rows


def test_many_conversations_at_once_do_not_overdraw(rounds: Rounds) -> None:
    """All have the verdict that there is enough left, and then all charge."""
    questions = [replace(ASKED, rows=5, id=i.to_bytes(16, "big")) for i in range(8)]
    assert {page_of(rounds).verdict(question) for question in questions} == {Verdict.GO}
    start = threading.Barrier(len(questions))

    def charge(question: Question) -> bool:
        start.wait()
        try:
            page_of(rounds).charge(question)
        except OverBudget:
            return False
        return True

    with ThreadPoolExecutor(len(questions)) as pool:
        went = list(pool.map(charge, questions))
    assert went.count(True) == BUDGET // 5
    assert left(rounds) == BUDGET - 5 * (BUDGET // 5)


@given(st.lists(st.tuples(st.sampled_from(["north", "south"]), st.integers(1, 6), st.integers(0, 3)), max_size=12))
def test_what_is_charged_is_the_sum_of_what_was_asked(asked: list[tuple[str, int, int]]) -> None:
    with new_folder() as folder, rounds_in(Path(folder), Clock()) as rounds:
        serving(rounds)
        spent, taken = {"north": 0, "south": 0}, set[bytes]()
        for hospital, rows, number in asked:
            question = replace(ASKED, rows=rows, id=number.to_bytes(16, "big"))
            try:
                page_of(rounds, hospital).charge(question)
            except (OverBudget, QuestionSpent):
                assert question.id in taken or spent[hospital] + rows > BUDGET
            else:
                assert question.id not in taken
                spent[hospital] += rows
                taken.add(question.id)
        assert {name: BUDGET - left(rounds, name) for name in spent} == spent


def test_every_question_is_in_the_audit_trail_with_its_rows(tmp_path: Path) -> None:
    with rounds_in(tmp_path, Clock()) as rounds:
        serving(rounds)
        page_of(rounds).charge(ASKED)
        page_of(rounds).charge(replace(ASKED, kind=Kind.PUBLIC, id=bytes(16)))
    asked = [record.entry for record in audit.entries(tmp_path) if record.entry.verb == "asked"]
    assert [(entry.actor, entry.subject) for entry in asked] == [("party north", "mixer a")] * 2
    assert [entry.details for entry in asked] == [
        {"round": 1, "rows hidden": 2, "question": ASKED.id.hex()},
        {"round": 1, "rows shown": 2, "question": bytes(16).hex()},
    ]


def test_refusals_after_the_end_name_the_state(rounds: Rounds) -> None:
    rounds.close(1, "party south")
    with pytest.raises(RoundOver, match="Round 1 is closed at mixer a"):
        page_of(rounds).charge(ASKED)
