"""The document of the joint test: figures of all hospitals together, which may carry noise and then be negative.

Accuracy is the sum of the figures of right labels, divided by the sum of all figures, and what is found of a class the
same of its figures alone; both are held between 0 and 1. Noise makes their intervals wider: the standard deviation that
it gives the quotient, to first order, is added to each side of Wilson's interval as independent errors add up. Where
the sum of all figures is not clearly above its noise nothing can be said, and the interval is everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, sqrt
from typing import Any

from mixbayes.evaluation.document import Table
from mixbayes.evaluation.intervals import ANYWHERE, NORMAL, Interval, wilson
from mixbayes.evaluation.opened import Counts
from mixbayes.protocol.bayes.recipe import JOINT

EVERYBODY = "all hospitals"
_CLEAR = 2 * NORMAL
"""So many standard deviations of its noise a sum must be above zero to divide by it."""


@dataclass(frozen=True)
class Share:
    """One sum of figures as a part of another."""

    value: float | None
    interval: Interval


@dataclass(frozen=True)
class JointEvaluation:
    """What the joint test opened: patients who count nowhere, by true class and by answer."""

    table: Table
    hospitals: tuple[str, ...]
    figures: Counts
    deviation: float = 0.0
    """The standard deviation of the noise on every figure; none if it is zero."""

    @property
    def accuracy(self) -> Share:
        """The share that is labelled rightly."""
        return self._share(int(self.figures.trace()), int(self.figures.sum()), len(self.figures), self.figures.size)

    @property
    def recalls(self) -> list[Share]:
        """Of every class the share that is found."""
        classes = len(self.figures)
        return [self._share(int(row[at]), int(row.sum()), 1, classes) for at, row in enumerate(self.figures)]

    def as_json(self) -> dict[str, Any]:
        """What `evaluate --joint --json` prints: shaped as a hospital's own evaluation, with no own classifier."""
        classes, sizes = self.table.classes, self.figures.sum(axis=1)
        at = int(sizes.argmax())
        return {
            "hospital": EVERYBODY,
            "hospitals": list(self.hospitals),
            "rows": int(self.figures.sum()),
            "classes": list(classes),
            "class_column": self.table.class_column,
            "columns": list(self.table.columns),
            "folds": self.table.folds,
            "commonest_class": {"class": classes[at], "share": _held(int(sizes[at]), int(sizes.sum()))},
            "own": None,
            "recipes": [self._result()],
            "recommended": None,
            "best": None,
            "why": self.why,
            "noise": {"standard_deviation": self.deviation} if self.deviation else None,
        }

    @property
    def why(self) -> str:
        """How the figures came about, in plain words."""
        computed = "Accuracy is the sum of the figures of right labels divided by the sum of all figures."
        if not self.deviation:
            return computed
        return (
            f"Every figure carries noise with a standard deviation of {self.deviation:.4g}: it may be negative, and "
            f"the number of patients is not exact either. {computed} The intervals allow for the noise."
        )

    def _result(self) -> dict[str, Any]:
        found, accuracy = self.recalls, self.accuracy
        known = [one.value for one in found if one.value is not None]
        return {
            "recipe": str(JOINT),
            "confusion": self.figures.tolist(),
            "accuracy": accuracy.value,
            "balanced_accuracy": sum(known) / len(known) if known else None,
            "recall": {name: one.value for name, one in zip(self.table.classes, found, strict=True)},
            "recall_intervals": {name: list(one.interval) for name, one in zip(self.table.classes, found, strict=True)},
            "interval": list(accuracy.interval),
        }

    def _share(self, part: int, whole: int, parts: int, figures: int) -> Share:
        """`part` is a sum of so many figures, and `whole` one of so many, those among them."""
        value = _held(part, whole)
        if value is None or whole < _CLEAR * self.deviation * sqrt(figures):
            return Share(value, ANYWHERE)
        low, high = wilson(round(value * whole), whole)
        noise = self.deviation * sqrt(parts * (1 - value) ** 2 + (figures - parts) * value**2) / whole
        return Share(
            value,
            Interval(
                max(0.0, value - hypot(value - low, NORMAL * noise)),
                min(1.0, value + hypot(high - value, NORMAL * noise)),
            ),
        )


def _held(part: int, whole: int) -> float | None:
    return min(1.0, max(0.0, part / whole)) if whole > 0 else None


def joint_evaluation(
    table: Table, hospitals: Sequence[str], figures: Counts, deviation: float | None
) -> JointEvaluation:
    """From the figures that were opened."""
    return JointEvaluation(table, tuple(hospitals), figures, deviation or 0.0)
