"""Tournament against all pairs, two processes over local sockets: python benchmarks/argmax.py [ROWS]

Up to ROWS rows, by default 1,000. Prints milliseconds for each and the number of comparisons all pairs take at once,
which is what `argmax.MOST_COMPARISONS_AT_ONCE` is chosen by.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection

import numpy as np

from mixbayes.protocol.circuits.argmax import all_pairs, tournament
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.pool import connect_pair
from mixbayes.simulation.crew import Crew
from mixbayes.simulation.links import MIXERS, Link

WIDTH = 41
WAYS = {"tournament": tournament, "all pairs": all_pairs}
REPEATS = 7
Case = tuple[int, int]
"""Classes and rows."""


def role(report: Connection, number: int, other: Link, cases: Sequence[Case]) -> None:
    """Run every case both ways and report the medians."""
    random = Randomness.from_system()
    channel, ahead = other.channels(MIXERS[1 - number], 60.0)
    me = ComputingParty(number, channel, connect_pair(number, ahead, random), random)
    for classes, n in cases:
        scores = np.random.default_rng(number).integers(0, 2**WIDTH, (classes, n), dtype=np.uint64)
        for way in WAYS.values():
            report.send(statistics.median(_seconds(way, me, scores) for _ in range(REPEATS)))


def _seconds(way: object, me: ComputingParty, scores: np.ndarray) -> float:
    assert callable(way)
    me.channel.swap("ready", b"")
    start = time.perf_counter()
    way(me, scores, WIDTH)
    return time.perf_counter() - start


def main(most: int = 1000) -> None:
    cases = [(classes, n) for classes in (3, 5, 10, 26) for n in (1, 10, 100, 1000) if n <= most]
    with Crew() as crew:
        a_b, b_a = Link.pair()
        crew.start(MIXERS[A], role, A, a_b, cases)
        crew.start(MIXERS[B], role, B, b_a, cases)
        print(f"{'classes':>7} {'rows':>5} {'comparisons':>11} {'tournament':>11} {'all pairs':>10}   ms")
        for classes, n in cases:
            took = [1000 * crew.hear(MIXERS[A]) for _ in WAYS]
            print(f"{classes:7} {n:5} {classes * (classes - 1) // 2 * n:11} {took[0]:11.2f} {took[1]:10.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
