"""A mixed table drawn anew, group by group.

Numbers keep the mean and covariance of their group exactly. The indicators of nominal values are drawn with them, and
the values are then given to the rows that they fit best. Every value occurs in a group as often as before, and its
relation to the numbers and to the other values is about the same. Missing cells, if they are kept, are distributed in
the same way; the present numbers then keep their mean and variance, and the covariances only roughly. If fewer than k
rows of a group have a number, all such groups are pooled: their numbers keep their common mean and variance. If even
the pool has fewer than k numbers, none of them is released.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixbayes.local_methods.base import Progress
from mixbayes.local_methods.condensation.synthesis import Draw, dealt, recoloured
from mixbayes.local_methods.coordinates import APART, Coordinates, columns_of, nominals, numerics
from mixbayes.local_methods.grouping import Groups
from mixbayes.local_methods.tables import Codes, Column, Floats, Mask, Numeric, Table

Members = NDArray[np.intp]


def members_of(groups: Groups) -> list[Members]:
    """The rows of each group."""
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.cumsum(np.bincount(groups))[:-1])


def resynthesised(
    table: Table, groups: Groups, pools: Codes, k: int, random: np.random.Generator, draw: Draw, progress: Progress
) -> Table:
    """A new table of the same groups: the rows of a group stand where its old rows stood, in no order.

    Groups that have too few of a number are taken together within a pool; a group lies in one pool.
    """
    plan = _Plan.of(table)
    numbers = [np.empty(table.rows) for _ in plan.numbers]
    codes = [np.empty(table.rows, np.int64) for _ in plan.codes]
    members = members_of(groups)
    for done, rows in enumerate(members):
        new_numbers, new_codes = plan.drawn(rows, random, draw)
        for into, new in zip((*numbers, *codes), (*new_numbers.T, *new_codes), strict=True):
            into[rows] = new
        progress("drawing the groups", done + 1, len(members))
    for at in plan.gaps:
        numbers[at] = _pooled(numbers[at], plan.numbers[at], groups, pools, k, random, draw)
    columns: dict[int, Column] = dict(zip(table.numeric, map(Numeric, numbers), strict=True))
    return table.with_columns(
        columns | {at: column.with_codes(new) for new, (at, column) in zip(codes, nominals(table), strict=True)}
    )


@dataclass(frozen=True, eq=False)
class _Plan:
    """The columns of the table, and how rows of it become a matrix."""

    numbers: list[Floats]
    codes: list[Codes]
    centre: Floats
    spread: Floats
    indicators: list[Codes]
    parts: list[slice]
    """In the matrix: the numbers, each nominal column's indicators, and where numbers are missing."""
    gaps: Members
    """The numeric columns with missing cells."""

    @classmethod
    def of(cls, table: Table) -> _Plan:
        coordinates = Coordinates.of(table)
        numbers = [column.numbers for _, column in numerics(table)]
        indicators = [coordinates.indicators[at] for at, _ in nominals(table)]
        gaps = np.flatnonzero([np.isnan(column).any() for column in numbers])
        widths = [len(numbers), *(int(indicator.max()) + 1 for indicator in indicators), len(gaps)]
        return cls(
            numbers,
            [column.codes for _, column in nominals(table)],
            coordinates.centre,
            coordinates.spread,
            indicators,
            columns_of(widths),
            gaps,
        )

    def drawn(self, rows: Members, random: np.random.Generator, draw: Draw) -> tuple[Floats, list[Codes]]:
        """New numbers and new codes for one group."""
        old = np.empty((len(rows), len(self.numbers)))
        for at, column in enumerate(self.numbers):
            old[:, at] = column[rows]
        codes = [column[rows] for column in self.codes]
        new = recoloured(_gaps_at_mean(self._matrix(old, codes)), random, draw)
        numbers = self.centre + self.spread * new[:, self.parts[0]]
        constant = (old == old[0]).all(axis=0)
        numbers[:, constant] = old[0, constant]  # else rounding errors would make many numbers of one
        for part, at in enumerate(self.gaps):
            scores = new[:, self.parts[-1].start + part]
            numbers[:, at] = _with_gaps(numbers[:, at], old[:, at], scores, random)
        return numbers, [
            dealt(new[:, part], indicator, column, random)
            for part, indicator, column in zip(self.parts[1:-1], self.indicators, codes, strict=True)
        ]

    def _matrix(self, numbers: Floats, codes: list[Codes]) -> Floats:
        """Rows × coordinates: what their covariance is taken of."""
        matrix = np.zeros((len(numbers), self.parts[-1].stop))
        matrix[:, self.parts[0]] = (numbers - self.centre) / self.spread
        every = np.arange(len(numbers))
        for part, indicator, column in zip(self.parts[1:-1], self.indicators, codes, strict=True):
            matrix[every, part.start + indicator[column]] = APART
        matrix[:, self.parts[-1]] = APART * np.isnan(numbers[:, self.gaps])
        return matrix


def _gaps_at_mean(block: Floats) -> Floats:
    absent = np.isnan(block)
    if not absent.any():
        return block
    present = np.maximum((~absent).sum(axis=0), 1)
    return np.where(absent, np.where(absent, 0, block).sum(axis=0) / present, block)


def _with_gaps(new: Floats, old: Floats, scores: Floats, random: np.random.Generator) -> Floats:
    """As many gaps as before, where the scores say so; the numbers present keep the mean and variance of the old."""
    present = old[~np.isnan(old)]
    shuffled = random.permutation(len(old))
    stay: Mask = np.ones(len(old), bool)
    stay[shuffled[np.argsort(-scores[shuffled], kind="stable")[: len(old) - len(present)]]] = False
    result = np.full(len(old), np.nan)
    result[stay] = _coloured(new[stay], present)
    return result


def _pooled(
    new: Floats,
    old: Floats,
    groups: Groups,
    pools: Codes,
    k: int,
    random: np.random.Generator,
    draw: Draw,
) -> Floats:
    """The numbers of groups that have fewer than k of them, drawn anew with the moments of each pool of such groups."""
    thin = np.bincount(groups, ~np.isnan(old))[groups] < k
    for pool in np.unique(pools[thin]):
        present = old[thin & (pools == pool) & ~np.isnan(old)]
        cells = np.flatnonzero(thin & (pools == pool) & ~np.isnan(new))
        fresh = draw(random, (len(present), 1))[:, 0]
        new[cells] = _coloured(fresh, present) if len(present) >= k else np.nan
    return new


def _coloured(numbers: Floats, like: Floats) -> Floats:
    """The numbers moved and stretched to the mean and variance of others, as many."""
    spread = np.std(numbers) if len(numbers) else 0.0
    scale = np.std(like) / spread if spread > 0 else 0.0
    return numbers if not len(like) else like.mean() + (numbers - numbers.mean()) * scale
