"""Seconds to count a table in memory of 1,000,000 rows: python benchmarks/counts.py

The table has 20 columns. Then comes one column alone whose cells hold five of a thousand codes.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TypeVar

import numpy as np

from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.several import MOST_VALUES, Several
from mixbayes.tables.columns import Columns
from mixbayes.tables.counting import counted
from mixbayes.tables.inference import infer

ROWS = 1_000_000
NOMINAL = [2, 3, 4, 5, 8, 10, 10, 10, 12, 15, 20, 40, 100]
GAUSSIAN = 6
CLASSES = 5
CODES, CODES_OF_A_CELL = MOST_VALUES, 5

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


def lists(rows: int = ROWS, seed: int = 0) -> tuple[Dictionary, Columns]:
    """One column of lists, and a class."""
    rng = np.random.default_rng(seed)
    codes = [f"C{i:03d}" for i in range(CODES)]
    cells = [";".join([codes[i] for i in own]) for own in rng.integers(0, CODES, (rows, CODES_OF_A_CELL)).tolist()]
    classes = tuple(f"class {i}" for i in range(CLASSES))
    labels = np.array(classes)[rng.integers(0, CLASSES, rows)]
    attribute = Several(name="codes", values=tuple(codes))
    dictionary = Dictionary(class_column="class", classes=classes, attributes=(attribute,))
    return dictionary, Columns.of(("codes", "class"), (np.array(cells), labels), rows)


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
    of_lists, column = lists()
    layout = Layout(of_lists)
    timed(f"count lists of {CODES_OF_A_CELL}, {layout.size} cells", lambda: counted(layout, column))


if __name__ == "__main__":
    main()
