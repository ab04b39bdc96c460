"""Rows of several applications go to the mixers as one question, and each application gets its own labels.

A question costs some round trips and some commits at three nodes, however few rows it has. So rows that wait while
another question is under way are asked about together when the turn comes: rows of the same recipe, hidden or shown
alike, in the order in which they came, up to `MOST_ROWS`.

Only rows without an application's id are gathered. Such rows have no question of their own that could be repeated: a
question about them gets a fresh id, whoever asks again is charged again, and one question for all of them is charged
the sum of their rows. So a gathered question is to both ledgers what a table of these rows is that one application
asks about without an id, and what holds for that table holds for it: it is charged once, before the first transfer; if
it breaks off, it is asked again under the same id, or given back and asked under the next one. Rows with an id are
never gathered: their question has the same id whenever it is repeated, which the company that they happen to have must
not change.

An audit trail at a mixer has one entry for the gathered question, with the sum of the rows. The hospital's own trail
says too how many applications asked.

The mixers refuse a question that exceeds the budget before anything is charged. A gathered one is then asked in halves,
so that only those applications are refused whose own rows do not fit any more into what is left when it is their turn.
Every other error is one of the question, and each of its applications gets it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

import numpy as np

from mixbayes.parties.turn import Turn
from mixbayes.protocol.arrays import Values
from mixbayes.protocol.bayes.label import Labels
from mixbayes.protocol.bayes.recipe import Recipe
from mixbayes.transport.errors import OverBudget

MOST_ROWS = 512
"""Rows of one gathered question. Nobody waits much longer for their labels than for those of a single row."""
TABLE_ALONE, TABLE_AMONG_OTHERS = 4096, 1024
"""Rows of a larger table in one question, for whose end others have to wait: while nobody asks about few rows, and
otherwise."""
_LATELY = 1.0
"""Seconds after which it counts as if nobody asked."""


@dataclass(frozen=True)
class How:
    """What all rows of a question have in common."""

    private: bool
    recipe: Recipe


@dataclass(frozen=True, eq=False)
class Part:
    """The rows of one application, as codes (columns, n), and the labels that it waits for."""

    how: How
    codes: Values
    labels: Future[Labels] = field(default_factory=Future)

    @property
    def rows(self) -> int:
        return int(self.codes.shape[1])


Ask = Callable[[How, Values], Labels]
"""Asks one question. Raises `OverBudget` if too little is left; then nothing was charged."""
Note = Callable[[How, int, int], None]
"""Writes down how many rows are about to be asked about, and for how many applications."""


class Gathering:
    """Whoever has the turn asks for all who wait with rows like its own."""

    def __init__(self, turn: Turn[Part], note: Note, ask: Ask) -> None:
        self._turn = turn
        self._note = note
        self._ask = ask
        self._asked = -math.inf

    def labels(self, how: How, codes: Values) -> Labels:
        """The labels of at most `MOST_ROWS` rows."""
        self._asked = time.monotonic()
        mine = Part(how, codes)
        with self._turn.mine_or_taken_along(mine) as has_turn:
            if has_turn:
                self._settle([mine, *self._turn.take_along(room_beside(mine))])
        return mine.labels.result()

    def most_at_once(self) -> int:
        """Rows of a larger table that one question may have now."""
        return TABLE_AMONG_OTHERS if time.monotonic() - self._asked < _LATELY else TABLE_ALONE

    def _settle(self, parts: Sequence[Part]) -> None:
        """Every part gets its labels or an error, whatever happens."""
        try:
            self._note(parts[0].how, sum(part.rows for part in parts), len(parts))
            answer(parts, self._ask)
        except BaseException as error:  # noqa: BLE001 - each application has it raised in its own thread
            for part in parts:
                if not part.labels.done():
                    part.labels.set_exception(error)


def room_beside(first: Part) -> Callable[[Part], bool]:
    """Takes one part after the other, and says of each whether it can be asked about together with those before."""
    room = MOST_ROWS - first.rows

    def fits(part: Part) -> bool:
        nonlocal room
        found = part.how == first.how and part.rows <= room
        room -= part.rows if found else 0
        return found

    return fits


def answer(parts: Sequence[Part], ask: Ask) -> None:
    """One question for all; where that exceeds the budget one for each half, down to a single application.

    What was refused is not tried again with as many rows: a budget does not grow.
    """
    too_many: tuple[int, OverBudget] | None = None
    waiting = [parts]
    while waiting:
        some = waiting.pop()
        rows = sum(part.rows for part in some)
        if too_many is None or rows < too_many[0]:
            try:
                deal(ask(some[0].how, np.concatenate([part.codes for part in some], axis=1)), some)
                continue
            except OverBudget as error:
                too_many = rows, error
        if len(some) == 1:
            some[0].labels.set_exception(too_many[1])
        else:
            waiting += [some[len(some) // 2 :], some[: len(some) // 2]]


def deal(labels: Labels, parts: Sequence[Part]) -> None:
    """Each application's own labels."""
    ends = np.cumsum([part.rows for part in parts])
    for part, own in zip(parts, np.split(labels, ends[:-1]), strict=True):
        part.labels.set_result(own)
