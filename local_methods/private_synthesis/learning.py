"""From counts to a tree of tables: noise, the choice of pairs, and agreement between the noisy counts.

The steps are those of MST (McKenna, Miklau and Sheldon 2021): noisy counts of every column, rare values merged, pairs
chosen, noisy counts of the pairs, a model that agrees with all of them. What differs: every column is counted together
with the class, in place of the column alone, so that its own counts are sums of these; pairs are chosen by what the
class leaves unexplained; on few rows no pairs are. Without classes there is one class, and the steps are the paper's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixbayes.local_methods.base import Progress
from mixbayes.local_methods.private_synthesis.agreeing import agreed, fitted, not_negative, part, summed
from mixbayes.local_methods.private_synthesis.counting import PairCounts, together
from mixbayes.local_methods.private_synthesis.drawing import DrawingTree, Drawn, ValueShares
from mixbayes.local_methods.private_synthesis.plan import BudgetPlan, BudgetPlans
from mixbayes.local_methods.tables import Codes, Floats, Mask
from mixbayes.privacy.coins import Coins
from mixbayes.privacy.drawing import draw_choice, draw_noise
from mixbayes.privacy.loss import Release, Step

RARE = 1.5
"""Values with fewer rows than so many deviations of the noise are merged; the paper has three."""
ENOUGH = 200
"""Pairs are chosen where there are so many rows to one deviation of the noise."""
A_BIN = 4
"""A number is counted in so many bins that, evenly spread, each would have so many deviations of the noise of rows."""
FEWEST = 4
"""Nor is it counted in fewer bins."""
LARGEST = 1 << 20
"""A pair that would have more cells, together with the class, is not chosen."""

TwoColumns = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Curator:
    """Adds noise to what it is asked for, and writes down what it gave away."""

    counts: PairCounts = field(repr=False)
    source: Random = field(repr=False)
    spent: list[Step] = field(default_factory=list)

    def measured(self, counts: Codes, coins: Coins) -> Floats:
        """Counts of which one row touches one, by one."""
        self.spent.append(Release(coins, 1))
        noise = draw_noise(coins, counts.size, self.source).reshape(counts.shape)
        return (counts + noise).astype(np.float64)

    def chosen(self, scores: Sequence[int], plan: BudgetPlan) -> int:
        """The place of a score; one row changes none by more than one."""
        self.spent.append(plan.one_choice)
        return draw_choice(scores, plan.choice, self.source)


@dataclass(frozen=True, eq=False)
class CountedColumn:
    """A column counted together with the class: classes × values, each of which is a group of places of its grid."""

    table: Floats = field(repr=False)
    groups: Codes = field(repr=False)
    """The value of each place of the grid."""
    likely: Floats = field(repr=False)
    """How likely each place is among those of its value."""
    cells: Codes = field(repr=False)
    """How many noisy counts each value is the sum of, in each class."""

    @property
    def size(self) -> int:
        return len(self.cells)

    @property
    def merged(self) -> Mask:
        """The places of the grid that share their value with others."""
        return np.bincount(self.groups)[self.groups] > 1


@dataclass(frozen=True, eq=False)
class LearnedTree:
    """The tree to draw from, and what a report says of it."""

    tree: DrawingTree
    pairs: tuple[TwoColumns, ...]
    plan: BudgetPlan
    columns: Sequence[CountedColumn] = field(repr=False)


def learned(
    curator: Curator, ordered: Sequence[bool], bins: int, plans: BudgetPlans, progress: Progress
) -> LearnedTree:
    """From counts of columns of which the last one is the class; of the others, whether they are numbers in order."""
    of_class = len(ordered)
    classes = curator.measured(curator.counts.of_pair(of_class, 0).sum(axis=1), plans.with_pairs.classes)
    rows = max(1.0, float(np.cumsum(classes)[-1]))
    plan = chosen_plan(plans, rows)
    columns = []
    for at, numeric in enumerate(ordered):
        progress("columns", at, of_class)
        columns.append(_column(curator, curator.counts.of_pair(of_class, at), numeric, bins, plan.coins, rows))
    progress("columns", of_class, of_class)
    evidence = Evidence(classes, columns, {}, plan)
    if plan.choices:
        counts = curator.counts.merged([*(column.groups for column in columns), np.arange(len(classes))])
        pairs = _chosen_pairs(curator, counts, evidence.model(), plan)
        found = {pair: curator.measured(counts.of_pair(*pair), plan.coins) for pair in pairs}
        evidence = Evidence(classes, columns, found, plan)
    return LearnedTree(evidence.model().tree(columns), tuple(evidence.pairs), plan, columns)


def chosen_plan(plans: BudgetPlans, rows: float) -> BudgetPlan:
    """By the noisy number of rows."""
    enough = rows >= ENOUGH * plans.with_pairs.coins.deviation
    return plans.with_pairs if enough or plans.without_pairs is None else plans.without_pairs


def _column(curator: Curator, counts: Codes, numeric: bool, bins: int, coins: Coins, rows: float) -> CountedColumn:
    """Counted with the class, at first in many small bins, of which neighbours are then merged; or value by value."""
    places, noise = counts.shape[1], coins.deviation * math.sqrt(counts.shape[0])
    cells = np.arange(places)
    if numeric:
        wanted = min(places - 1, max(FEWEST, 1 << max(0, int(rows / (A_BIN * noise)).bit_length() - 1)))
        cells = np.append(cells[:-1] * wanted // (places - 1), wanted)
    noisy = curator.measured(together(counts, np.arange(len(counts)), cells), coins)
    sums = summed(noisy, 0)
    groups = _neighbours(sums, noise, rows / bins) if numeric else _common_and_rare(sums, noise)
    table = np.zeros((len(noisy), int(groups.max()) + 1))
    np.add.at(table.T, groups, noisy.T)
    likely = part(np.maximum(sums, 0), np.bincount(cells).astype(np.float64))[cells]
    return CountedColumn(table, groups[cells], likely, np.bincount(groups))


def _common_and_rare(counts: Floats, noise: float) -> Codes:
    """A value each for those with enough rows, and one for all others together."""
    rare = counts < RARE * noise
    return np.where(rare, np.count_nonzero(~rare), np.cumsum(~rare) - 1)


def _neighbours(counts: Floats, noise: float, wanted: float) -> Codes:
    """Bins put together until they have enough rows; missing cells, the last place, are no bin's neighbour."""
    groups, group, rows, many = np.zeros(len(counts), np.int64), 0, 0.0, 0
    for at, count in enumerate(counts[:-1].tolist()):
        groups[at], rows, many = group, rows + count, many + 1
        if rows >= max(wanted, RARE * noise * math.sqrt(many)):
            group, rows, many = group + 1, 0.0, 0
    if many and group:
        groups[groups == group] = group - 1
    last = int(groups[:-1].max())
    groups[-1] = last + 1 if counts[-1] >= RARE * noise else last
    return groups


@dataclass(frozen=True, eq=False)
class Evidence:
    """All noisy counts."""

    classes: Floats = field(repr=False)
    columns: Sequence[CountedColumn] = field(repr=False)
    pairs: Mapping[TwoColumns, Floats] = field(repr=False)
    plan: BudgetPlan

    def model(self) -> AgreedTables:
        """Counts near to these that agree with each other, and of which none is negative."""
        classes = self._classes()
        total = float(np.cumsum(classes)[-1])
        sums = [not_negative(self._sums(at), total) for at in range(len(self.columns))]
        with_class = [agreed(column.table, classes, own) for column, own in zip(self.columns, sums, strict=True)]
        pairs = {(a, b): agreed(noisy, sums[a], sums[b]) for (a, b), noisy in self.pairs.items()}
        return AgreedTables(classes, with_class, pairs)

    def _classes(self) -> Floats:
        found = _Mean.of(self.classes, self.plan.classes.deviation**2)
        for column in self.columns:
            found = found.and_(summed(column.table, 1), self._variance * int(column.cells.sum()))
        return not_negative(found.mean, max(1.0, float(np.cumsum(found.mean)[-1])))

    def _sums(self, at: int) -> Floats:
        column = self.columns[at]
        found = _Mean.of(summed(column.table, 0), self._variance * len(self.classes) * column.cells)
        for pair, noisy in self.pairs.items():
            if at in pair:
                axis = 1 - pair.index(at)
                found = found.and_(summed(noisy, axis), self._variance * noisy.shape[axis])
        return found.mean

    @property
    def _variance(self) -> float:
        return self.plan.coins.deviation**2


@dataclass(frozen=True, eq=False)
class _Mean:
    """Of several noisy counts of the same rows, by the inverse of their variances."""

    weighted: Floats
    weights: Floats

    @staticmethod
    def of(counts: Floats, variance: NDArray[np.floating[Any]] | float) -> _Mean:
        return _Mean(counts / variance, 1 / np.broadcast_to(variance, counts.shape))

    def and_(self, counts: Floats, variance: float) -> _Mean:
        return _Mean(self.weighted + counts / variance, self.weights + 1 / variance)

    @property
    def mean(self) -> Floats:
        return self.weighted / self.weights


@dataclass(frozen=True, eq=False)
class AgreedTables:
    """Tables that agree: of the classes, of each column with the class, and of pairs of columns that form a forest."""

    classes: Floats = field(repr=False)
    with_class: Sequence[Floats] = field(repr=False)
    pairs: Mapping[TwoColumns, Floats] = field(repr=False)

    def by_class_alone(self, one: int, other: int) -> Floats:
        """Two columns that have nothing to do with each other within a class: classes × values × values."""
        first, second = self.with_class[one], self.with_class[other]
        return part(first[:, :, None] * second[:, None, :], self.classes[:, None, None])

    def with_parent(self, parent: int, child: int) -> Floats:
        """Classes × values of the parent × values of the child, with the sums of all three tables of two of them."""
        both = self.pairs[parent, child] if (parent, child) in self.pairs else self.pairs[child, parent].T
        guess = self.by_class_alone(parent, child)
        start = guess * part(both, summed(guess, 0))
        return fitted(start, [(0, both), (1, self.with_class[child]), (2, self.with_class[parent])])

    def tree(self, columns: Sequence[CountedColumn]) -> DrawingTree:
        """The class first; every other column after the class and the column that it is paired with."""
        of_class = len(columns)
        alone = ValueShares.of(np.identity(len(self.classes)))
        drawn = [Drawn(of_class, (), ValueShares.of(self.classes[None]), alone)]
        for parent, child in _order(of_class, self.pairs):
            table = self.with_class[child] if parent is None else self.with_parent(parent, child)
            parents = (of_class,) if parent is None else (of_class, parent)
            drawn.append(
                Drawn(child, parents, ValueShares.of(table.reshape(-1, table.shape[-1])), _within(columns[child]))
            )
        sizes = (*(column.size for column in columns), len(self.classes))
        return DrawingTree(drawn, sizes, max(1, round(float(np.cumsum(self.classes)[-1]))))


def _within(column: CountedColumn) -> ValueShares:
    table = np.zeros((column.size, len(column.groups)))
    places = np.arange(len(column.groups))
    table[column.groups, places] = np.maximum(column.likely, np.finfo(float).tiny)  # where no place is likely, all are
    return ValueShares.of(table)


def _order(columns: int, pairs: Iterable[TwoColumns]) -> Iterator[tuple[int | None, int]]:
    """Every column once, after its parent if it has one."""
    beside: dict[int, list[int]] = {at: [] for at in range(columns)}
    for one, other in pairs:
        beside[one].append(other)
        beside[other].append(one)
    seen: set[int] = set()
    for root in range(columns):
        waiting: list[tuple[int | None, int]] = [(None, root)]
        while waiting:
            parent, child = waiting.pop()
            if child not in seen:
                seen.add(child)
                yield parent, child
                waiting.extend((child, further) for further in beside[child])


def _chosen_pairs(curator: Curator, counts: PairCounts, model: AgreedTables, plan: BudgetPlan) -> list[TwoColumns]:
    """A forest, pair by pair as Kruskal's, of those that the class leaves least explained."""
    pairs = [pair for pair in combinations(range(len(model.with_class)), 2) if _cells(model, pair) <= LARGEST]
    scores = {pair: _unexplained(counts.of_pair(*pair), summed(model.by_class_alone(*pair), 0)) for pair in pairs}
    tree_of, found = list(range(len(model.with_class))), list[TwoColumns]()
    while pairs := [(one, other) for one, other in pairs if tree_of[one] != tree_of[other]]:
        pair = pairs[curator.chosen([scores[pair] for pair in pairs], plan)]
        found.append(pair)
        joined, kept = (tree_of[at] for at in pair)
        tree_of = [kept if at == joined else at for at in tree_of]
    return found


def _cells(model: AgreedTables, pair: TwoColumns) -> int:
    return len(model.classes) * model.with_class[pair[0]].shape[1] * model.with_class[pair[1]].shape[1]


def _unexplained(counts: Codes, expected: Floats) -> int:
    """How far the counts are from what is expected, which is rounded: a row changes the whole number by one."""
    return int(np.abs(counts - np.rint(expected).astype(np.int64)).sum())
