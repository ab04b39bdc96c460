"""An agreement of three hospitals with one patient each, and the folder and the clock that its nodes get."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from mixbayes.agreement.agreement import Federation, federation_from
from mixbayes.node.disk.database import Database
from mixbayes.node.disk.datastore import COMPUTING_PARTY
from mixbayes.node.disk.sealing import Seal
from mixbayes.node.rounds.rounds import Rounds
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.layout import Layout

HOSPITALS = "north", "south", "west"
CLASS_OF = {"north": 0, "south": 1, "west": 1}
MIXERS = "a", "b"
DEADLINE = 30.0
"""Seconds for which a role waits for another: never reached unless a step is broken."""
NOON = 1_780_000_000.0
HOUR = 3600.0
BUDGET = 12
MEMORY = Path("/dev/shm")
"""Where there is one, its commits cost nothing."""


def new_folder() -> TemporaryDirectory[str]:
    """For the state of all nodes."""
    return TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None)


NOISE = {
    "epsilon": 2.0,
    "delta": 0.5,
    "total_epsilon": 1e9,
    "total_delta": 0.9,
    "coins": [40],
}
"""Little, and as many rounds as a test may want."""


def agreement(privacy: dict[str, object] | None = None, recipes: Sequence[str] = (), **policy: object) -> Federation:
    """Three hospitals, each with a value of its own in the first attribute."""
    attributes = [
        {"name": "whose", "kind": "nominal", "values": list(HOSPITALS)},
        {"name": "colour", "kind": "nominal", "values": ["red", "blue"]},
    ]
    dictionary = {"class_column": "class", "classes": ["no", "yes"], "attributes": attributes, "max_rows": 8}
    return federation_from(
        {
            "name": "one-hot",
            "parties": [{"name": name} for name in HOSPITALS],
            "mixers": [{"name": name, "address": f"127.0.0.1:400{i}"} for i, name in enumerate(MIXERS)],
            "policy": {"minimum": 2, "budget": BUDGET, "rounds": 1000, "timeout": DEADLINE} | policy,
            "privacy": privacy,
            "recipes": list(recipes),
            "dictionary": dictionary,
        }
    )


def one_hot(layout: Layout, hospital: str) -> Words:
    """The counts of a hospital's only patient, in a cell that nobody else fills."""
    vector, label = np.zeros(layout.size, np.uint64), CLASS_OF[hospital]
    layout.class_counts(vector)[label] = 1
    layout.block(vector, 0)[HOSPITALS.index(hospital), label] = 1
    layout.block(vector, 1)[label, label] = 1
    return vector


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self, now: float = NOON) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@contextmanager
def rounds_in(folder: Path, clock: Clock, me: str = "mixer a", **policy: object) -> Iterator[Rounds]:
    """The rounds of one computing party, as they lie in this folder."""
    with Database.open(folder, COMPUTING_PARTY, Seal(me.encode().ljust(32)), me) as database:
        yield Rounds(database, agreement(None, (), **policy), me, clock)
