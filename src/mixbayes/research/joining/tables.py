"""Tables cut into hospitals by a column in which sites differ: those reported, and those that the rule was chosen by.

No table is among both. The column that cuts is no attribute afterwards: at a site it would say nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mixbayes.protocol.attributes.cells import numbers
from mixbayes.research.noise.patients import Patients
from mixbayes.research.study.hospitals import CLASS, read_hospitals, zeros_as_missing
from mixbayes.tables.columns import Columns
from mixbayes.tables.inference import infer
from mixbayes.tables.sources.opening import read_table

BINS = 5
LEAST = 50
"""Patients of a site; the others are left out, because at a smaller one a point is less than half a patient."""
MISSING = "?"


@dataclass(frozen=True, eq=False)
class Sites:
    """A table by site."""

    names: tuple[str, ...]
    patients: Patients

    @classmethod
    def of(cls, tables: dict[str, Columns], gaussian: bool = False) -> Sites:
        """Cut points and bounds are taken from the tables, as if they were public."""
        some = list(tables.values())
        return cls(tuple(tables), Patients.of(infer(some, bins=None if gaussian else BINS), some))


@dataclass(frozen=True)
class Cut:
    """How a table becomes several."""

    table: str
    by: str
    why: str = ""
    quarters: bool = False
    """Whether numbers are cut at their quartiles; else every value is a site."""
    target: str | None = None
    """The numbers whose median divides high from low, where the table has no classes."""
    first: int | None = None
    """So many rows alone."""

    @property
    def name(self) -> str:
        return f"{self.table} by {self.by}"

    def sites(self, folder: Path) -> Sites:
        table = read_table(folder / f"{self.table}.csv")
        table = table.take(np.arange(self.first or table.rows))
        names, at = self._site_of_each(table)
        apart = _without(_with_classes(table, self.target), {self.by, self.target})
        rows = {name: np.flatnonzero(at == one) for one, name in enumerate(names) if name != MISSING}
        return Sites.of({name: apart.take(own) for name, own in rows.items() if len(own) >= LEAST})

    def _site_of_each(self, table: Columns) -> tuple[list[str], np.ndarray]:
        cells = table.texts(self.by)
        if not self.quarters:
            names, at = np.unique(cells, return_inverse=True)
            return [str(name) for name in names], at
        values = numbers(cells)
        edges = np.quantile(values, (0.25, 0.5, 0.75))
        return _ranges(edges), np.searchsorted(edges, values, side="right")


def _ranges(edges: np.ndarray) -> list[str]:
    first, second, third = (f"{edge:g}" for edge in edges)
    return [f"below {first}", f"{first} to {second}", f"{second} to {third}", f"{third} and more"]


def _with_classes(table: Columns, target: str | None) -> Columns:
    if target is None:
        return table
    values = numbers(table.texts(target))
    classes = np.where(values > np.median(values), "high", "low")
    cells = [table.texts(name) for name in table.names]
    return Columns.of((*table.names, CLASS), [*cells, classes], table.rows, table.source)


def _without(table: Columns, gone: set[str | None]) -> Columns:
    names = tuple(name for name in table.names if name not in gone)
    return Columns.of(names, [table.texts(name) for name in names], table.rows, table.source)


def heart(folder: Path, gaussian: bool = False) -> Sites:
    """The four hospitals, zeros that are no measurement taken as missing."""
    return Sites.of({name: zeros_as_missing(table) for name, table in read_hospitals(folder).items()}, gaussian)


REPORTED = (
    Cut("german_credit", "purpose", "what the credit is for: departments of a bank, which see other customers"),
    Cut("adult", "workclass", "who employs: as hospitals are private or of a state", first=8000),
    Cut("boston_housing", "RAD", "which highway is near: districts of a city", target="MEDV"),
    Cut("pima", "age", "quarters by age: wards for the young and the old", quarters=True),
)
CHOSEN_BY = (
    Cut("adult_test", "occupation", first=4000),
    Cut("adult_test", "native-country"),
    Cut("credit_approval", "A6"),
    Cut("credit_approval", "A7"),
    Cut("wages_cps85", "occupation", target="wage"),
    Cut("wages_cps85", "sector", target="wage"),
    Cut("breast_cancer_ljubljana", "age"),
    Cut("breast_cancer_ljubljana", "breast-quad"),
)
