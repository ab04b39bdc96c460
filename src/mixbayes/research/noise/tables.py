"""The tables that are measured, and the ones by which choices were made: no table is among both."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mixbayes.research.noise.patients import Patients
from mixbayes.research.study.hospitals import read_hospitals
from mixbayes.tables.inference import infer
from mixbayes.tables.sources.opening import read_table

HEART = "heart4"
BINS = 5


@dataclass(frozen=True)
class Form:
    """A table, with its numbers binned or as normal distributions."""

    table: str
    normal: bool = False

    @property
    def name(self) -> str:
        return f"{self.table}, normal" if self.normal else self.table

    def patients(self, folder: Path) -> Patients:
        """Cut points and bounds are taken from the table, as if they were public."""
        tables = list(read_hospitals(folder).values()) if self.table == HEART else [self._read(folder)]
        return Patients.of(infer(tables, bins=None if self.normal else BINS), tables)

    def _read(self, folder: Path):
        return read_table(folder / f"{self.table}.csv")


def both(*tables: str) -> list[Form]:
    return [Form(table, normal) for table in tables for normal in (False, True)]


REPORTED = [*both(HEART, "adult", "wdbc", "pima", "waveform"), Form("vote"), Form("breast_cancer_ljubljana")]
CHOSEN_BY = [Form("credit_approval"), Form("german_credit"), Form("ionosphere"), Form("wine"), Form("iris")]
CHOSEN_BY_NORMAL = [Form(one, True) for one in ("credit_approval", "german_credit_numeric", "ionosphere", "wine", "iris")]
