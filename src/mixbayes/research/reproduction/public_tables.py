"""The public tables of the papers: what each is called, and where it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ENDINGS = (".csv", ".parquet")


@dataclass(frozen=True)
class PublicTable:
    """A table that somebody has to put in the folder."""

    name: str
    data_set: str
    """By its name in the repository that it comes from."""
    rows: int
    others: tuple[str, ...] = ()
    """Other names that its file may have."""
    labelled: bool = True
    hint: str = ""
    """What has to be done to the source, beyond a header."""
    nominal: tuple[int, ...] = ()
    """The columns, counted from 1, whose numbers are codes of names. By position: a header may call them anything."""

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.name}.csv"

    def file_in(self, folder: Path | None) -> Path | None:
        """Where it is, if it is there."""
        if folder is None:
            return None
        names = [folder / f"{name}{ending}" for name in (self.name, *self.others) for ending in ENDINGS]
        return next((path for path in names if path.is_file()), None)

    def remedy(self) -> str:
        """What to put there."""
        form = "a header, the class last and named `class`" if self.labelled else "a header"
        hint = "".join(f"; {part}" for part in (self.hint, self._codes()) if part)
        return (
            f"Put {self.data_set}, {self.rows:,} rows, there as {self.file} with {form}, and `?` where a cell is "
            f"missing{hint}."
        )

    def nominal_names(self, header: Sequence[str]) -> list[str]:
        """What a header calls the columns whose numbers are codes."""
        return [header[at - 1] for at in self.nominal]

    def _codes(self) -> str:
        if not self.nominal:
            return ""
        return f"columns {', '.join(map(str, self.nominal))}, by any name, hold codes and are read as nominal"


ADULT = PublicTable("adult", "UCI 'Adult' (adult.data)", 32561)
ADULT_TEST = PublicTable("adult_test", "UCI 'Adult' (adult.test)", 16281, hint="no dot after the class")
AISOFFER = PublicTable(
    "aisoffer",
    "the salary offers to MIS faculty (AISOffer)",
    443,
    ("ais_offer", "aisoffers"),
    labelled=False,
    hint="the column to be protected has `salary` in its name",
)
BREAST_CANCER_LJUBLJANA = PublicTable("breast_cancer_ljubljana", "UCI 'Breast Cancer' (breast-cancer.data)", 286)
BREAST_CANCER_WISCONSIN = PublicTable(
    "breast_cancer_wisconsin",
    "UCI 'Breast Cancer Wisconsin (Original)' (breast-cancer-wisconsin.data)",
    699,
    ("breast-cancer-wisconsin", "wisconsin", "breast_w", "breast-w"),
    hint="without the sample code number",
)
CMC = PublicTable(
    "cmc",
    "UCI 'Contraceptive Method Choice' (cmc.data)",
    1473,
    ("contraceptive_method_choice",),
    nominal=(2, 3, 5, 6, 7, 8, 9),
)
CREDIT_APPROVAL = PublicTable(
    "credit_approval", "UCI 'Credit Approval' (crx.data)", 690, ("crx",), hint="attributes named A1 to A15"
)
GERMAN_CREDIT = PublicTable(
    "german_credit",
    "UCI 'Statlog (German Credit Data)' (german.data)",
    1000,
    hint="among the names are status, duration, credit_history, purpose, credit_amount, savings, other_debtors, "
    "property and other_installment_plans",
)
GERMAN_CREDIT_NUMERIC = PublicTable(
    "german_credit_numeric", "UCI 'Statlog (German Credit Data)' (german.data-numeric)", 1000
)
HEART_CLEVELAND = PublicTable(
    "heart_cleveland",
    "UCI 'Heart Disease' (processed.cleveland.data)",
    303,
    hint="the nominal attributes are named sex, cp, fbs, restecg, exang, slope and thal",
)
HEART_STATLOG = PublicTable("heart_statlog", "UCI 'Statlog (Heart)' (heart.dat)", 270)
HOUSING = PublicTable(
    "boston_housing",
    "the Boston housing data (UCI 'Housing', housing.data)",
    506,
    ("housing",),
    labelled=False,
    hint="MEDV and RM are among the names",
)
IONOSPHERE = PublicTable("ionosphere", "UCI 'Ionosphere' (ionosphere.data)", 351)
IRIS = PublicTable("iris", "UCI 'Iris' (iris.data)", 150)
MAGIC = PublicTable(
    "magic",
    "UCI 'MAGIC Gamma Telescope' (magic04.data)",
    19020,
    ("magic04", "magic_gamma_telescope", "magic_gamma"),
)
MAMMOGRAPHIC = PublicTable(
    "mammographic_masses",
    "UCI 'Mammographic Mass' (mammographic_masses.data)",
    961,
    ("mammographic_mass", "mammographic", "mammography"),
)
NURSERY = PublicTable("nursery", "UCI 'Nursery' (nursery.data)", 12960)
PIMA = PublicTable("pima", "UCI 'Pima Indians Diabetes' (pima-indians-diabetes.data)", 768)
VOTE = PublicTable("vote", "UCI 'Congressional Voting Records' (house-votes-84.data)", 435)
WAGES = PublicTable(
    "wages_cps85",
    "the wages of the Current Population Survey of 1985 (StatLib, CPS_85_Wages)",
    534,
    labelled=False,
    hint="experience and wage are among the names, and the rows are in their order there",
)
WAVEFORM = PublicTable("waveform", "UCI 'Waveform Database Generator, Version 2' (waveform-+noise.data)", 5000)
WDBC = PublicTable("wdbc", "UCI 'Breast Cancer Wisconsin (Diagnostic)' (wdbc.data)", 569, hint="without the ID number")
WINE = PublicTable("wine", "UCI 'Wine' (wine.data)", 178, hint="alcohol and proline are among the names")
