"""The document of an evaluation: one for each hospital, the same for people, `--json` and pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mixbayes.evaluation import confusion as figures
from mixbayes.evaluation.intervals import area_interval, wilson
from mixbayes.evaluation.opened import Counts, Opened
from mixbayes.evaluation.recommendation import Difference, Recommendation, recommend
from mixbayes.evaluation.roc import area, calibration, roc
from mixbayes.protocol.errors import LocalError


@dataclass(frozen=True)
class Table:
    """What the agreement says of the table that was evaluated on."""

    classes: tuple[str, ...]
    class_column: str
    columns: tuple[str, ...]
    """Of the attributes."""
    folds: int


@dataclass(frozen=True)
class Evaluation:
    """Of one hospital, or of all together."""

    hospital: str
    table: Table
    own: Opened
    recipes: tuple[Opened, ...]
    recommendation: Recommendation

    def as_json(self) -> dict[str, Any]:
        """What `evaluate --json` prints."""
        classes = self.table.classes
        at, share = figures.commonest(self.own.confusion)
        return {
            "hospital": self.hospital,
            "rows": int(self.own.counts.sum()),
            "classes": list(classes),
            "class_column": self.table.class_column,
            "columns": list(self.table.columns),
            "folds": self.table.folds,
            "commonest_class": {"class": classes[at], "share": share},
            "own": _result(self.own, classes),
            "recipes": [_result(one, classes) | _beside_own(one) for one in self.recipes],
            "recommended": self.recommendation.recipe,
            "best": self.recommendation.best,
            "why": self.recommendation.why,
        }


def document(hospital: str, table: Table, own: Opened, recipes: Sequence[Opened]) -> Evaluation:
    """The evaluation from the counts that were opened. Each recipe was asked about the same patients as `own`."""
    for one in recipes:
        if not one.fits(own):
            raise LocalError(f"The counts of {one.recipe} are not of the patients of the own classifier's.")
    return Evaluation(hospital, table, own, tuple(recipes), recommend([*map(Difference.of, recipes)]))


def _result(one: Opened, classes: Sequence[str]) -> dict[str, Any]:
    confusion = one.confusion
    right, rows = int(confusion.trace()), int(confusion.sum())
    return {
        "recipe": one.recipe,
        "confusion": confusion.tolist(),
        "accuracy": figures.accuracy(confusion),
        "balanced_accuracy": figures.balanced_accuracy(confusion),
        "recall": dict(zip(classes, figures.recalls(confusion), strict=True)),
        "interval": list(wilson(right, rows)),
        **_unsure(confusion),
        **(_of_scores(one.histogram, one.thresholds) if one.histogram is not None else {}),
    }


def _unsure(confusion: Counts) -> Mapping[str, Any]:
    number = figures.unsure(confusion)
    return {} if number is None else {"unsure": number}


def _beside_own(one: Opened) -> dict[str, Any]:
    difference = Difference.of(one)
    return {
        "difference_from_own": {
            "points": difference.points,
            "interval": list(difference.interval),
            "only_own_right": difference.only_own_right,
            "only_this_right": difference.only_this_right,
            "p": difference.p,
        }
    }


def _of_scores(histogram: Counts, thresholds: Sequence[float]) -> dict[str, Any]:
    found = area(histogram)
    sizes = histogram.sum(axis=1).tolist()
    return {
        "auc": found,
        "auc_interval": None if found is None else list(area_interval(found, *sizes)),
        "histogram": {"thresholds": list(thresholds), "counts": histogram.tolist()},
        "roc": [list(point) for point in roc(histogram)],
        "calibration": [
            {"from": one.low, "to": one.high, "rows": one.rows, "share_of_second_class": one.share}
            for one in calibration(histogram, thresholds)
        ],
    }
