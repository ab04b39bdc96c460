"""The genetic search for the most accurate partition whose projections are all k-anonymous (Procedure 1).

The paper leaves open how parents are selected, where the search begins and what becomes of partitions that are not
k-anonymous. Here a valid partition is fitter than any invalid one. Valid partitions are ordered by accuracy, then by
the number of features that they use, then by anonymity; invalid ones by anonymity. The better of two drawn at random
becomes a parent, and the best partition always survives. The first population contains the partition with each feature
alone, which is valid if any partition is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mixbayes.local_methods.base import Progress
from mixbayes.local_methods.dmpd.anonymity import Levels
from mixbayes.local_methods.dmpd.fitness import Fitness
from mixbayes.local_methods.dmpd.partition import (
    FREE,
    UNUSED,
    Partition,
    Population,
    crossed,
    groups_of,
    mutated,
    random_population,
)
from mixbayes.local_methods.tables import Codes, Floats

SEARCHING = "searching partitions"


@dataclass(frozen=True)
class Settings:
    """How long and how wildly to search."""

    population: int
    generations: int
    crossover: float
    mutation: float
    mutation_rule: str = FREE


@dataclass(frozen=True, eq=False)
class Judged:
    """Partitions with what counts about them. The accuracy of one that is not valid is not looked at: -1."""

    partitions: Population
    levels: Codes
    accuracies: Floats

    def take(self, at: Codes) -> Judged:
        return Judged(self.partitions[at], self.levels[at], self.accuracies[at])

    def and_(self, other: Judged) -> Judged:
        return Judged(
            np.vstack([self.partitions, other.partitions]),
            np.append(self.levels, other.levels),
            np.append(self.accuracies, other.accuracies),
        )

    def ranks(self) -> Codes:
        """The fittest has the highest."""
        used = (self.partitions != UNUSED).sum(axis=1)
        second = np.where(self.accuracies < 0, self.levels, used)
        order = np.lexsort((self.levels, second, self.accuracies))
        ranks = np.empty(len(order), np.int64)
        ranks[order] = np.arange(len(order))
        return ranks


class Judge:
    """Knows the levels and the accuracies of partitions."""

    def __init__(self, levels: Levels, fitness: Fitness, k: int) -> None:
        self._levels = levels
        self._fitness = fitness
        self._k = k

    def __call__(self, population: Population) -> Judged:
        levels = np.array([self._levels.of_groups(groups_of(row)) for row in population], np.int64)
        valid = levels >= self._k
        accuracies = np.full(len(population), -1.0)
        if valid.any():
            accuracies[valid] = self._fitness.accuracies(population[valid])
        return Judged(population, levels, accuracies)


def first_population(size: int, features: int, random: np.random.Generator) -> Population:
    """Random partitions, and the features each by itself."""
    if not features:
        return np.empty((1, 0), np.int64)
    population = random_population(size, features, random)
    population[0] = np.arange(features)
    return population


def children_of(parents: Population, settings: Settings, random: np.random.Generator) -> Population:
    """As many children as parents, two of each pair."""
    half = len(parents) // 2
    mothers, fathers = parents[:half], parents[half : 2 * half]
    daughters, sons = crossed(mothers, fathers, random)
    pairs = random.random((half, 1)) < settings.crossover
    families = [np.where(pairs, daughters, mothers), np.where(pairs, sons, fathers), parents[2 * half :]]
    return mutated(np.vstack(families), settings.mutation, random, settings.mutation_rule)


def drawn(ranks: Codes, count: int, random: np.random.Generator) -> Codes:
    """The better of two, so many times."""
    rivals = random.integers(0, len(ranks), (2, count))
    return rivals[ranks[rivals].argmax(axis=0), np.arange(count)]


def search(
    judge: Judge, features: int, settings: Settings, random: np.random.Generator, progress: Progress
) -> tuple[Partition, float]:
    """The fittest partition that was seen, and its accuracy over the folds."""
    living = judge(first_population(settings.population, features, random))
    for generation in range(settings.generations if features else 0):
        progress(SEARCHING, generation, settings.generations)
        parents = living.partitions[drawn(living.ranks(), settings.population, random)]
        best = living.take(np.array([living.ranks().argmax()]))
        born = judge(children_of(parents, settings, random))
        living = born.take(born.ranks().argsort()[1:]).and_(best)
    progress(SEARCHING, settings.generations, settings.generations)
    best = living.take(np.array([living.ranks().argmax()]))
    return best.partitions[0], float(best.accuracies[0])
