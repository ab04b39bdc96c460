"""Repeated cross-validation of classifiers with noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mixbayes.research.noise.mechanisms import Mechanism
from mixbayes.research.noise.patients import Floats, Integers, Patients, Sums
from mixbayes.research.noise.rules import PLAIN, Maker, Model, Rule

FOLDS = 10
Make = Callable[[float, float], Mechanism]
"""For this ε, where a patient changes so many counts."""


@dataclass(frozen=True)
class Split:
    """How a budget is divided: for each kind of sum how often the standard deviation of a count's noise it gets."""

    classes: float = 1.0
    n: float = 1.0
    sums: float = 1.0
    squares: float = 1.0

    def touched(self, sums: Sums) -> float:
        """With normal noise: as many counts with equal noise give away as much."""
        of_number = self.n**-2 + self.sums**-2 + self.squares**-2
        return self.classes**-2 + len(sums.sizes) + sums.numbers * of_number

    def factors(self, sums: Sums) -> Floats:
        """Of the class counts, and of every sum."""
        of_numbers = np.repeat([self.n, self.sums, self.squares], sums.numbers)
        return np.concatenate([[self.classes], np.ones(sums.discrete), of_numbers])


EVEN = Split()


@dataclass(frozen=True)
class Way:
    """Noise, and what is made of noisy counts."""

    make: Make
    rule: Rule
    split: Split = EVEN


@dataclass(frozen=True)
class Effort:
    """How often everything is repeated, and how often noise is drawn for each fold."""

    repeats: int
    draws: int


@dataclass(frozen=True, eq=False)
class Mean:
    """Of an accuracy, or of a difference of two, in points: by repetition of the cross-validation."""

    by_repeat: Floats

    @property
    def value(self) -> float:
        return 100 * float(self.by_repeat.mean())

    @property
    def error(self) -> float:
        """The standard error."""
        return 100 * float(self.by_repeat.std(ddof=1)) / len(self.by_repeat) ** 0.5

    def __sub__(self, other: Mean) -> Mean:
        return Mean(self.by_repeat - other.by_repeat)


@dataclass(frozen=True, eq=False)
class Fold:
    """What is learned from the other folds, and who is asked about."""

    of_class: Floats
    sums: Floats
    asked: Floats
    truth: Integers

    def right(self, model: Model) -> float:
        """How many of those asked about are labelled rightly, in the mean over draws."""
        labels = model.labels(self.asked)
        return float((labels == self.truth).sum()) / len(labels)


def dealt(labels: Integers, random: np.random.Generator, folds: int = FOLDS) -> Integers:
    """The fold of each patient, dealt class by class in random order."""
    order = np.lexsort((random.random(len(labels)), labels))
    found = np.empty(len(labels), np.int64)
    found[order] = np.arange(len(labels)) % folds
    return found


def folds_of(patients: Patients, at: Integers) -> list[Fold]:
    """The folds of patients who were dealt so."""
    classes, count = patients.classes, int(at.max()) + 1
    group = at * classes + patients.labels
    of_class = np.bincount(group, minlength=count * classes).reshape(count, classes).astype(np.float64)
    sums = np.stack([patients.added[group == one].sum(axis=0) for one in range(count * classes)])
    sums = sums.reshape(count, classes, -1).transpose(0, 2, 1)
    whole_class, whole = of_class.sum(axis=0), sums.sum(axis=0)
    return [
        Fold(whole_class - of_class[one], whole - sums[one], patients.added[at == one], patients.labels[at == one])
        for one in range(count)
    ]


def crossed(
    patients: Patients, ways: Mapping[str, Way], epsilons: Sequence[float], effort: Effort, seed: int = 0
) -> tuple[Mean, dict[tuple[str, float], Mean]]:
    """Accuracy without noise, and of every way at every ε. All see the same folds; with the same noise, the same."""
    exact, found = np.zeros(effort.repeats), {(n, e): np.zeros(effort.repeats) for n in ways for e in epsilons}
    random = np.random.default_rng(seed)
    for repeat in range(effort.repeats):
        for fold in folds_of(patients, dealt(patients.labels, random)):
            exact[repeat] += fold.right(Maker(patients.sums, PLAIN, 0.0).model(fold.of_class[None], fold.sums[None]))
            for epsilon in epsilons:
                for name, right in _with_noise(patients, ways, epsilon, fold, effort.draws, random).items():
                    found[name, epsilon][repeat] += right
    rows = len(patients.labels)
    return Mean(exact / rows), {key: Mean(right / rows) for key, right in found.items()}


def _with_noise(
    patients: Patients, ways: Mapping[str, Way], epsilon: float, fold: Fold, draws: int, random: np.random.Generator
) -> dict[str, float]:
    noises: dict[tuple[Make, Split], tuple[float, Floats]] = {}
    found = {}
    for name, way in ways.items():
        key = way.make, way.split
        if key not in noises:
            mechanism = way.make(epsilon, way.split.touched(patients.sums))
            noises[key] = mechanism.deviation, noise_on(patients, mechanism, way.split, draws, random)
        deviation, noise = noises[key]
        maker = Maker(patients.sums, way.rule, deviation)
        found[name] = fold.right(maker.model(fold.of_class + noise[:, 0], fold.sums + noise[:, 1:]))
    return found


def noise_on(patients: Patients, mechanism: Mechanism, split: Split, draws: int, random: np.random.Generator) -> Floats:
    """Noise (draws, 1 + sums, K) on class counts and sums."""
    sums = patients.sums
    noise = mechanism.drawn(random, (draws, 1 + sums.rows, patients.classes))
    moments = noise[:, 1 + sums.discrete + sums.numbers :]
    moments += random.random(moments.shape) - 0.5
    return noise * split.factors(sums)[:, None]
