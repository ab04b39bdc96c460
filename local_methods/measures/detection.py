"""How a classifier finds each class: accuracy, pd, precision and pf as in Peters, section 4.2.

A confusion matrix has a row for each class and a column for each answer. Given a stack of matrices, the functions
return the measures of all of them at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan

import numpy as np

from mixbayes.local_methods.tables import Codes, Floats

MEASURES = ("accuracy", "pd", "precision", "pf")
HIGH_IS_GOOD = {"accuracy": True, "pd": True, "precision": True, "pf": False}


@dataclass(frozen=True)
class Detected:
    """The four measures of one class; None for what would be a share of nothing."""

    accuracy: float | None
    pd: float | None
    precision: float | None
    pf: float | None


@dataclass(frozen=True, eq=False)
class Detection:
    """Four measures, each with a number for every class. What would be a share of nothing is not-a-number."""

    accuracy: Floats
    """Of all rows, those rightly said to have the class or not to have it."""
    pd: Floats
    """Of the rows of the class, those found: recall."""
    precision: Floats
    """Of the rows found, those of the class."""
    pf: Floats
    """Of the rows of other classes, those found by mistake."""

    @staticmethod
    def of(confusion: Codes) -> Detection:
        """Each class in its turn against all others: ... × classes × classes."""
        right = confusion.diagonal(axis1=-2, axis2=-1)
        of_class, said = confusion.sum(axis=-1), confusion.sum(axis=-2)
        false_alarms, missed = said - right, of_class - right
        rows = np.broadcast_to(of_class.sum(axis=-1, keepdims=True), right.shape)
        return Detection(
            accuracy=_share(rows - false_alarms - missed, rows),
            pd=_share(right, of_class),
            precision=_share(right, said),
            pf=_share(false_alarms, rows - of_class),
        )

    def by_class(self) -> list[Detected]:
        """The measures of one confusion matrix."""
        columns = (getattr(self, name).tolist() for name in MEASURES)
        return [Detected(*(None if isnan(value) else value for value in row)) for row in zip(*columns, strict=True)]


def confusion(actual: Codes, found: Codes, classes: int) -> Codes:
    """How many rows of each class were labelled with each class: classes × classes."""
    return np.bincount(actual * classes + found, minlength=classes**2).reshape(classes, classes)


def detection(actual: Codes, found: Codes, classes: int) -> Detection:
    """The measures of these answers."""
    return Detection.of(confusion(actual, found, classes))


def _share(part: Codes, whole: Codes) -> Floats:
    return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)
