"""The announcement of a question by the asking hospital, and the verdict of the computing parties, as messages."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from mixbayes.protocol.arrays import slices
from mixbayes.protocol.bayes.question import Form
from mixbayes.protocol.bayes.recipe import JOINT, LONGEST, Recipe, read_recipe
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import OutOfRange, Unsupported

NEXT = "next question"
"""The one step at which a computing party waits for long: a hospital decides when it asks."""
VERDICT = "verdict on the question"
GIVEN = "rows of the broken question that count as answered"
CHARGED = "question is charged"
KEPT = "share of the answer is on disk"
WRITTEN = "totals of the rows kept aside are on disk"
ID_BYTES = 16
GIVEN_BYTES = 8
RUN_BYTES = 16
"""The length of a run: the number that tells the model of one training from that of another."""
RECIPE = "recipe of the question"
_FORM = struct.Struct("<B?HII16s")
_MOST_ROWS, _PIECES = 1 << 14, 16


class Kind(IntEnum):
    """What the hospital announces."""

    END = 0
    PRIVATE = 1
    PUBLIC = 2
    TOP_UP = 3
    """No question for now: make random transfers ahead."""
    EVALUATION = 4
    """How often a classifier is right on rows of the hospital that it does not count."""
    ASIDE = 5
    """The same of the joint classifier, on rows that count nowhere: the totals are written down, and not opened."""
    JOINT_TEST = 6
    """The sums of these totals over all hospitals."""
    BROKEN = 7
    """No question: the one of this id broke off, and what of it cannot be known to the hospital is to be given back."""


FOR_LABELS = Kind.PRIVATE, Kind.PUBLIC
ABOUT_ROWS = Kind.PRIVATE, Kind.PUBLIC, Kind.EVALUATION, Kind.ASIDE


class Verdict(IntEnum):
    """Whether a question is answered. If two computing parties differ, the larger verdict holds."""

    GO = 0
    STORED = 1
    """It was answered before, and the answer is still there."""
    SPENT = 2
    """It broke off before, or its answer is no longer kept: its rows can only be asked about under a new id."""
    OVER_BUDGET = 3
    NOT_SERVING = 4
    NOT_AGREED = 5
    """The agreement does not allow this recipe, or has no folds for an evaluation."""
    NOT_COUNTED = 6
    """The round's model does not count the patients of the hospital that asks, on whom the answer depends."""


@dataclass(frozen=True, slots=True)
class Question:
    """One announcement: a question, or that none comes now."""

    kind: Kind
    round: int = 0
    rows: int = 0
    """In an evaluation, those of each fold."""
    id: bytes = bytes(ID_BYTES)
    recipe: Recipe = JOINT
    last: bool = False
    """Whether the conversation ends once it is answered, without another message. If it is spent, more will follow."""

    def encoded(self) -> bytes:
        """What both computing parties must have received alike."""
        recipe = self._recipe()
        return _FORM.pack(self.kind, self.last, len(recipe), self.round, self.rows, self.id) + recipe

    def messages(self) -> Iterator[tuple[str, bytes]]:
        """The announcement, step by step: the plain joint classifier is not named."""
        encoded = self.encoded()
        yield NEXT, encoded[: _FORM.size]
        if recipe := encoded[_FORM.size :]:
            yield RECIPE, recipe

    @property
    def private(self) -> bool:
        return self.kind is Kind.PRIVATE

    @property
    def model(self) -> bytes:
        """The name of the model that answers, the same for all questions that the same one answers."""
        return self.round.to_bytes(4, "little") + self._recipe()

    def _recipe(self) -> bytes:
        return b"" if self.recipe == JOINT else str(self.recipe).encode()


def send(channel: Channel, question: Question) -> None:
    for step, message in question.messages():
        channel.send(step, message)


def receive(channel: Channel) -> Question:
    kind, last, length, number, rows, id = _FORM.unpack(channel.receive(NEXT, _FORM.size).tobytes())
    if kind not in list(Kind):
        raise OutOfRange(channel.peer, NEXT, "it asks for something that does not exist")
    question = Question(Kind(kind), number, rows, id, _receive_recipe(channel, length), last)
    if question.kind in ABOUT_ROWS and not 0 < rows <= _MOST_ROWS:
        raise OutOfRange(channel.peer, NEXT, f"a question has between 1 and {_MOST_ROWS} rows")
    return question


def _receive_recipe(channel: Channel, length: int) -> Recipe:
    if not length:
        return JOINT
    if length > LONGEST:
        raise OutOfRange(channel.peer, RECIPE, f"a recipe has at most {LONGEST} bytes")
    raw = channel.receive(RECIPE, length).tobytes()
    try:
        recipe = read_recipe(raw.decode())
    except (UnicodeDecodeError, Unsupported):
        raise OutOfRange(channel.peer, RECIPE, "its text is none of a recipe") from None
    if recipe == JOINT or str(recipe).encode() != raw:
        raise OutOfRange(channel.peer, RECIPE, "it is written in another way than it has to be")
    return recipe


def send_verdict(channel: Channel, verdict: Verdict) -> None:
    channel.send(VERDICT, bytes([verdict]))


def receive_verdict(channel: Channel) -> Verdict:
    number = int(channel.receive(VERDICT, 1)[0])
    if number not in list(Verdict):
        raise OutOfRange(channel.peer, VERDICT, "there is no such verdict")
    return Verdict(number)


def send_given(channel: Channel, rows: int) -> None:
    channel.send(GIVEN, rows.to_bytes(GIVEN_BYTES, "little"))


def receive_given(channel: Channel) -> int:
    """How many rows of a broken question count as answered at this computing party."""
    return int.from_bytes(channel.receive(GIVEN, GIVEN_BYTES).tobytes(), "little")


def send_written(channel: Channel) -> None:
    channel.send(WRITTEN, b"\1")


def receive_written(channel: Channel) -> None:
    """Wait until this computing party has the totals on disk."""
    channel.receive(WRITTEN, 1)


def batches(form: Form, rows: int, repeats: int = 0) -> Iterator[slice]:
    """The slices of rows of which each becomes one question. The longer a row, the fewer rows to a question.

    Every question has room for so many repeats.
    """
    return slices(rows, max(1, most_rows(form) - repeats))


def most_rows(form: Form) -> int:
    """The largest number of rows in one question."""
    return min(_MOST_ROWS, _PIECES * next(form.pieces(_MOST_ROWS)).stop)
