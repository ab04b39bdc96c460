"""The tables that are measured, and the ones by which choices were made: no table is among both."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mixbayes.research.noise.patients import Patients
from mixbayes.research.study.hospitals import read_hospitals
from mixbayes.tables.columns import Columns
from mixbayes.tables.inference import infer
from mixbayes.tables.sources.opening import read_table

HEART = "heart4"
BINS = 5


@dataclass(frozen=True)
class Form:
    """A table, with its numbers binned or as Gaussian attributes."""

    table: str
    gaussian: bool = False
    first: int | None = None
    """So many rows alone."""

    @property
    def name(self) -> str:
        first = f" ({self.first:,} rows)" if self.first else ""
        return f"{self.table}{first}{', Gaussian' if self.gaussian else ''}"

    def patients(self, folder: Path) -> Patients:
        """Cut points and bounds are taken from the table, as if they were public."""
        tables = list(read_hospitals(folder).values()) if self.table == HEART else [self._read(folder)]
        tables = [table.take(np.arange(self.first or table.rows)) for table in tables]
        return Patients.of(infer(tables, bins=None if self.gaussian else BINS), tables)

    def _read(self, folder: Path) -> Columns:
        return read_table(folder / f"{self.table}.csv")


def both(*tables: str) -> list[Form]:
    """Binned and Gaussian."""
    return [Form(table, gaussian) for table in tables for gaussian in (False, True)]


REPORTED = [*both(HEART, "adult", "wdbc", "pima", "waveform"), Form("vote"), Form("breast_cancer_ljubljana")]
ALL_NUMBERS = ("wdbc", "pima", "waveform")
"""Without a missing cell, too."""
CHOSEN_BY = [
    *map(Form, ("credit_approval", "german_credit", "ionosphere", "wine", "iris")),
    *(Form(name, gaussian=True) for name in ("credit_approval", "german_credit_numeric", "ionosphere", "wine", "iris")),
    *(Form("adult_test", gaussian, 1_000) for gaussian in (False, True)),
]
"""No patient of the tables above is in these."""
