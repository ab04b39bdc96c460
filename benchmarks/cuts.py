"""What finding cut points costs, and how far noise moves them: python benchmarks/cuts.py

First the seconds, the bytes and the rounds of messages of 13 columns of numbers on grids, both computing parties in
memory. Then how far the quantiles of noisy histograms lie from those that were asked for, as a share of all patients:
as they are found, and if every cell were clamped at zero first. The columns are drawn from a logarithmic normal
distribution, which has most of its patients in few cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import numpy as np

from mixbayes.privacy.choosing import normal_deviation
from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.binned import Binned
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes.cuts import cuts_on_shares
from mixbayes.protocol.bayes.quantiles import Counts, quantiles
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.pool import connect_pair

COLUMNS, CLASSES, BINS, DELTA = 13, 2, 5, 1e-6
GRIDS = (32, 64, 256)
PATIENTS = (1_000, 10_000)
EPSILONS = (4.0, 1.0)
DRAWS = 40


def layout_of(cells: int) -> Layout:
    cuts = tuple(float(cut) for cut in range(1, cells))
    columns = tuple(Binned(name=f"x{at}", low=0.0, high=float(cells), cuts=cuts) for at in range(COLUMNS))
    dictionary = Dictionary(class_column="class", classes=tuple(map(str, range(CLASSES))), attributes=columns)
    return Layout(dictionary, Terms(hospitals=4))


def column(patients: int, cells: int, random: np.random.Generator) -> Counts:
    """So many patients on the grid, of which the long tail makes most cells nearly empty."""
    numbers = random.lognormal(0.0, 1.0, patients)
    return np.bincount(np.minimum(numbers / 12 * cells, cells - 1).astype(np.int64), minlength=cells)


def cost(cells: int, patients: int) -> None:
    layout, random = layout_of(cells), np.random.default_rng(1)
    vector = np.zeros(layout.size, np.uint64)
    for _, block in layout.blocks(vector):
        block[:-1, 0] = column(patients // 2, cells, random)
        block[:-1, 1] = column(patients // 2, cells, random)
    of_a = Randomness(bytes(32)).words(layout.size)
    now, ahead = memory.channels("party A", "party B"), memory.channels("party A", "party B")

    def party(role: int, share: Words) -> Channel:
        own = Randomness(bytes([role + 1]) * 32)
        me = ComputingParty(role, now[role], connect_pair(role, ahead[role], own), own)
        cuts_on_shares(me, layout, share, BINS)
        return me.channel

    start = perf_counter()
    channel, _ = memory.together(lambda: party(A, of_a), lambda: party(B, vector - of_a))
    took, traffic = perf_counter() - start, channel.traffic
    print(
        f"{COLUMNS} columns on {cells} cells, {CLASSES} classes: {took:.2f} s, {traffic.rounds} rounds, "
        f"{traffic.sent:,} bytes each way besides random transfers",
        flush=True,
    )


def distance(histogram: Counts, noisy: Counts) -> float:
    """How far, in patients, the cells that are found lie from those that were asked for."""
    up_to = np.append(0, np.cumsum(histogram))
    (found,) = quantiles([noisy.astype(np.uint64)], BINS)
    wanted = np.arange(1, BINS) / BINS * up_to[-1]
    return float(np.maximum(0, np.maximum(up_to[found] - wanted, wanted - up_to[found + 1])).mean() / up_to[-1])


def noise(cells: int, patients: int, epsilon: float, draws: int) -> None:
    deviation, random = normal_deviation(epsilon, DELTA, COLUMNS + 1), np.random.default_rng(2)
    found: list[tuple[float, float]] = []
    for _ in range(draws):
        parts = [column(patients // CLASSES, cells, random) for _ in range(CLASSES)]
        noisy = [part + np.rint(random.normal(0, deviation, cells)).astype(np.int64) for part in parts]
        exact, as_found, clamped = np.stack([parts, noisy, np.maximum(noisy, 0)]).sum(axis=1)
        found.append((distance(exact, as_found), distance(exact, clamped)))
    own, other = np.mean(found, axis=0) * 100
    print(f"{cells:5} {patients:9,} {epsilon:8g} {own:9.1f} {other:9.1f}", flush=True)


def main(grids: Sequence[int] = GRIDS, patients: Sequence[int] = PATIENTS, draws: int = DRAWS) -> None:
    for cells in grids:
        cost(cells, patients[0])
    print(f"{'cells':>5} {'patients':>9} {'epsilon':>8} {'as found':>9} {'clamped':>9}   % of all patients")
    for cells in grids:
        for some in patients:
            for epsilon in EPSILONS:
                noise(cells, some, epsilon, draws)


if __name__ == "__main__":
    main()
