"""Feature-set partitions with unused features, and the genetic operators on whole populations of them.

The paper writes a partition of n features as a matrix, n × n: 1 where two features share a group, -1 where neither
of two features is in a group, else 0; the diagonal says of each feature whether it is used. Here a partition is the
row of n names that the matrix stands for: a group is called by its first feature, and -1 is unused. A population is a
matrix of such rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixbayes.local_methods.tables import Mask

Population = NDArray[np.int64]
Partition = NDArray[np.int64]

UNUSED = -1

FREE, PRINTED = "free", "printed"
MUTATION_RULES = (FREE, PRINTED)
"""Where a feature that is mutated may go: see `mutated`."""


def as_matrix(partition: Partition) -> NDArray[np.int64]:
    """The paper's encoding (the formula of section 4.1, and Figure 2)."""
    alike = partition[:, None] == partition[None, :]  # in one group, or both in none
    return np.where(alike, np.where(partition == UNUSED, -1, 1), 0)


def from_matrix(matrix: NDArray[np.int64]) -> Partition:
    """The partition that the paper's encoding stands for."""
    return np.where(matrix.diagonal() == UNUSED, UNUSED, (matrix == 1).argmax(axis=1))


def named(population: Population) -> Population:
    """Every group under the name of its first feature, whatever it was called."""
    first = (population[:, :, None] == population[:, None, :]).argmax(axis=2)
    return np.where(population == UNUSED, UNUSED, first)


def groups_of(partition: Partition) -> list[tuple[int, ...]]:
    """The features of each group."""
    leaders = np.unique(partition[partition != UNUSED])
    return [tuple(np.flatnonzero(partition == leader).tolist()) for leader in leaders]


def random_population(size: int, features: int, random: np.random.Generator) -> Population:
    """Of one to n groups; how many features are unused is drawn too, from none to all."""
    groups = random.integers(1, features + 1, (size, 1))
    drawn = (random.random((size, features)) * groups).astype(np.int64)
    unused = random.random((size, features)) < random.random((size, 1)) ** 2  # mostly few
    return named(np.where(unused, UNUSED, drawn))


def crossed(mothers: Population, fathers: Population, random: np.random.Generator) -> tuple[Population, Population]:
    """Group-wise crossover (Figure 3): a child has one group of one parent, and of the other parent all the rest.

    The group may be that of the unused features.
    """
    return _child(mothers, fathers, random), _child(fathers, mothers, random)


def mutated(population: Population, probability: float, random: np.random.Generator, rule: str = FREE) -> Population:
    """With this probability each feature leaves its group for another one, for the unused, or for a group of its own.

    By the rule that is printed it leaves its group for another one, or for a group of its own where there is just one;
    what is unused has no group to leave, and nothing becomes unused. So the search can hardly split groups.
    """
    printed = rule == PRINTED
    targets = _printed_targets(population) if printed else _targets(population)
    own = np.where(population == UNUSED, population.shape[1], population)
    choice = _other(targets, own, random)
    moved = random.random(population.shape) < probability
    if printed:
        moved &= population != UNUSED
    return named(np.where(moved, _called(choice, population.shape[1]), population))


def _child(giver: Population, receiver: Population, random: np.random.Generator) -> Population:
    rows, features = giver.shape
    weights = random.random((rows, features + 1)) * _occupied(giver)
    chosen = weights.argmax(axis=1)[:, None]
    name = np.where(chosen == features, UNUSED, chosen)
    inherited = np.where(chosen == features, UNUSED, features)  # a name that no group of the receiver has
    return named(np.where(giver == name, inherited, receiver))


def _occupied(population: Population) -> Mask:
    """Which groups there are, by name; in the last column, whether there are unused features."""
    leads = population == np.arange(population.shape[1])
    return np.column_stack([leads, (population == UNUSED).any(axis=1)])


def _targets(population: Population) -> Mask:
    """Where a feature may go: rows × groups by name, the unused, and a group of its own."""
    groups = population == np.arange(population.shape[1])
    always = np.ones((len(population), 1), bool)
    return np.column_stack([groups, always, always])


def _printed_targets(population: Population) -> Mask:
    """The same by the printed rule: another group, and a group of its own only where there is just one."""
    groups = population == np.arange(population.shape[1])
    alone = groups.sum(axis=1, keepdims=True) == 1
    return np.column_stack([groups, np.zeros_like(alone), alone])


def _other(targets: Mask, own: Population, random: np.random.Generator) -> Population:
    """For each feature one of the targets that it is not in, each as likely as the other."""
    rows, features = own.shape
    weights = random.random((rows, features, targets.shape[1])) * targets[:, None, :]
    np.put_along_axis(weights, own[:, :, None], 0, axis=2)
    return weights.argmax(axis=2)


def _called(target: Population, features: int) -> Population:
    """The name of the target; a new group gets one that no other feature gives."""
    names = np.where(target == features, UNUSED, target)
    return np.where(target == features + 1, features + 1 + np.arange(features), names)
