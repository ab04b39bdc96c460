"""The check of contributions, two processes over local sockets: python benchmarks/validity.py [CELLS]

Prints seconds from empty pools, transfers a cell (each way counted as one) and megabytes both ways together, for
hospitals of CELLS cells, by default 5,000.
"""

from __future__ import annotations

import resource
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection

import numpy as np

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.gaussian_moments import PRESENT
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.bayes.validity import honest
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.shares import split
from mixbayes.protocol.transfer.extension import Received, Sent
from mixbayes.protocol.transfer.pool import Marks, PairPool, connect_pair
from mixbayes.simulation.crew import Crew
from mixbayes.simulation.links import MIXERS, Link
from mixbayes.transport.meter import Moved

HOSPITALS = 10
LIAR = 3
REPEATS = 5
CELLS = 5_000
MARKS = Marks(1, 1)
"""Nothing is made ahead, so that transfers are made as they are needed and can be counted."""


@dataclass(frozen=True)
class Case:
    """Public facts about one run: so many cells a hospital, or as close as the layout allows."""

    name: str
    rows: int
    nominal: int
    numeric: int

    @property
    def layout(self) -> Layout:
        values = tuple(str(v) for v in range(10))
        attributes = [Nominal(name=f"nominal {i}", values=values) for i in range(self.nominal)]
        numbers = [Gaussian(name=f"numeric {i}", low=0.0, high=1.0) for i in range(self.numeric)]
        classes = tuple(f"class {c}" for c in range(5))
        return Layout(
            Dictionary(class_column="class", classes=classes, attributes=(*attributes, *numbers), max_rows=self.rows)
        )


CASES = [
    Case("nominal, 2^20 rows", 2**20, 91, 0),
    Case("nominal, 2^40 rows", 2**40, 91, 0),
    Case("half the attributes numeric, 2^20 rows", 2**20, 62, 63),
    Case("numeric, 2^20 rows", 2**20, 0, 200),
]


class Counting(PairPool):
    """Counts what it hands out."""

    def __init__(self, pool: PairPool) -> None:
        vars(self).update(vars(pool))
        self.taken = 0

    def take(self, count: int) -> tuple[Sent, Received]:
        self.taken += count
        return super().take(count)


@dataclass(frozen=True)
class Lap:
    """What mixer A saw of one run."""

    seconds: float
    taken: int
    bytes: int
    rounds: int
    megabytes: float


def contributions(layout: Layout, role: int) -> list[Words]:
    """This mixer's shares of every hospital's counts; one hospital lies."""
    shares = []
    for hospital in range(HOSPITALS):
        vector = np.zeros(layout.size, np.uint64)
        layout.class_counts(vector)[:] = 1000
        for i, attribute in enumerate(layout.dictionary.attributes):
            row = PRESENT if attribute.numeric else hospital % 10
            layout.block(vector, i)[row] = 1000
        if hospital == LIAR:
            vector[0] -= np.uint64(1)
        both = split(vector, hospital.to_bytes(32, "little"))
        shares.append(both.for_a() if role == A else both.for_b())
    return shares


def mixer(report: Connection, role: int, other: Link, cases: Sequence[Case]) -> None:
    """Check every case several times."""
    random = Randomness.from_system()
    channel, ahead = other.channels(MIXERS[1 - role], 60.0)
    pool = Counting(connect_pair(role, ahead, random, MARKS))
    me = ComputingParty(role, channel, pool, random)
    for case in cases:
        layout = case.layout
        shares = contributions(layout, role)
        for _ in range(1 + REPEATS):  # the first one warms allocators and caches
            channel.swap("ready", b"")
            before, taken, start = Moved.by(channel) + Moved.by(ahead), pool.taken, time.perf_counter()
            verdicts = honest(me, layout, shares)
            seconds, after = time.perf_counter() - start, Moved.by(channel) + Moved.by(ahead)
            assert verdicts == [hospital != LIAR for hospital in range(HOSPITALS)]
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            moved, rounds = after.bytes - before.bytes, after.rounds - before.rounds
            report.send(Lap(seconds, pool.taken - taken, moved, rounds, peak))


def main(cells: int = CELLS) -> None:
    cases = [Case(one.name, one.rows, one.nominal * cells // CELLS, one.numeric * cells // CELLS) for one in CASES]
    with Crew() as crew:
        a_b, b_a = Link.pair()
        crew.start(MIXERS[A], mixer, A, a_b, cases)
        crew.start(MIXERS[B], mixer, B, b_a, cases)
        print(f"{HOSPITALS} hospitals{'':30}   cells      s  transfers a cell      MB  rounds  peak MB")
        for case in cases:
            laps = [crew.hear(MIXERS[A]) for _ in range(1 + REPEATS)][1:]
            size, last = case.layout.size, laps[-1]
            seconds = statistics.median(lap.seconds for lap in laps)
            print(
                f"{case.name:42} {size:7} {seconds:6.2f} {2 * last.taken / size / HOSPITALS:17.1f} "
                f"{last.bytes / 1e6:7.1f} {last.rounds:7} {last.megabytes:8.0f}"
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
