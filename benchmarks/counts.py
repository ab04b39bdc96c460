"""Seconds to count a table in memory of 1,000,000 rows and 20 columns: python benchmarks/counts.py"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TypeVar

import numpy as np

from mixbayes.protocol.attributes.layout import Layout
from mixbayes.tables.columns import Columns
from mixbayes.tables.counting import counted
from mixbayes.tables.inference import infer

ROWS = 1_000_000
NOMINAL = [2, 3, 4, 5, 8, 10, 10, 10, 12, 15, 20, 40, 100]
GAUSSIAN = 6
CLASSES = 5

Result = TypeVar("Result")


def table(rows: int = ROWS, seed: int = 0) -> Columns:
    """Random cells: 13 nominal columns, 6 of numbers, one cell in fifty missing, and a class."""
    rng = np.random.default_rng(seed)
    cells = [np.array([f"value {i}" for i in range(size)])[rng.integers(0, size, rows)] for size in NOMINAL]
    cells += [rng.normal(100, 15, rows).round(4).astype("U12") for _ in range(GAUSSIAN)]
    cells = [np.where(rng.random(rows) < 0.02, "?", column) for column in cells]
    cells.append(np.array([f"class {i}" for i in range(CLASSES)])[rng.integers(0, CLASSES, rows)])
    names = (*(f"a{i}" for i in range(len(cells) - 1)), "class")
    return Columns.of(names, cells, rows)


def timed(what: str, work: Callable[[], Result]) -> Result:
    start = perf_counter()
    result = work()
    print(f"{what}: {perf_counter() - start:.3f} s")
    return result


def main() -> None:
    columns = table()
    dictionary = timed("infer", lambda: infer([columns]))
    layout = Layout(dictionary)
    timed(f"count, {layout.size} cells", lambda: counted(layout, columns))


if __name__ == "__main__":
    main()
