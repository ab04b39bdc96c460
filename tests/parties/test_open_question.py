"""The open question of a hospital: given back before another one, and found again after a restart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mixbayes.node.disk.database import Database
from mixbayes.node.disk.datastore import HOSPITAL, ContributionTables, Datastore
from mixbayes.node.disk.sealing import Seal
from mixbayes.node.questions import Kind, Question
from mixbayes.parties.asking import renewed
from mixbayes.parties.noted_question import noted_question
from mixbayes.parties.open_question import NoteOfNode, OpenQuestion

ASKED = Question(Kind.PRIVATE, 1, 3, b"one".ljust(16))
NEXT = replace(ASKED, id=b"next".ljust(16))


def test_a_question_that_was_not_answered_is_given_back_before_the_next_one() -> None:
    last = OpenQuestion()
    assert last.earlier(ASKED) is None
    last.begins(ASKED)
    assert last.earlier(NEXT) == Question(Kind.BROKEN, 1, id=ASKED.id)
    assert last.earlier(ASKED) is None, "it is asked again first: both may have its answer"
    assert last.earlier(replace(NEXT, round=2)) is None, "a new round has a new budget"


def test_a_question_that_was_answered_is_not() -> None:
    last = OpenQuestion()
    last.begins(ASKED)
    last.is_answered()
    assert last.earlier(NEXT) is None


def test_a_question_that_costs_nothing_is_not_open() -> None:
    last = OpenQuestion()
    last.begins(replace(ASKED, kind=Kind.ASIDE))
    assert last.earlier(NEXT) is None


@pytest.mark.parametrize("answered", [False, True])
def test_a_node_that_begins_again_takes_its_last_question_for_open(tmp_path: Path, answered: bool) -> None:
    found: list[Question | None] = []
    for _ in range(2):
        with Database.open(tmp_path, HOSPITAL, Seal(bytes(32)), "party north") as database:
            datastore = Datastore(database, ContributionTables, "party north", lambda: 0.0)
            last = OpenQuestion(NoteOfNode(datastore))
            found.append(last.earlier(NEXT))
            last.begins(ASKED)
            if answered:
                last.is_answered()
    assert found == [None, Question(Kind.BROKEN, 1, id=ASKED.id)]


def asked(folder: Path, question: Question, *, agreement: str = "d1", answered: bool = False) -> Question | None:
    """What a command that asks this question gives back first."""
    with noted_question(folder, "north", agreement) as note:
        last = OpenQuestion(note)
        found = last.earlier(question)
        last.begins(question)
        if answered:
            last.is_answered()
    return found


def test_a_command_gives_back_what_an_earlier_one_left_open(tmp_path: Path) -> None:
    assert asked(tmp_path, ASKED) is None
    assert asked(tmp_path, NEXT, answered=True) == Question(Kind.BROKEN, 1, id=ASKED.id)
    assert asked(tmp_path, ASKED) is None, "the last one was answered"
    assert asked(tmp_path, NEXT, agreement="d2") is None, "another agreement has other ledgers"
    assert (tmp_path / "north.open-question").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"round": 1}', '{"agreement": "d1", "round": 1, "question": "00"}']
)
def test_a_note_that_cannot_be_read_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "north.open-question").write_text(content)
    assert asked(tmp_path, NEXT) is None


def test_two_commands_at_once_do_not_take_each_others_question_for_open(tmp_path: Path) -> None:
    with noted_question(tmp_path, "north", "d1") as first:
        OpenQuestion(first).begins(ASKED)
        assert asked(tmp_path, NEXT) is None
    assert asked(tmp_path, NEXT) == Question(Kind.BROKEN, 1, id=ASKED.id)


def test_a_folder_that_cannot_be_written_is_no_reason_not_to_ask(tmp_path: Path) -> None:
    assert asked(tmp_path / "missing", ASKED) is None


def test_ids_after_a_broken_question_are_always_the_same() -> None:
    first = renewed(ASKED.id)
    assert first == renewed(ASKED.id)
    assert len({ASKED.id, first, renewed(first), renewed(NEXT.id)}) == 4
    assert len(first) == len(ASKED.id)
