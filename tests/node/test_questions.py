"""What an asker tells the computing parties: read back as it was sent, and refused where it is no command."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.node import questions
from mixbayes.node.questions import ID_BYTES, NEXT, RECIPE, VERDICT, Kind, Question, Verdict, batches
from mixbayes.protocol import memory
from mixbayes.protocol.bayes.question import Form
from mixbayes.protocol.bayes.recipe import LONGEST, read_recipe
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import OutOfRange, WrongLength
from tests.protocol.pairs import layout_of

MOST_ROWS = 1 << 14
PERSONAL = read_recipe("personal:weight=3:prior=own")
ids = st.binary(min_size=ID_BYTES, max_size=ID_BYTES)
commands = st.builds(
    Question,
    st.sampled_from([Kind.PRIVATE, Kind.PUBLIC]),
    st.integers(0, 2**32 - 1),
    st.integers(1, MOST_ROWS),
    ids,
    last=st.booleans(),
) | st.sampled_from([Question(Kind.END), Question(Kind.TOP_UP)])


def line() -> tuple[Channel, Channel]:
    return memory.channels("party north", "mixer a", deadline=60.0)


@given(commands)
def test_command_arrives_as_it_was_sent(told: Question) -> None:
    here, there = line()
    questions.send(here, told)
    assert questions.receive(there) == told


@given(commands)
def test_every_command_has_the_same_size_but_for_its_recipe(told: Question) -> None:
    assert len(told.encoded()) == len(Question(Kind.END).encoded())
    named = replace(told, recipe=PERSONAL)
    assert len(named.encoded()) == len(told.encoded()) + len(str(PERSONAL))


@given(commands)
def test_a_recipe_arrives_as_it_was_sent(told: Question) -> None:
    here, there = line()
    questions.send(here, replace(told, recipe=PERSONAL))
    assert questions.receive(there) == replace(told, recipe=PERSONAL)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"joint", "in another way"),
        (b"personal", "in another way"),
        (b"mine", "none of a recipe"),
        (b"\xff", "none of a recipe"),
        (b"x" * (LONGEST + 1), "at most"),
    ],
)
def test_a_text_that_is_no_recipe_is_refused(text: bytes, said: str) -> None:
    here, there = line()
    here.send(NEXT, struct.pack("<B?HII16s", Kind.PRIVATE, False, len(text), 1, 1, bytes(16)))
    here.send(RECIPE, text)
    with pytest.raises(OutOfRange, match=said):
        questions.receive(there)


@given(commands, st.binary(min_size=1, max_size=1))
def test_every_byte_but_zero_says_that_a_question_is_the_last_one(told: Question, noise: bytes) -> None:
    """The mixers compare what they understood: two bytes that mean the same must not tell two questions apart."""
    here, there = line()
    raw = bytearray(told.encoded())
    raw[1:2] = noise
    here.send(NEXT, bytes(raw))
    assert questions.receive(there).encoded() == replace(told, last=noise != b"\0").encoded()


@given(st.integers(len(Kind), 255))
def test_unknown_kind_is_refused(kind: int) -> None:
    here, there = line()
    here.send(NEXT, struct.pack("<B3xII16s", kind, 1, 1, bytes(16)))
    with pytest.raises(OutOfRange, match="party north, at next question: it asks for something that does not exist"):
        questions.receive(there)


@pytest.mark.parametrize("kind", [Kind.PRIVATE, Kind.PUBLIC])
@pytest.mark.parametrize("rows", [0, MOST_ROWS + 1, 2**32 - 1])
def test_question_about_no_rows_or_too_many_is_refused(kind: Kind, rows: int) -> None:
    here, there = line()
    questions.send(here, Question(kind, 1, rows, bytes(16)))
    with pytest.raises(OutOfRange, match="between 1 and 16384 rows"):
        questions.receive(there)


def test_command_of_another_length_is_refused() -> None:
    here, there = line()
    here.send(NEXT, Question(Kind.END).encoded() + b"x")
    with pytest.raises(WrongLength):
        questions.receive(there)


@pytest.mark.parametrize("verdict", Verdict)
def test_verdict_arrives_as_it_was_sent(verdict: Verdict) -> None:
    here, there = line()
    questions.send_verdict(here, verdict)
    assert questions.receive_verdict(there) is verdict


@pytest.mark.parametrize("number", [len(Verdict), 255])
def test_unknown_verdict_is_refused(number: int) -> None:
    here, there = line()
    here.send(VERDICT, bytes([number]))
    with pytest.raises(OutOfRange, match="there is no such verdict"):
        questions.receive_verdict(there)


@given(st.integers(0, 50_000), st.integers(2, 5), st.lists(st.integers(1, 300), min_size=1, max_size=4))
def test_batches_cover_every_row_once_and_none_is_too_large(rows: int, classes: int, sizes: list[int]) -> None:
    found = list(batches(Form.of(layout_of(classes, sizes), 48), rows))
    assert [row for batch in found for row in range(batch.start, batch.stop)] == list(range(rows))
    assert all(0 < batch.stop - batch.start <= MOST_ROWS for batch in found)
