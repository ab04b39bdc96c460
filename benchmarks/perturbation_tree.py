"""Seconds and memory of the perturbation tree over 10 columns: python benchmarks/perturbation_tree.py [ROWS]

Four sizes up to ROWS, by default a million. "growth" is the exponent from one size to the next: 1 is linear. Memory
is the most that was held at once beyond the table itself, per cell of the table.
"""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable, Mapping
from math import log2
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from mixbayes.local_methods.perturbation_tree import PerturbationTree

Table = NDArray[np.float64]

COLUMNS = 10
LEAF_SIZE = 8
KINDS: Mapping[str, Callable[[np.random.Generator, int], Table]] = {
    "uniform": lambda random, rows: random.random((rows, COLUMNS)),
    "normal": lambda random, rows: random.normal(size=(rows, COLUMNS)),
    "heavy tails": lambda random, rows: random.lognormal(sigma=2, size=(rows, COLUMNS)),
    "few values": lambda random, rows: random.integers(0, 4, (rows, COLUMNS)).astype(float),
}


def tree(split: str) -> PerturbationTree:
    return PerturbationTree(leaf_size=LEAF_SIZE, confidential=["x0"], split=split, random_state=0)


def seconds(table: Table, split: str) -> float:
    start = perf_counter()
    tree(split).fit_resample(table)
    return perf_counter() - start


def bytes_per_cell(table: Table, split: str) -> float:
    tracemalloc.start()
    tree(split).fit_resample(table)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / table.size


def main() -> None:
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    print(f"{'table':12} {'split':9} {'rows':>9} {'seconds':>8} {'growth':>7} {'bytes per cell':>15}")
    for kind, draw in KINDS.items():
        for split in ("midrange", "median"):
            before = None
            for rows in (most // 8, most // 4, most // 2, most):
                table = draw(np.random.default_rng(0), rows)
                took = seconds(table, split)
                growth = f"{log2(took / before):7.2f}" if before else " " * 7
                memory = bytes_per_cell(table, split)
                print(f"{kind:12} {split:9} {rows:9,} {took:8.2f} {growth} {memory:15.1f}", flush=True)
                before = took


if __name__ == "__main__":
    main()
