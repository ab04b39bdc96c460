"""The announcement of a question by the asking hospital, and the verdict of the computing parties, as messages."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from mixbayes.protocol.arrays import slices
from mixbayes.protocol.bayes.question import Form
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.errors import OutOfRange

NEXT = "next question"
"""The one step at which a computing party waits for long: a hospital decides when it asks."""
VERDICT = "verdict on the question"
ID_BYTES = 16
RUN_BYTES = 16
"""The length of a run: the number that tells the model of one training from that of another."""
_FORM = struct.Struct("<B3xII16s")
_MOST_ROWS, _PIECES = 1 << 14, 4


class Kind(IntEnum):
    """What the hospital announces."""

    END = 0
    PRIVATE = 1
    PUBLIC = 2
    TOP_UP = 3
    """No question for now: make random transfers ahead."""


class Verdict(IntEnum):
    """Whether a question is answered. If two computing parties differ, the larger verdict holds."""

    GO = 0
    STORED = 1
    """It was answered before, and the answer is still there."""
    SPENT = 2
    """It broke off before, or its answer is no longer kept: it can only be asked under a new id."""
    OVER_BUDGET = 3
    NOT_SERVING = 4


@dataclass(frozen=True, slots=True)
class Question:
    """One announcement: a question, or that none comes now."""

    kind: Kind
    round: int = 0
    rows: int = 0
    id: bytes = bytes(ID_BYTES)

    def encoded(self) -> bytes:
        return _FORM.pack(self.kind, self.round, self.rows, self.id)

    @property
    def private(self) -> bool:
        return self.kind is Kind.PRIVATE


def send(channel: Channel, question: Question) -> None:
    channel.send(NEXT, question.encoded())


def receive(channel: Channel) -> Question:
    kind, number, rows, id = _FORM.unpack(channel.receive(NEXT, _FORM.size).tobytes())
    if kind not in list(Kind):
        raise OutOfRange(channel.peer, NEXT, "it asks for something that does not exist")
    question = Question(Kind(kind), number, rows, id)
    if question.kind in (Kind.PRIVATE, Kind.PUBLIC) and not 0 < rows <= _MOST_ROWS:
        raise OutOfRange(channel.peer, NEXT, f"a question has between 1 and {_MOST_ROWS} rows")
    return question


def send_verdict(channel: Channel, verdict: Verdict) -> None:
    channel.send(VERDICT, bytes([verdict]))


def receive_verdict(channel: Channel) -> Verdict:
    number = int(channel.receive(VERDICT, 1)[0])
    if number not in list(Verdict):
        raise OutOfRange(channel.peer, VERDICT, "there is no such verdict")
    return Verdict(number)


def batches(form: Form, rows: int) -> Iterator[slice]:
    """The slices of rows of which each becomes one question. The longer a row, the fewer rows to a question."""
    return slices(rows, most_rows(form))


def most_rows(form: Form) -> int:
    """The largest number of rows in one question."""
    return min(_MOST_ROWS, _PIECES * next(form.pieces(_MOST_ROWS)).stop)
