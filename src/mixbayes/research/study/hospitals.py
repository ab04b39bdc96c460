"""The four hospitals of the heart disease study, and their tables as a federation would agree to count them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mixbayes.protocol.attributes.cells import Texts, numbers
from mixbayes.protocol.errors import BadData
from mixbayes.tables.columns import Columns
from mixbayes.tables.sources.opening import read_table

HOSPITALS = ("cleveland", "hungarian", "switzerland", "va")
FOLDER = "heart4"
CLASS = "class"
ABSENT, PRESENT = CLASSES = ("absent", "present")
PEOPLE = {ABSENT: "healthy", PRESENT: "sick"}
LEAST, LEAST_OF_CLASS = 30, 8
"""Patients of a hospital, and of each class: every fold then holds some, and leaves enough for the protections."""
NEVER_ZERO = ("trestbps", "chol")
"""Blood pressure and cholesterol: a zero stands for what was not measured."""
MISSING = "?"
SOURCE = (
    "UCI 'Heart Disease', processed.cleveland.data (303 rows) as cleveland.csv, processed.hungarian.data (294) as "
    "hungarian.csv, processed.switzerland.data (123) as switzerland.csv and processed.va.data (200) as va.csv. Each "
    "needs the header age,sex,cp,trestbps,chol,fbs,restecg,thalach,exang,oldpeak,slope,ca,thal,class. Write the class "
    f"0 as {ABSENT} and every other class as {PRESENT}, and every whole number as 1, not 1.0."
)
"""What to put into the folder, and where it is from."""


def read_hospitals(folder: Path) -> dict[str, Columns]:
    """The four tables, from the folder or from `heart4` in it."""
    where = folder / FOLDER if (folder / FOLDER).is_dir() else folder
    lacking = [f"{name}.csv" for name in HOSPITALS if not (where / f"{name}.csv").is_file()]
    if lacking:
        raise BadData(
            f"{where} has no {', '.join(lacking)}. The study needs the heart disease tables of four hospitals: {SOURCE}"
        )
    tables = {name: read_table(where / f"{name}.csv") for name in HOSPITALS}
    for table in tables.values():
        _refuse_other_columns(table)
        _refuse_other_classes(table)
        _refuse_too_few(table)
    return tables


def zeros_as_missing(table: Columns) -> Columns:
    """Without the zeros that are no measurements."""
    names = table.names
    cells = (_without_zeros(table.texts(name)) if name in NEVER_ZERO else table.texts(name) for name in names)
    return Columns.of(names, list(cells), table.rows, table.source)


def zeros(tables: Mapping[str, Columns]) -> dict[str, dict[str, int]]:
    """By column and hospital, how many there are."""
    found = {
        column: {name: int((numbers(table.texts(column)) == 0).sum()) for name, table in tables.items()}
        for column in NEVER_ZERO
    }
    return {column: {name: times for name, times in by.items() if times} for column, by in found.items()}


def _without_zeros(cells: Texts) -> Texts:
    return np.where(numbers(cells) == 0, MISSING, cells)


def _refuse_other_columns(table: Columns) -> None:
    lacking = [name for name in (*NEVER_ZERO, CLASS) if name not in table.names]
    if lacking:
        raise BadData(
            f"{table.source}: the study needs a column {' and a column '.join(map(repr, lacking))}, as the heart "
            "disease tables have them."
        )


def _refuse_other_classes(table: Columns) -> None:
    if not set(table.texts(CLASS).tolist()) <= set(CLASSES):
        raise BadData(f"{table.source}: the study needs {ABSENT} or {PRESENT} in every row of the column {CLASS!r}.")


def _refuse_too_few(table: Columns) -> None:
    sizes = {label: int((table.texts(CLASS) == label).sum()) for label in CLASSES}
    if table.rows < LEAST or min(sizes.values()) < LEAST_OF_CLASS:
        found = " and ".join(f"{size} {label}" for label, size in sizes.items())
        raise BadData(
            f"{table.source}: the study needs at least {LEAST} patients, {LEAST_OF_CLASS} of each class, to deal them "
            f"into folds; here are {found}."
        )
