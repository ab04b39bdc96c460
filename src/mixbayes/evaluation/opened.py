"""The counts that nodes open of one recipe, and nothing else of any patient.

`counts` has two rows for every true class c: row 2c is of the patients whom the hospital's own classifier labels
wrongly, row 2c + 1 of those whom it labels rightly. It has a column for every answer: the classes in their order and,
where the recipe may be unsure, unsure as the last.

The histogram has a row for each of two classes: how many of its patients have a score below the first threshold, from
one threshold to below the next, and from the last on. The score is log2 P(second class) − log2 P(first class).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixbayes.protocol.bayes.evaluation import THRESHOLDS, Totals
from mixbayes.protocol.errors import LocalError

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Opened:
    """Of one recipe and one hospital, or summed over all of them."""

    recipe: str
    counts: Counts
    """(2 · classes, answers)."""
    histogram: Counts | None = None
    """(2, thresholds + 1), for two classes."""
    thresholds: tuple[float, ...] = THRESHOLDS

    def __post_init__(self) -> None:
        rows, answers = self.counts.shape
        if rows % 2 or answers - rows // 2 not in (0, 1):
            raise LocalError(f"Counts of shape {self.counts.shape} are not those of a recipe.")
        if self.histogram is not None and self.histogram.shape != (2, len(self.thresholds) + 1):
            raise LocalError(f"A histogram of shape {self.histogram.shape} does not fit its thresholds.")

    @property
    def classes(self) -> int:
        return self.counts.shape[0] // 2

    @property
    def by_own(self) -> Counts:
        """(classes, 2, answers): whether the own classifier was right is the middle axis."""
        return self.counts.reshape(self.classes, 2, -1)

    @property
    def confusion(self) -> Counts:
        """(classes, answers), by true class and answer."""
        return self.by_own.sum(axis=1)

    @property
    def right(self) -> Counts:
        """(2,): how many this recipe labels rightly of those whom the own classifier labels wrongly, and rightly."""
        return np.einsum("cwc->w", self.by_own[:, :, : self.classes])

    def fits(self, own: Opened) -> bool:
        """Whether these can be answers about the patients of `own`: the hospital knows every sum of a row."""
        same = self.counts.shape[0] == own.counts.shape[0] and bool((self.counts >= 0).all())
        return same and np.array_equal(self.counts.sum(axis=1), own.counts.sum(axis=1)) and self._histogram_fits(own)

    def _histogram_fits(self, own: Opened) -> bool:
        if self.histogram is None:
            return True
        return bool((self.histogram >= 0).all()) and np.array_equal(
            self.histogram.sum(axis=1), own.confusion.sum(axis=1)
        )

    def __add__(self, other: Opened) -> Self:
        """The counts of other patients with these."""
        both = self.histogram is not None and other.histogram is not None
        histogram = self.histogram + other.histogram if both else None  # type: ignore[operator]  # `both` says so
        return type(self)(self.recipe, self.counts + other.counts, histogram, self.thresholds)


def of_totals(recipe: str, totals: Totals) -> Opened:
    """The counts that an evaluation on shares opens."""
    histogram = None
    if totals.above.size:
        of_class = totals.answers.reshape(len(totals.above), -1).sum(axis=1)
        reached = np.column_stack([of_class, totals.above, np.zeros_like(of_class)])
        histogram = -np.diff(reached, axis=1)
    return Opened(recipe, totals.answers, histogram)


def opened(
    recipe: str,
    classes: int,
    truth: ArrayLike,
    labels: ArrayLike,
    own_labels: ArrayLike,
    unsure: bool = False,
    scores: ArrayLike | None = None,
    thresholds: Sequence[float] = THRESHOLDS,
) -> Opened:
    """Counts of labels that are known, as a hospital makes them of its own classifier; label `classes` is unsure."""
    true, given, own = (np.asarray(one, np.int64) for one in (truth, labels, own_labels))
    answers = classes + unsure
    rows = 2 * true + (own == true)
    counts = np.bincount(rows * answers + given, minlength=2 * classes * answers).reshape(2 * classes, answers)
    histogram = None if scores is None else binned(true, np.asarray(scores, np.float64), thresholds)
    return Opened(recipe, counts.astype(np.int64), histogram, tuple(thresholds))


def binned(truth: Counts, scores: NDArray[np.float64], thresholds: Sequence[float] = THRESHOLDS) -> Counts:
    """The histogram of scores of two classes."""
    bins = len(thresholds) + 1
    at = np.searchsorted(np.asarray(thresholds), scores, side="right")
    return np.bincount(truth * bins + at, minlength=2 * bins).reshape(2, bins).astype(np.int64)
