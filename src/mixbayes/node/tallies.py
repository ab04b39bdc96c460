"""What a node counts while it works. Nothing of it is on disk, and nothing says which hospital asked about how much."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field

from mixbayes.node.questions import FOR_LABELS, Kind, Question
from mixbayes.transport.traffic import Traffic

KINDS = {
    Kind.PRIVATE: "private",
    Kind.PUBLIC: "public",
    Kind.EVALUATION: "evaluation",
    Kind.ASIDE: "aside",
    Kind.JOINT_TEST: "joint_test",
}
"""The kinds of questions, and what they are called here."""
TRAINING = "training"
_OURS = "/mixbayes.wire.v1."
Counting = Callable[[Question], AbstractContextManager[None]]
"""Counts the question that is answered within the block."""


def uncounted(question: Question) -> AbstractContextManager[None]:
    """For programs that are no nodes, such as commands."""
    return nullcontext()


@dataclass(frozen=True)
class Timed:
    """So many pieces of work that came to their end, and the seconds and rows of all of them."""

    times: int = 0
    seconds: float = 0.0
    rows: int = 0

    def __add__(self, other: Timed) -> Timed:
        return Timed(self.times + other.times, self.seconds + other.seconds, self.rows + other.rows)


class Work:
    """Pieces of work by kind. Every method may be called from any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._done: dict[str, Timed] = {}

    @contextmanager
    def timed(self, kind: str, rows: int = 0) -> Iterator[None]:
        """One piece. It is not counted if it ends with an error."""
        began = self._clock()
        yield
        took = Timed(1, self._clock() - began, rows)
        with self._lock:
            self._done[kind] = self._done.get(kind, Timed()) + took

    def of(self, kind: str) -> Timed:
        with self._lock:
            return self._done.get(kind, Timed())


class Calls:
    """Calls that others make here, by method, and refusals by their code. Every method may be called from any thread.

    Only methods that the node has are counted: a call of another one never arrives here.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls = Counter[str]()
        self._refusals = Counter[str]()

    def called(self, method: str) -> None:
        with self._lock:
            self._calls[method.removeprefix(_OURS).removeprefix("/")] += 1

    def refused(self, code: str) -> None:
        with self._lock:
            self._refusals[code] += 1

    def by_method(self) -> Mapping[str, int]:
        with self._lock:
            return dict(self._calls)

    def by_code(self) -> Mapping[str, int]:
        with self._lock:
            return dict(self._refusals)


@dataclass(frozen=True)
class Tallies:
    """All that one node counts."""

    traffic: Traffic = field(default_factory=Traffic)
    calls: Calls = field(default_factory=Calls)
    asked: Work = field(default_factory=Work)
    """Questions that this node asks others, for its applications."""
    answered: Work = field(default_factory=Work)
    """Questions that others ask this node."""
    trainings: Work = field(default_factory=Work)
    began: float = field(default_factory=time.time)
    """When the node started, in seconds since 1970."""

    def asking(self, question: Question) -> AbstractContextManager[None]:
        """A question that this node asks, until it has the answer."""
        return _question_in(self.asked, question)

    def answering(self, question: Question) -> AbstractContextManager[None]:
        """A question that this node answers, from its announcement on."""
        return _question_in(self.answered, question)

    def training(self) -> AbstractContextManager[None]:
        """One training of a round."""
        return self.trainings.timed(TRAINING)


def _question_in(work: Work, question: Question) -> AbstractContextManager[None]:
    return work.timed(KINDS[question.kind], question.rows if question.kind in FOR_LABELS else 0)
