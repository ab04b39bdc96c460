"""What a search for the value of a parameter has found, in every way that `mixbayes tune` tells it."""

from __future__ import annotations

import io
import shlex
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import ceil, isnan
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table as Shown
from rich.text import Text

from mixbayes.report.figures import many

if TYPE_CHECKING:
    from mixbayes.local_methods.base import Progress
    from mixbayes.local_methods.tables import Nominal, Table
    from mixbayes.local_methods.tuning.searches import Tried
    from mixbayes.report.page import Page


class Classifier(StrEnum):
    NEAREST_NEIGHBOUR = "nearest-neighbour"
    NAIVE_BAYES = "naive-bayes"
    TREE = "tree"
    SVM = "svm"


@dataclass(frozen=True)
class Rules:
    """How it is searched, whatever is searched for."""

    search: str
    gap: float
    most: int
    classifier: Classifier | None
    repeats: int
    seed: int

    def parameters(self) -> dict[str, Any]:
        """What both searches are told."""
        nearest = self.classifier in (None, Classifier.NEAREST_NEIGHBOUR)
        return {
            "search": self.search,
            "accuracy_gap": self.gap,
            "classifier": None if nearest else str(self.classifier),
            "repeats": self.repeats,
            "random_state": self.seed,
        }


@dataclass(frozen=True)
class Asked:
    """What the command was about, for the one that releases the table."""

    source: str
    rows: int
    class_col: str | None
    nominal: str
    numeric: str

    def judged(self, test_share: float, repeats: int) -> str:
        """What an accuracy is a mean of, so that chance is not taken for a gain."""
        asked = ceil(test_share * self.rows)  # as scikit-learn rounds it
        points = 100 / (asked * repeats)
        times = f", {repeats} times" if repeats > 1 else ""
        return f"Judged on {many(asked, 'row')}{times}: one answer is {points:.2g} points of accuracy."

    def line(self, method: str, settings: Sequence[str]) -> str:
        """What is typed to release the table with these settings."""
        given = (("--class-column", self.class_col), ("--nominal", self.nominal), ("--numeric", self.numeric))
        named = [word for option, value in given if value for word in (option, value)]
        said = [word for setting in settings for word in ("--set", setting)]
        return shlex.join(["mixbayes", "protect", self.source, "OUT", "--method", method, *said, *named])


@dataclass(frozen=True)
class Found:
    """A search that is done, in the words of what was searched for."""

    method: str
    parameter: str
    """What people call it: `group size`, or the name of the parameter."""
    values: str
    """Several of them: `sizes`, `values`."""
    tried: Sequence[Tried]
    best: Tried
    most: str
    """What is chosen where nothing measures privacy: the largest value, or the smallest."""
    measure: str
    """What measures privacy, in words."""
    search: str
    gap: float
    test_share: float
    without: str
    """What it would be without a search; empty if nothing is known."""
    commonest: float
    """The accuracy of whoever gives every row the commonest class."""
    judged: str
    line: str

    @property
    def sentence(self) -> str:
        """The result."""
        most = self.most if isnan(self.best.privacy) else "most privacy"
        named = f"{self.parameter[0].upper()}{self.parameter[1:]} " if self.without else f"{self.parameter} = "
        without = f"; without a search it would be {self.without}" if self.without else ""
        return (
            f"{named}{self.best.value:g}: the {most} among {self.values} within {self.gap:.0%} of the best "
            f"accuracy{without}."
        )


class Search(ABC):
    """What is searched for: begun with settings, fitted to a table, and told."""

    @abstractmethod
    def fit(self, table: Table, labels: Nominal | None, progress: Progress) -> None:
        """Search."""

    @abstractmethod
    def found(self, asked: Asked) -> Found:
        """What the search has found, in its words."""

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """What --json prints."""


def _nothing_learned(found: Found) -> str:
    """What an accuracy is to be compared with."""
    return f"To give every row the commonest class would be right for {found.commonest:.2%}."


def plain(privacy: float) -> float | None:
    """As JSON has it."""
    return None if isnan(privacy) else privacy


def show(found: Found) -> None:
    """The values for people, on stdout."""
    console = Console(highlight=False)
    table = Shown(found.parameter, "accuracy", "privacy", "", title=f"{len(found.tried)} {found.values} tried")
    for one in found.tried:
        privacy = "none" if isnan(one.privacy) else f"{one.privacy:.4f}"
        table.add_row(f"{one.value:g}", f"{one.accuracy:.2%}", privacy, "chosen" if one is found.best else "")
    console.print(table)
    for told in (
        found.sentence,
        f"Privacy: {found.measure}.",
        found.judged,
        _nothing_learned(found),
        f"Next: {found.line}",
    ):
        console.print(Text(told), soft_wrap=True)


def written(found: Found) -> Page:
    """The report."""
    from mixbayes.report.tuned import Point, Tuning, tuned  # slow to import

    return tuned(
        Tuning(
            method=found.method,
            found=found.sentence,
            how=f"{len(found.tried)} {found.values} were tried ({found.search} search), and judged on "
            f"{found.test_share:.0%} of the rows, which are never released. {found.judged} {_nothing_learned(found)}",
            privacy=found.measure,
            points=[
                Point(f"{one.value:g}", one.accuracy, plain(one.privacy), one.value, one is found.best)
                for one in found.tried
            ],
            setting=found.parameter,
        )
    )


def drawn(found: Found) -> bytes:
    """The picture, a PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # slow to import, and needs no display
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    canvas = FigureCanvasAgg(figure)
    values = [one.value for one in found.tried]
    left: Any = figure.add_subplot()
    right = left.twinx()
    left.plot(values, [one.accuracy for one in found.tried], "o-", color="tab:blue")
    right.plot(values, [one.privacy for one in found.tried], "s--", color="tab:orange")
    left.axvline(found.best.value, color="gray", linestyle=":")
    left.set_xlabel(f"{found.parameter} (found: {found.best.value:g})")
    left.set_ylabel("accuracy", color="tab:blue")
    right.set_ylabel(f"privacy: {found.measure}", color="tab:orange")
    file = io.BytesIO()
    canvas.print_figure(file, format="png")
    return file.getvalue()
