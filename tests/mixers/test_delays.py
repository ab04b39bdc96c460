"""How many one-way delays a question takes over an open conversation: as many as messages follow each other."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import numpy as np
import pytest

from mixbayes.mixers.answering import converse
from mixbayes.mixers.joint_test import JointTest
from mixbayes.mixers.personal import Personal
from mixbayes.mixers.supply import Supply
from mixbayes.node.ledger import Ledger
from mixbayes.node.questions import ID_BYTES, Question, Verdict
from mixbayes.parties.with_mixers.asking import Asking
from mixbayes.parties.with_mixers.both_mixers import BothMixers
from mixbayes.protocol.arrays import Bytes
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model
from mixbayes.protocol.bayes.training import run_training
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.shares import A, B
from mixbayes.protocol.transfer.lots import LOT
from tests.mixers.world import as_it_is
from tests.protocol.delays import Clock, link
from tests.protocol.pairs import layout_of, random_codes, random_counts, seed
from tests.protocol.transfer.test_lots import ideal

PATIENCE = 30.0
ANNOUNCED, VERDICT, KEPT, LABEL = 1, 1, 1, 1
"""The announcement; what the mixers compare before a question, and before its answer leaves; the answer."""
TABLE, SUMS = 1, 1
"""Of a private question: the verdicts, with the tables where none stands yet, and the sums."""
COMPARISON, ANOTHER_LEVEL = 3, 2
"""Of the scores of two classes, and what a second level of the tournament adds to it."""
PUBLIC = ANNOUNCED + VERDICT + COMPARISON + KEPT + LABEL
PRIVATE = ANNOUNCED + VERDICT + TABLE + SUMS + COMPARISON + KEPT + LABEL


class Book:
    """A ledger in memory that says yes to everything new."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._answers: dict[bytes, list[bytes]] = {}

    def verdict(self, question: Question) -> Verdict:
        return Verdict.STORED if question.id in self._answers else Verdict.GO

    def charge(self, question: Question) -> None:
        self._answers[question.id] = []

    def keep(self, question: Question, piece: int, share: Bytes) -> None:
        self._answers[question.id].append(share.tobytes())

    def release(self, question: Question, piece: int) -> None:
        assert piece < len(self._answers[question.id])

    def kept(self, question: Question) -> list[bytes]:
        return self._answers[question.id]

    def trained(self, number: int) -> tuple[bytes, Model]:
        return bytes(16), self._model


class Mixers:
    """Both mixers, which are asked over links that count delays, and have transfers for a while."""

    def __init__(self, classes: int) -> None:
        self.layout = layout_of(classes, [3, 2], max_rows=1 << 20)
        self.counts = random_counts(self.layout, np.random.default_rng(7), 40, empty=0.0)
        self.models = run_training(self.layout, [self.counts], (seed(1), seed(2), seed(3)))
        self.asker = Clock()
        self.ended = False
        self.supplies = Supply(LOT, "mixer b", PATIENCE), Supply(LOT, "mixer a", PATIENCE)

    @contextmanager
    def conversation(self) -> Iterator[tuple[Channel, Channel]]:
        names = ("mixer a", Clock()), ("mixer b", Clock())
        between = [link(*names) for _ in range(2)]
        asked = [link(("party north", self.asker), name) for name in names]
        with self._supplied():
            threads = [
                threading.Thread(target=self._answer, args=(role, [pair[role] for pair in between], asked[role][1]))
                for role in (A, B)
            ]
            for thread in threads:
                thread.start()
            yield asked[A][0], asked[B][0]
            for thread in threads:
                thread.join(PATIENCE)
            self.ended = not any(thread.is_alive() for thread in threads)

    @contextmanager
    def _supplied(self) -> Iterator[None]:
        with self.supplies[A].session("lots") as at_a, self.supplies[B].session("lots") as at_b:
            for shelf, lot in zip((at_a, at_b), ideal(0, 8 * LOT), strict=True):
                shelf.put(lot)
            yield

    def _answer(self, role: int, other: list[Channel], asker: Channel) -> None:
        ledger = cast("Ledger[Model]", Book(self.models[role]))
        none, random = (cast("Personal", None), cast("JointTest", None)), Randomness.from_system()
        converse(role, other, asker, self.layout, ledger, *none, random, self.supplies[role])


def delays(classes: int, questions: list[int], *, private: bool) -> list[int]:
    """Of questions about one row each, one after the other; the same number is the same question."""
    mixers, found = Mixers(classes), []
    asking = Asking(cast("BothMixers", mixers), mixers.layout, as_it_is)
    codes = random_codes(mixers.layout, np.random.default_rng(8), 1)
    expected = fixed_labels(mixers.layout, fixed_model(mixers.layout, mixers.counts), codes).tolist()
    for number in questions:
        before = mixers.asker.now
        (labels,) = asking.labels(1, codes, private=private, id=bytes([number]) * ID_BYTES)
        assert labels.tolist() == expected
        found.append(mixers.asker.now - before)
    asking.close()
    return found


@pytest.mark.parametrize(("classes", "more"), [(2, 0), (5, ANOTHER_LEVEL)])
def test_a_public_question_waits_for_nothing_twice(classes: int, more: int) -> None:
    assert delays(classes, [1, 2, 3], private=False) == [PUBLIC + more] * 3


@pytest.mark.parametrize(("classes", "more"), [(2, 0), (5, ANOTHER_LEVEL)])
def test_a_private_question_waits_for_the_table_besides(classes: int, more: int) -> None:
    assert delays(classes, [1, 2, 3], private=True) == [PRIVATE + more] * 3


@pytest.mark.parametrize("private", [True, False])
def test_an_answer_that_is_stored_comes_with_the_verdict(private: bool) -> None:
    assert delays(2, [1, 1], private=private)[1] == ANNOUNCED + VERDICT + LABEL


@pytest.mark.parametrize("private", [True, False])
def test_the_last_question_ends_the_conversation_with_its_answer(private: bool) -> None:
    """Nothing is sent to end it: the mixers hang up, and the hospital has nothing to wait for."""
    mixers = Mixers(2)
    asking = Asking(cast("BothMixers", mixers), mixers.layout, as_it_is)
    codes = random_codes(mixers.layout, np.random.default_rng(8), 1)
    list(asking.labels(1, codes, private=private, id=b"1" * ID_BYTES, last=True))
    assert mixers.asker.now == (PRIVATE if private else PUBLIC)
    assert mixers.ended
    asking.close()
