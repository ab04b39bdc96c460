"""Seconds of MDAV, by blocks and by looking at every row: python benchmarks/mdav.py [FOLDER]

Four sizes; "growth" is the exponent from one size to the next: 2 is quadratic. With FOLDER, which holds adult.csv,
also on its numeric columns.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import log2
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mixbayes.local_methods.mdav import mdav

Points = NDArray[np.float64]

K = 5
SIZES = (16_000, 32_000, 64_000, 128_000)
COLUMNS = (2, 6)
MOST_ROWS_LOOKED_AT = 64_000


def by_every_row(points: Points, k: int) -> None:
    """The same groups, ties aside, each found by a pass over all rows that are left."""
    columns = np.ascontiguousarray(points.T / points.std(axis=0)[:, None])
    while columns.shape[1] >= 2 * k:
        both = columns.shape[1] >= 3 * k
        first = columns[:, distances(columns, columns.mean(axis=1)).argmax()]
        from_first = distances(columns, first)
        second = columns[:, from_first.argmax()]
        columns = np.delete(columns, np.argpartition(from_first, k - 1)[:k], axis=1)
        if both:
            columns = np.delete(columns, np.argpartition(distances(columns, second), k - 1)[:k], axis=1)


def distances(columns: Points, point: Points) -> Points:
    return ((columns - point[:, None]) ** 2).sum(axis=0)


def seconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def by_blocks(points: Points) -> float:
    return seconds(lambda: mdav(points, K, lambda rows: None))


def print_sizes(columns: int) -> None:
    before = None
    for rows in SIZES:
        points = np.random.default_rng(0).normal(size=(rows, columns))
        took = by_blocks(points)
        growth = f"{log2(took / before):7.2f}" if before else " " * 7
        plain = f"{seconds(lambda p=points: by_every_row(p, K)):10.2f}" if rows <= MOST_ROWS_LOOKED_AT else ""
        print(f"normal, {columns} columns  {rows:8,} {took:8.2f} {growth} {plain}", flush=True)
        before = took


def print_adult(folder: Path) -> None:
    table = pd.read_csv(folder / "adult.csv").select_dtypes("number").astype(float)
    for columns in (["age", "hours-per-week"], list(table.columns)):
        took = by_blocks(table[columns].to_numpy())
        print(f"adult, {len(columns)} columns   {len(table):8,} {took:8.2f}", flush=True)


def main() -> None:
    print(f"groups of {K}          {'rows':>8} {'blocks':>8} {'growth':>7} {'every row':>10}")
    for columns in COLUMNS:
        print_sizes(columns)
    if len(sys.argv) > 1:
        print_adult(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
