"""Of two classes: how well the score tells them apart, and how often it is right at its word; from the histogram."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixbayes.evaluation.opened import Counts


def roc(histogram: Counts) -> list[tuple[float, float]]:
    """What share of the first and of the second class is given the second one, as the threshold falls.

    From nobody, over all thresholds, to everybody; empty where a class has no patients.
    """
    sizes = histogram.sum(axis=1, keepdims=True)
    if not sizes.all():
        return []
    first, second = np.cumsum(histogram[:, ::-1], axis=1) / sizes
    return [(0.0, 0.0), *zip(first.tolist(), second.tolist(), strict=True)]


def area(histogram: Counts) -> float | None:
    """Under the ROC curve, by trapezoids; None where a class has no patients.

    It is how probable it is that a patient of the second class has a higher score than one of the first, where two
    scores between the same thresholds count one half.
    """
    first, second = (row.tolist() for row in histogram)
    pairs = sum(first) * sum(second)
    if not pairs:
        return None
    below, halves = 0, 0
    for one, two in zip(first, second, strict=True):
        halves += two * (2 * below + one)
        below += one
    return halves / (2 * pairs)


@dataclass(frozen=True)
class Bin:
    """Patients to whom the model gives about the same probability of the second class."""

    low: float
    high: float
    rows: int
    share: float
    """Of them that are of the second class."""


def calibration(histogram: Counts, thresholds: Sequence[float]) -> list[Bin]:
    """By the probabilities that the scores stand for, where there are patients."""
    edges = [0.0, *map(probability, thresholds), 1.0]
    return [
        Bin(low, high, one + two, two / (one + two))
        for low, high, one, two in zip(edges, edges[1:], *histogram.tolist(), strict=False)
        if one + two
    ]


def probability(score: float) -> float:
    """Of the second class, for a score in bits."""
    return 1 / (1 + 2.0**-score)
