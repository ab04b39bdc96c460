"""An evaluation as the page reads it, from the document of one hospital that `evaluate --json` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mixbayes.evaluation.roc import roc

Shares = tuple[float, float] | None
"""An interval; None where nothing was measured."""


@dataclass(frozen=True)
class Bin:
    """Patients to whom the classifier gives about the same probability of the second class."""

    low: float
    high: float
    rows: int
    share: float | None
    """Of these that are of the second class."""


@dataclass(frozen=True)
class Scores:
    """Of two classes: how many patients have which score, and what follows of it."""

    area: float | None
    interval: Shares
    thresholds: Sequence[float]
    counts: Sequence[Sequence[int]]
    """By class and by place among the thresholds."""
    calibration: Sequence[Bin]

    def curve(self) -> list[tuple[float, float]]:
        """What share of the first and of the second class is given the second one, as the threshold falls."""
        return roc(np.asarray(self.counts, np.int64))


@dataclass(frozen=True)
class Difference:
    """A recipe beside the own classifier, on the same patients."""

    points: float | None
    only_own: int
    only_this: int
    p: float | None
    interval: Shares = None
    """In points."""


@dataclass(frozen=True)
class Result:
    """What was measured of one recipe."""

    recipe: str
    confusion: Sequence[Sequence[int]]
    accuracy: float | None
    interval: Shares
    balanced: float | None
    recall: Mapping[str, float | None]
    unsure: int | None
    difference: Difference | None
    scores: Scores | None

    @property
    def right(self) -> int:
        return sum(row[at] for at, row in enumerate(self.confusion))


@dataclass(frozen=True)
class Evaluated:
    """One hospital, or all together."""

    hospital: str
    rows: int
    classes: Sequence[str]
    class_column: str
    columns: Sequence[str]
    folds: int
    commonest: str
    commonest_share: float | None
    own: Result
    recipes: Sequence[Result]
    recommended: str | None
    best: str | None
    """What the node takes if the choice is left to it."""
    why: str

    @property
    def results(self) -> list[Result]:
        return [self.own, *self.recipes]

    @property
    def compared(self) -> Result | None:
        """The recipe that is spoken of first: the one recommended or taken, else the one that is right most often."""
        named = [one for one in self.recipes if one.recipe == self.named]
        return next(iter(named), max(self.recipes, key=lambda one: one.right, default=None))

    @property
    def named(self) -> str | None:
        """What is recommended, or what the node takes where nothing is."""
        return self.recommended or self.best

    @property
    def patients(self) -> list[int]:
        """Of each class."""
        return [sum(row) for row in self.own.confusion]


def read_evaluated(document: Mapping[str, Any]) -> Evaluated:
    """A document of one hospital."""
    commonest = document["commonest_class"]
    return Evaluated(
        hospital=document["hospital"],
        rows=document["rows"],
        classes=document["classes"],
        class_column=document["class_column"],
        columns=document["columns"],
        folds=document["folds"],
        commonest=commonest["class"],
        commonest_share=commonest["share"],
        own=_result(document["own"]),
        recipes=[_result(one) for one in document["recipes"]],
        recommended=document["recommended"],
        best=document.get("best"),
        why=document["why"],
    )


def _result(found: Mapping[str, Any]) -> Result:
    beside = found.get("difference_from_own")
    return Result(
        recipe=found["recipe"],
        confusion=found["confusion"],
        accuracy=found["accuracy"],
        interval=_interval(found["interval"]),
        balanced=found["balanced_accuracy"],
        recall=found["recall"],
        unsure=found.get("unsure"),
        difference=None if beside is None else _difference(beside),
        scores=_scores(found) if found.get("histogram") else None,
    )


def _difference(found: Mapping[str, Any]) -> Difference:
    return Difference(
        found["points"], found["only_own_right"], found["only_this_right"], found["p"], _interval(found.get("interval"))
    )


def _scores(found: Mapping[str, Any]) -> Scores:
    bins = [Bin(one["from"], one["to"], one["rows"], one["share_of_second_class"]) for one in found["calibration"]]
    counts = found["histogram"]
    return Scores(found["auc"], _interval(found["auc_interval"]), counts["thresholds"], counts["counts"], bins)


def _interval(found: Sequence[float] | None) -> Shares:
    return None if found is None else (found[0], found[1])
