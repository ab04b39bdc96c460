"""Nested cross-validation: hospitals evaluate recipes by inner folds, and outer folds judge what they choose.

In every outer fold the hospitals contribute their other patients; where noise is agreed it is drawn once. Each hospital
evaluates all recipes by five inner folds as nodes do: row i is in fold i mod 5. What is opened to it then is all that a
rule may look at. The patients of the outer fold are labelled with every recipe, so any rule can be judged afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mixbayes.evaluation.recommendation import Difference
from mixbayes.protocol.bayes.recipe import Recipe
from mixbayes.research.joining.models import Counted, Makers
from mixbayes.research.noise.crossing import EVEN, dealt, noise_on
from mixbayes.research.noise.mechanisms import Mechanism, of_coins
from mixbayes.research.noise.patients import Floats, Integers, Patients

INNER = 5
DECIMALS = 9
"""Of a score."""
Choice = Callable[[Sequence[Difference]], str]
"""The text of a recipe, from what a hospital learns of all that it compares."""


@dataclass(frozen=True)
class Effort:
    """How much is done."""

    repeats: int = 10
    folds: int = 10
    seed: int = 0


@dataclass(eq=False)
class Nested:
    """What came of one table. The first recipe is `own`."""

    patients: Patients
    recipes: Sequence[Recipe]
    outer: Integers
    """(repeats, patients): the outer fold of each."""
    right: NDArray[np.bool_]
    """(repeats, patients, recipes): as the outer folds judge."""
    opened: dict[tuple[int, int, int], list[Difference]] = field(default_factory=dict)
    """By repetition, fold and hospital."""

    @property
    def hospitals(self) -> int:
        return int(self.patients.hospitals.max()) + 1

    @property
    def names(self) -> list[str]:
        return [str(recipe) for recipe in self.recipes]

    def choices(self, choice: Choice) -> dict[tuple[int, int, int], str]:
        """What is chosen, in the same order as what was opened."""
        return {at: choice(found) for at, found in self.opened.items()}

    def judged(self, choices: dict[tuple[int, int, int], str]) -> NDArray[np.bool_]:
        """(repeats, patients): who is labelled rightly by what his hospital chose."""
        positions = {name: at for at, name in enumerate(self.names)}
        chosen = np.zeros((len(self.outer), int(self.outer.max()) + 1, self.hospitals), np.int64)
        for at, name in choices.items():
            chosen[at] = positions[name]
        repeats = np.arange(len(self.outer))[:, None]
        recipes = chosen[repeats, self.outer, self.patients.hospitals]
        return np.take_along_axis(self.right, recipes[..., None], 2)[..., 0]


def nested(
    patients: Patients,
    recipes: Sequence[Recipe],
    epsilon: float | None = None,
    few: int | None = None,
    effort: Effort | None = None,
) -> Nested:
    """The whole cross-validation of one table, with noise or without.

    With `few`, each hospital in turn has only so many patients to learn from, drawn at random; the others have all.
    """
    effort = effort or Effort()
    random = np.random.default_rng(effort.seed)
    groups = patients.hospitals * patients.classes + patients.labels
    outer = np.stack([dealt(groups, random, effort.folds) for _ in range(effort.repeats)])
    found = Nested(patients, recipes, outer, np.zeros((*outer.shape, len(recipes)), bool))
    mechanism = of_coins(epsilon, patients.sums.touched) if epsilon else None
    for repeat, at in enumerate(outer):
        for fold in range(effort.folds):
            learned = random.permutation(np.flatnonzero(at != fold))
            _of_fold(found, (repeat, fold), learned, few, _Noise(patients, mechanism, random))
    return found


@dataclass(frozen=True, eq=False)
class _Noise:
    """What is added to the joint counts of a round."""

    patients: Patients
    mechanism: Mechanism | None
    random: np.random.Generator

    @property
    def makers(self) -> Makers:
        return Makers(self.patients.sums, self.mechanism.deviation if self.mechanism else 0.0)

    def on(self, counted: Counted) -> Counted:
        if not self.mechanism:
            return counted
        noise = noise_on(self.patients, self.mechanism, EVEN, 1, self.random)
        return counted + Counted(noise[:, 0], noise[:, 1:])


def _of_fold(found: Nested, at: tuple[int, int], learned: Integers, few: int | None, noise: _Noise) -> None:
    patients = found.patients
    round_ = None if few else _Round(patients, found.recipes, np.sort(learned), noise)
    for hospital in range(found.hospitals):
        if round_ is None or few:
            theirs = patients.hospitals[learned] == hospital
            begun = np.concatenate([learned[~theirs], learned[theirs][:few]])
            round_ = _Round(patients, found.recipes, np.sort(begun), noise)
        asked = np.flatnonzero((found.outer[at[0]] == at[1]) & (patients.hospitals == hospital))
        found.right[at[0], asked] = round_.judged(hospital, asked)
        found.opened[(*at, hospital)] = round_.evaluated(hospital)


class _Round:
    """What hospitals contributed of these rows, and what is made of it."""

    def __init__(self, patients: Patients, recipes: Sequence[Recipe], rows: Integers, noise: _Noise) -> None:
        self._patients, self._recipes, self._rows, self._makers = patients, recipes, rows, noise.makers
        self._whose = patients.hospitals[rows]
        self._fold = _in_order(self._whose) % INNER
        hospitals = int(patients.hospitals.max()) + 1
        self._counted = counted(patients, rows, self._whose * INNER + self._fold, hospitals * INNER)
        self._joint = noise.on(self._counted.whole())

    def judged(self, hospital: int, asked: Integers) -> NDArray[np.bool_]:
        """(asked, recipes): who is labelled rightly."""
        model = self._makers.models(self._recipes, self._joint, self._of(hospital).whole())
        return self._right(model.prior[0], model.words[0], asked)

    def evaluated(self, hospital: int) -> list[Difference]:
        """What the hospital learns of every recipe by its inner folds."""
        by_fold, rows = self._of(hospital), self._rows[self._whose == hospital]
        folds, own = self._fold[self._whose == hospital], by_fold.whole()
        model = self._makers.models(self._recipes, self._joint - by_fold, own - by_fold)
        right = np.zeros((len(rows), len(self._recipes)), bool)
        for fold in range(INNER):
            here = folds == fold
            right[here] = self._right(model.prior[fold], model.words[fold], rows[here])
        only_own, only_this = (right[:, :1] & ~right).sum(0), (right & ~right[:, :1]).sum(0)
        return [
            Difference(str(recipe), len(rows), int(own_alone), int(this_alone))
            for recipe, own_alone, this_alone in zip(self._recipes, only_own, only_this, strict=True)
        ]

    def _of(self, hospital: int) -> Counted:
        """By inner fold."""
        return self._counted.part(slice(hospital * INNER, (hospital + 1) * INNER))

    def _right(self, prior: Floats, words: Floats, rows: Integers) -> NDArray[np.bool_]:
        recipes, sums, classes = words.shape
        scores = self._patients.added[rows] @ words.transpose(1, 0, 2).reshape(sums, -1)
        # Rounded, so that a tie is one on every processor: it goes to the first class.
        labels = (scores.reshape(-1, recipes, classes) + prior).round(DECIMALS).argmax(axis=2)
        right: NDArray[np.bool_] = labels == self._patients.labels[rows][:, None]
        return right


def _in_order(groups: Integers) -> Integers:
    """The number of each row in its group, from zero."""
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], groups[order])
    found = np.empty(len(groups), np.int64)
    found[order] = np.arange(len(groups)) - starts
    return found


def counted(patients: Patients, rows: Integers, part: Integers, parts: int) -> Counted:
    """The counts of these rows, by part."""
    classes = patients.classes
    group = part * classes + patients.labels[rows]
    order = np.argsort(group, kind="stable")
    ends = np.searchsorted(group[order], np.arange(parts * classes + 1))
    running = np.cumsum(np.pad(patients.added[rows[order]], ((1, 0), (0, 0))), axis=0)
    sums = (running[ends[1:]] - running[ends[:-1]]).reshape(parts, classes, -1).transpose(0, 2, 1)
    return Counted(np.diff(ends).reshape(parts, classes).astype(np.float64), sums)
