"""How a classifier finds each class: accuracy, pd, precision and pf as in Peters, section 4.2."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mixbayes.local_methods.tables import Codes, Floats


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


def detection(actual: Codes, found: Codes, classes: int) -> Detection:
    """Each class in its turn against all others."""
    confusion = np.bincount(actual * classes + found, minlength=classes**2).reshape(classes, classes)
    right = confusion.diagonal()
    of_class, said = confusion.sum(axis=1), confusion.sum(axis=0)
    false_alarms, missed, rows = said - right, of_class - right, len(actual)
    return Detection(
        accuracy=_share(rows - false_alarms - missed, np.full(classes, rows)),
        pd=_share(right, of_class),
        precision=_share(right, said),
        pf=_share(false_alarms, rows - of_class),
    )


def _share(part: Codes, whole: Codes) -> Floats:
    return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)
