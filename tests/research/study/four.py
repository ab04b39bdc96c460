"""Four tables like those of the heart disease study, of which is known what a classifier can learn."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mixbayes.research.study.hospitals import ABSENT, HOSPITALS, PRESENT
from mixbayes.tables.columns import Columns

ABSENT_AT: Mapping[str, int] = {"cleveland": 40, "hungarian": 39, "switzerland": 9, "va": 36}
ROWS = 72
CONTRARY = "va"
"""Where the signs mean the opposite."""


def four_tables() -> dict[str, Columns]:
    """Of each hospital 72 patients with three signs that give the class away, and columns that say nothing."""
    random = np.random.default_rng(7)
    return {name: _table(name, random) for name in HOSPITALS}


def _table(name: str, random: np.random.Generator) -> Columns:
    classes = np.array([ABSENT] * ABSENT_AT[name] + [PRESENT] * (ROWS - ABSENT_AT[name]))
    sick = (classes == PRESENT) != (name == CONTRARY)
    cells = {
        "age": random.integers(30, 80, ROWS).astype(str),
        "sign": np.where(sick, "yes", "no"),
        "mark": np.where(sick, "red", "white"),
        "rash": np.where(sick, "wide", "none"),
        "trestbps": np.array(["120"] * ROWS),
        "chol": np.array(["0" if name == "switzerland" else "200"] * ROWS),
        "class": classes,
    }
    columns = tuple(np.asarray(column, dtype=np.str_) for column in cells.values())
    return Columns.of(tuple(cells), columns, ROWS, f"{name}.csv")


def write_tables(folder: Path) -> None:
    """As CSV files, where the command looks for them."""
    for name, table in four_tables().items():
        lines = [",".join(row) for row in zip(*map(table.texts, table.names), strict=True)]
        (folder / f"{name}.csv").write_text("\n".join([",".join(table.names), *lines]) + "\n")
