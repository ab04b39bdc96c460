"""Tables for tests: numbers that go together, values that follow them, and gaps."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np

from mixbayes.local_methods.tables import Codes, Column, Nominal, Numeric, Table, nominal_from


def mixed_table(rows: int, seed: int = 0, gaps: float = 0.0) -> Table:
    """Three numbers, of which two are correlated and one is whole, and two nominal columns, one tied to the numbers."""
    random = np.random.default_rng(seed)
    first = random.normal(50, 10, rows)
    numbers = [first, 2 * first + random.normal(0, 3, rows), random.poisson(3, rows).astype(float)]
    tied = np.where(first + random.normal(0, 3, rows) > 50, "high", "low")
    free = random.choice(["a", "b", "c"], rows, p=[0.6, 0.3, 0.1])
    columns: list[Column] = []
    for number in numbers:
        columns.append(Numeric(np.where(random.random(rows) < gaps, np.nan, number)))
    for text in (tied, free):
        columns.append(nominal_from(text, random.random(rows) < gaps))
    return Table(("first", "second", "whole", "tied", "free"), tuple(columns), rows)


def classes(*sizes: int) -> Nominal:
    """So many rows of class A, of class B and so on."""
    names = np.array([chr(ord("A") + at) for at in range(len(sizes))])
    codes: Codes = np.repeat(np.arange(len(sizes)), sizes).astype(np.int64)
    return Nominal(codes, names)


def real_table(name: str, class_column: str = "class") -> tuple[Table, Nominal]:
    """One of the public tables, as the local methods take it."""
    with open(Path(os.environ["MIXBAYES_DATA"], name), newline="") as file:
        header, *rows = csv.reader(file)
    columns: dict[str, Column] = {}
    for column, cells in zip(header, map(np.array, zip(*rows, strict=True)), strict=True):
        missing = np.isin(cells, ["", "?"])
        try:
            numbers = np.where(missing, "nan", cells).astype(float)
            columns[column] = nominal_from(cells, missing) if column == class_column else Numeric(numbers)
        except ValueError:
            columns[column] = nominal_from(cells, missing)
    labels = columns.pop(class_column)
    assert isinstance(labels, Nominal)
    return Table(tuple(columns), tuple(columns.values()), len(rows)), labels
