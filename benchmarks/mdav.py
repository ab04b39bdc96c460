"""Seconds and memory of MDAV, by blocks and by looking at every row: python benchmarks/mdav.py [FOLDER]

Normal numbers in four sizes, three for every row; by blocks also with half of the rows equal. With FOLDER, which holds
adult.csv, also its numeric columns.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sizes import Work, print_header, print_sizes

from mixbayes.local_methods.microaggregation.mdav import mdav

Points = NDArray[np.float64]

K = 5
SIZES = (16_000, 32_000, 64_000, 128_000)
COLUMNS = (2, 6)


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


def blocks(rows: int, columns: int) -> Work:
    return partial(mdav, drawn(rows, columns), K, lambda rows: None)


def every_row(rows: int, columns: int) -> Work:
    return partial(by_every_row, drawn(rows, columns), K)


def half_equal(rows: int, columns: int) -> Work:
    points = drawn(rows, columns)
    points[::2] = 0
    return partial(mdav, points, K, lambda rows: None)


def drawn(rows: int, columns: int) -> Points:
    return np.random.default_rng(0).normal(size=(rows, columns))


def print_adult(folder: Path) -> None:
    table = pd.read_csv(folder / "adult.csv").select_dtypes("number").astype(float)
    for names in (["age", "hours-per-week"], list(table.columns)):
        points = table[names].to_numpy()
        work = partial(mdav, points, K, lambda rows: None)
        print_sizes(f"adult, {len(names)} columns", [len(table)], len(names), lambda rows, work=work: work)


def main() -> None:
    print(f"Groups of {K}.")
    print_header()
    for columns in COLUMNS:
        print_sizes(f"blocks, {columns} columns", SIZES, columns, partial(blocks, columns=columns))
        print_sizes(f"blocks, half equal, {columns} columns", SIZES, columns, partial(half_equal, columns=columns))
        print_sizes(f"every row, {columns} columns", SIZES[:-1], columns, partial(every_row, columns=columns))
    if len(sys.argv) > 1:
        print_adult(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
