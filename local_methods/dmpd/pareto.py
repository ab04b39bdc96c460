"""The search for all trade-offs at once: partitions of which none has both more anonymity and more accuracy.

The paper does not name its multi-objective algorithm, and cites several. This is NSGA-II (Deb and others, 2002): the
next generation is the best of parents and children, first by their front, then by their distance to others on the front
(crowding distance). An archive keeps every partition that no other one seen so far dominates. The algorithm is written
out here, because pymoo would bring ten packages for a page of code.
"""

from __future__ import annotations

import numpy as np

from mixbayes.local_methods.base import Progress
from mixbayes.local_methods.dmpd.anonymity import Levels
from mixbayes.local_methods.dmpd.genetic import SEARCHING, Judge, Judged, Settings, children_of, drawn
from mixbayes.local_methods.dmpd.partition import UNUSED, Population, random_population
from mixbayes.local_methods.tables import Codes, Floats, Mask


def search_front(
    judge: Judge, levels: Levels, features: int, settings: Settings, random: np.random.Generator, progress: Progress
) -> Judged:
    """The partitions that nothing seen dominates, one for each trade-off, the least anonymous first."""
    living = judge(_first_population(levels, features, settings.population, random))
    kept = undominated(living)
    for generation in range(settings.generations if features else 0):
        progress(SEARCHING, generation, settings.generations)
        parents = living.partitions[drawn(preference(objectives(living)), settings.population, random)]
        born = judge(children_of(parents, settings, random))
        kept = undominated(kept.and_(born))
        living = survivors(living.and_(born), settings.population)
    progress(SEARCHING, settings.generations, settings.generations)
    return kept


def objectives(judged: Judged) -> Floats:
    """What is to be large: the level of anonymity and the accuracy."""
    return np.column_stack([judged.levels.astype(np.float64), judged.accuracies])


def fronts(values: Floats) -> Codes:
    """For each row the front it is on: 0 if no row dominates it, 1 if only rows of front 0 do, and so on."""
    dominates = _dominates(values)
    front = np.full(len(values), -1)
    at = 0
    while (left := front < 0).any():
        front[left & ~dominates[left].any(axis=0)] = at
        at += 1
    return front


def crowding(values: Floats, front: Codes) -> Floats:
    """How far apart the neighbours of each row are on its front, in ranges of the objectives; infinite at the ends."""
    distance = np.zeros(len(values))
    for at in range(int(front.max(initial=-1)) + 1):
        members = np.flatnonzero(front == at)
        for objective in values.T:
            order = members[objective[members].argsort(kind="stable")]
            span = np.ptp(objective[members]) or 1.0
            distance[order[1:-1]] += (objective[order[2:]] - objective[order[:-2]]) / span
            distance[order[[0, -1]]] = np.inf
    return distance


def preference(values: Floats) -> Codes:
    """The one to be preferred to all others has the highest."""
    front = fronts(values)
    order = np.lexsort((crowding(values, front), -front))
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


def survivors(judged: Judged, count: int) -> Judged:
    """The most preferred; partitions that come up twice are taken only if there are not enough others."""
    first = np.unique(judged.partitions, axis=0, return_index=True)[1]
    again = np.setdiff1d(np.arange(len(judged.levels)), first)
    best = first[preference(objectives(judged.take(first))).argsort()[::-1]]
    return judged.take(np.append(best, again)[:count])


def undominated(judged: Judged) -> Judged:
    """One partition for each trade-off that no other one dominates, the least anonymous first."""
    order = np.lexsort((-judged.accuracies, -judged.levels))
    best = np.maximum.accumulate(judged.accuracies[order])
    better = np.append(True, judged.accuracies[order][1:] > best[:-1])
    return judged.take(order[better][::-1])


def _dominates(values: Floats) -> Mask:
    """Whether row i is nowhere smaller than row j, and somewhere larger."""
    one, other = values[:, None, :], values[None, :, :]
    return np.logical_and((one >= other).all(axis=2), (one > other).any(axis=2))


def _first_population(levels: Levels, features: int, size: int, random: np.random.Generator) -> Population:
    """Half of it at random; half, the features that reach a level by themselves, each by itself, for many levels."""
    if not features:
        return np.empty((1, 0), np.int64)
    alone = np.array([levels.of_group([at]) for at in range(features)])
    steps = np.append(np.unique(alone), alone.max() + 1)  # beyond all levels: nothing is used
    steps = steps[np.unique(np.linspace(0, len(steps) - 1, max(2, size // 2)).round().astype(int))]
    apart = np.where(alone >= steps[:, None], np.arange(features), UNUSED)
    drawn_ones = random_population(max(0, size - len(apart)), features, random)
    return np.vstack([apart, drawn_ones])
