"""How many one-way delays a question takes: as many as the protocol has messages in a row."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import numpy as np
import pytest

from mixbayes.mixers.answering import converse
from mixbayes.mixers.joint_test import JointTest
from mixbayes.mixers.personal import Personal
from mixbayes.mixers.supply import Supply
from mixbayes.parties.with_mixers.asking import Asking
from mixbayes.parties.with_mixers.both_mixers import BothMixers
from mixbayes.protocol.bayes.training import run_training
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.shares import A, B
from mixbayes.protocol.transfer.lots import LOT
from tests.mixers.test_answering import Book
from tests.mixers.test_answering import _quick as quick  # noqa: F401
from tests.mixers import test_answering
from tests.mixers.world import as_it_is
from tests.protocol.delays import Clock, link
from tests.protocol.pairs import layout_of, random_codes, random_counts, seed
from tests.protocol.transfer.test_lots import ideal

PATIENCE = 30.0


class Mixers:
    """Both mixers in memory, with transfers made ahead, as `Asking` opens conversations with them."""

    def __init__(self, books: tuple[Book, Book], layout) -> None:
        self.books = books
        self.layout = layout
        self.asker = Clock()
        self.supplies = Supply(LOT, "mixer b", PATIENCE), Supply(LOT, "mixer a", PATIENCE)

    @contextmanager
    def conversation(self):
        clocks = Clock(self.asker.now), Clock(self.asker.now)
        names = ("mixer a", clocks[A]), ("mixer b", clocks[B])
        between = [link(*names) for _ in range(2)]
        asked = [link(("party north", self.asker), name) for name in names]

        def mixer(role):
            other = [pair[role] for pair in between]
            converse(role, other, asked[role][1], self.layout, self.books[role], cast("Personal", None), cast("JointTest", None),
                     Randomness.from_system(), self.supplies[role])

        with self.supplies[A].session("s") as a, self.supplies[B].session("s") as b:
            for shelf, lot in zip((a, b), ideal(0, 64 * LOT)):
                shelf.put(lot)
            threads = [threading.Thread(target=mixer, args=(role,)) for role in (A, B)]
            for thread in threads:
                thread.start()
            yield tuple(pair[0] for pair in asked)
            for thread in threads:
                thread.join(PATIENCE)


@pytest.mark.parametrize("private", [True, False])
@pytest.mark.parametrize("classes", [2, 5])
def test_delays(private, classes, monkeypatch):
    layout = layout_of(classes, [3, 2], max_rows=1 << 20)
    counts = random_counts(layout, np.random.default_rng(7), 40, empty=0.0)
    models = run_training(layout, [counts], (seed(1), seed(2), seed(3)))
    monkeypatch.setattr(test_answering, "MODELS", models)
    events = []
    mixers = Mixers((Book(A, events), Book(B, events)), layout)
    asking = Asking(cast("BothMixers", mixers), layout, as_it_is)
    codes = random_codes(layout, np.random.default_rng(8), 1)
    found = []
    for i in range(3):
        before = mixers.asker.now
        list(asking.labels(1, codes, private=private, id=bytes([i + 1]) * 16))
        found.append(mixers.asker.now - before)
    asking.close()
    print("DELAYS", private, classes, found)
