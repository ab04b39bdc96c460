"""What several runs of a search attain: the best, the median and the worst attainment surface.

Fonseca and others: a level of anonymity and an accuracy are attained by a run if one of its partitions has at least
both. The worst surface bounds what every run attains, the median what half of them do, the best what any does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixbayes.local_methods.tables import Codes, Floats


@dataclass(frozen=True, eq=False)
class Attainment:
    """The accuracy that is attained at each level of anonymity; minus infinity where a level is not."""

    levels: Codes
    best: Floats
    median: Floats
    worst: Floats


@dataclass(frozen=True)
class Fall:
    """Above this level the accuracy falls."""

    above: int
    before: float
    after: float


def attainment(runs: Sequence[tuple[Codes, Floats]]) -> Attainment:
    """From the levels and accuracies of each run, at every level that came up."""
    levels = np.unique(np.concatenate([found for found, _ in runs]))
    attained = np.sort([_attained(levels, *run) for run in runs], axis=0)
    half = len(runs) // 2  # so many runs from the smallest may miss it; half of them at least do not
    return Attainment(levels, attained[-1], attained[half], attained[0])


def falls(levels: Codes, accuracies: Floats) -> list[Fall]:
    """Where the accuracy that is attained falls, from the lowest level on."""
    down = np.flatnonzero(np.diff(accuracies) < 0)
    return [Fall(int(levels[at]), float(accuracies[at]), float(accuracies[at + 1])) for at in down]


def _attained(levels: Codes, found: Codes, accuracies: Floats) -> Floats:
    reaches = found[None, :] >= levels[:, None]
    return np.where(reaches, accuracies, -np.inf).max(axis=1)
