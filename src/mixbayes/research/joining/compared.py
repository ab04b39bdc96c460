"""How a hospital's patients are labelled with each recipe, and with what their hospital takes after an evaluation."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixbayes.evaluation.recommendation import COMPARED, OWN
from mixbayes.protocol.bayes.recipe import Recipe, read_recipe
from mixbayes.research.joining.nested import Nested
from mixbayes.research.joining.rules import best, recommended
from mixbayes.research.study.intervals import Interval, paired, share

RECIPES: tuple[Recipe, ...] = tuple(map(read_recipe, (OWN, *COMPARED)))
BEST, RECOMMENDED = "best", "recommended"
WAYS = (OWN, *COMPARED, BEST, RECOMMENDED)
"""By which patients are labelled: with a recipe; with what the node takes; with what is recommended, else the own."""


@dataclass(frozen=True)
class Compared:
    """One hospital's patients, or those of all."""

    hospital: str
    patients: int
    accuracy: dict[str, Interval]
    """By way."""
    recall: dict[str, dict[str, float]]
    """By way and class, the share that is found."""
    gain: dict[str, Interval]
    """By way, over the own classifier."""
    taken: dict[str, float]
    """By recipe, in what share of the evaluations the node took it."""


def compared(found: Nested, names: tuple[str, ...], everybody: str) -> list[Compared]:
    """Of every hospital, and of all together."""
    whose, ways = found.patients.hospitals, _ways(found)
    taken = found.choices(best)
    each = [_compared(found, ways, name, whose == at, _shares(taken, at)) for at, name in enumerate(names)]
    return [*each, _compared(found, ways, everybody, whose >= 0, _shares(taken, None))]


def _ways(found: Nested) -> dict[str, NDArray[np.float64]]:
    """By way, the share of repetitions in which each patient is labelled rightly."""
    right = {str(recipe): found.right[..., at] for at, recipe in enumerate(found.recipes)}
    right |= {BEST: found.judged(found.choices(best)), RECOMMENDED: found.judged(found.choices(recommended))}
    return {way: right[way].mean(axis=0) for way in WAYS}


def _shares(taken: dict[tuple[int, int, int], str], hospital: int | None) -> dict[str, float]:
    names = Counter(name for (_, _, at), name in taken.items() if hospital in (None, at))
    return {name: names[name] / names.total() for name in (OWN, *COMPARED)}


def _compared(
    found: Nested, ways: dict[str, NDArray[np.float64]], name: str, here: NDArray[np.bool_], taken: dict[str, float]
) -> Compared:
    truth, classes = found.patients.labels[here], found.patients.dictionary.classes
    own = {way: right[here] for way, right in ways.items()}
    return Compared(
        name,
        int(here.sum()),
        {way: share(right) for way, right in own.items()},
        {way: _recall(right, truth, classes) for way, right in own.items()},
        {way: paired(right, own[OWN]) for way, right in own.items() if way != OWN},
        taken,
    )


def _recall(
    right: NDArray[np.float64], truth: NDArray[np.int64], classes: tuple[str, ...] | list[str]
) -> dict[str, float]:
    """Of the classes that have patients."""
    return {label: float(right[truth == at].mean()) for at, label in enumerate(classes) if (truth == at).any()}
