"""A mixed table drawn anew, group by group: every released cell has the statistics of its group in expectation.

Each row draws scores: normal numbers with the correlations of its group, one for every number, for every nominal value
and for every gap. From these, columns are made by themselves. A group of few rows has no correlations but those of its
single rows: if one of them differs from the others in several columns, these would change together, and the released
row would be that patient. So the covariance between columns is shrunk to none, entirely where a group has no more than
`ROWS_A_COLUMN` rows for every column.

- A number has the mean and the variance of its group. The covariance is first shrunk towards a diagonal one that is
  public: a group of few rows has no spread at all in most directions, and rows drawn from it would lie in the flat
  through the original ones. Numbers are then cut off at public bounds and rounded to the unit of their column.
- A nominal value is drawn as often as the group has it, and where its score is high. So is a gap.
- If fewer than k rows of a group have a number, the groups of which that holds are taken together within their pool.
  If even these have fewer than k numbers, none of them is released.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from mixbayes.local_methods.base import Progress
from mixbayes.local_methods.condensation.bounded import parameters
from mixbayes.local_methods.condensation.synthesis import Draw, deviations_like, normal
from mixbayes.local_methods.coordinates import APART, Coordinates, columns_of, nominals, numerics
from mixbayes.local_methods.grouping import Groups
from mixbayes.local_methods.tables import Codes, Column, Floats, Mask, Numeric, Table

Members = NDArray[np.intp]

PUBLIC_DEVIATION = 1 / 20
"""Of the width of a column's bounds: the deviation towards which that of every group is shrunk."""
FLAT = 1e-9
"""A deviation below it, in deviations of the column, is a rounding error."""
ROWS_A_COLUMN = 5
"""Rows of a group for every column, from which on its covariances are more than its single rows."""
AT_ONCE = 1 << 12
"""Rows that are drawn at a time, or one group."""


@dataclass(frozen=True, eq=False)
class Grouped:
    """The groups of the rows, how many rows each has at least, and which may be taken together."""

    groups: Groups
    k: int
    pools: Codes
    """By row; a group lies in one pool."""

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        return np.bincount(self.groups)

    @cached_property
    def parts(self) -> list[list[Members]]:
        """The rows of each group, of some groups at a time."""
        order = np.argsort(self.groups, kind="stable")
        ends = np.cumsum(self.sizes)
        turns = np.flatnonzero(np.diff(ends // AT_ONCE, prepend=0))
        members = np.split(order, ends[:-1])
        return [members[low:high] for low, high in zip([0, *turns], [*turns, len(members)], strict=True) if low < high]

    def sums(self, numbers: Floats) -> Floats:
        """Of each group; gaps are left out."""
        return np.bincount(self.groups, np.nan_to_num(numbers)).astype(np.float64)


def resynthesised(
    table: Table, grouped: Grouped, random: np.random.Generator, draw: Draw, progress: Progress
) -> tuple[Table, int]:
    """A new table of the same groups, row for row in their places, and how many cells were suppressed.

    Numbers are fractions of the way between the public bounds of their columns.
    """
    plan = _Plan.of(table)
    apart = share_apart(grouped.k, len(plan.numbers) + len(plan.nominal) + len(plan.gaps))
    scores = np.empty((table.rows, len(plan.numbers)))
    gone = np.zeros((table.rows, len(plan.numbers)), bool)
    codes = [np.empty(table.rows, np.int64) for _ in plan.nominal]
    done = 0
    for part in grouped.parts:
        rows = np.concatenate(part)
        together, shares, spread = map(
            np.concatenate, zip(*(plan.together(each, apart, random, draw) for each in part), strict=True)
        )
        drawn = np.sqrt(1 - apart) * together + np.sqrt(apart) * plan.apart(shares, spread, random)
        scores[rows] = drawn[:, plan.parts[0]] / spread[:, plan.parts[0]]
        for into, coded, span in zip(codes, plan.nominal, plan.parts[1:-1], strict=True):
            chosen = _chosen(drawn[:, span] / APART, shares[:, span])
            into[rows] = _member(coded, chosen, grouped.groups[rows], rows, random)
        span = plan.parts[-1]
        gone[np.ix_(rows, plan.gaps)] = ndtr(drawn[:, span] / spread[:, span]) > 1 - shares[:, span]
        done += len(part)
        progress("drawing the groups", done, len(grouped.sizes))
    moments = [_Moments.of(column, grouped) for column in plan.numbers]
    columns: dict[int, Column] = {
        at: Numeric(np.where(gone[:, j], np.nan, _numbers(moments[j], scores[:, j], grouped, random)))
        for j, at in enumerate(table.numeric)
    }
    for new, (at, column) in zip(codes, nominals(table), strict=True):
        columns[at] = column.with_codes(new)
    return table.with_columns(columns), sum(one.suppressed for one in moments)


def share_apart(k: int, columns: int) -> float:
    """How much of the covariance between columns is left out: all of it where k rows cannot tell it."""
    return min(1.0, ROWS_A_COLUMN * columns / max(1, k - 1))


@dataclass(frozen=True, eq=False)
class _Coded:
    """A nominal column, and the indicator that stands for each of its values; several rare ones share the last."""

    codes: Codes
    indicators: Codes
    """Of every row."""


@dataclass(frozen=True, eq=False)
class _Plan:
    """The columns of the table, and how rows of it become a matrix."""

    numbers: list[Floats]
    scaled: list[Floats] = field(repr=False)
    """The numbers, centred and in deviations of their columns."""
    nominal: list[_Coded]
    parts: list[slice]
    """In the matrix: the numbers, each nominal column's indicators, and where numbers are missing."""
    gaps: Members
    """The numeric columns with missing cells."""

    @classmethod
    def of(cls, table: Table) -> _Plan:
        place = Coordinates.of(table)
        numbers = [column.numbers for _, column in numerics(table)]
        scaled = [(column - place.centre[at]) / place.spread[at] for at, column in enumerate(numbers)]
        nominal = [_Coded(column.codes, place.indicators[at][column.codes]) for at, column in nominals(table)]
        gaps = np.flatnonzero([np.isnan(column).any() for column in numbers])
        widths = [len(numbers), *(int(place.indicators[at].max()) + 1 for at, _ in nominals(table)), len(gaps)]
        return cls(numbers, scaled, nominal, columns_of(widths), gaps)

    def together(
        self, members: Members, apart: float, random: np.random.Generator, draw: Draw
    ) -> tuple[Floats, Floats, Floats]:
        """For each row of a group scores with the covariance of the group, if it is used at all; and, the same for all
        of its rows, the share of the rows that have the nominal value or the gap that a score stands for, and the
        deviation of the scores."""
        rows = self._matrix(members)
        mean, spread = rows.mean(axis=0), rows.std(axis=0)
        scores = deviations_like(rows - mean, random, draw) if apart < 1 else np.zeros_like(rows)
        shares = np.broadcast_to(mean / APART, rows.shape)
        return scores, shares, np.broadcast_to(np.where(spread < FLAT, 1.0, spread), rows.shape)

    def apart(self, shares: Floats, spread: Floats, random: np.random.Generator) -> Floats:
        """Scores with the same deviations, in which no column has to do with another one."""
        scores = normal(random, shares.shape)
        for span in self.parts[1:-1]:
            scores[:, span] *= np.sqrt(shares[:, span])
            scores[:, span] -= shares[:, span] * scores[:, span].sum(axis=1, keepdims=True)
        names = slice(self.parts[0].stop, self.parts[-1].start)
        scores[:, names] *= APART
        for span in (self.parts[0], self.parts[-1]):
            scores[:, span] *= spread[:, span]
        return scores

    def _matrix(self, members: Members) -> Floats:
        """Rows × coordinates: what their covariance is taken of."""
        matrix = np.zeros((len(members), self.parts[-1].stop))
        every = np.arange(len(members))
        for at, column in enumerate(self.scaled):
            cells = column[members]
            present = ~np.isnan(cells)
            matrix[:, at] = np.where(present, cells, cells[present].mean() if present.any() else 0.0)
        for span, coded in zip(self.parts[1:-1], self.nominal, strict=True):
            matrix[every, span.start + coded.indicators[members]] = APART
        for at, gap in zip(range(self.parts[-1].start, self.parts[-1].stop), self.gaps, strict=True):
            matrix[:, at] = APART * np.isnan(self.numbers[gap][members])
        return matrix


def _chosen(scores: Floats, shares: Floats) -> Codes:
    """For every row one of the indicators, each with the probability that is its share, and where its score is high.

    The rarest of the table is asked first, and each is chosen with its share of what is left. Its score is made
    independent of the scores before it. Their covariance is that of shares, so this is a sum: with a share of r left,
    X_v + (p_v / r) ΣX has no covariance with any X that was before.
    """
    left = np.cumsum(shares, axis=1)
    chosen: Codes = np.zeros(len(scores), np.int64)
    before, open_ = np.zeros(len(scores)), np.ones(len(scores), bool)
    for at in range(scores.shape[1] - 1, 0, -1):
        part = np.divide(shares[:, at], left[:, at], out=np.zeros(len(left)), where=left[:, at] > 0)
        variance = shares[:, at] * (1 - part)
        varies = variance > FLAT
        height = (scores[:, at] + part * before) / np.sqrt(np.where(varies, variance, 1.0))
        here = open_ & np.where(varies, ndtr(height) > 1 - part, part > 0.5)
        chosen[here] = at
        open_ &= ~here
        before = before + scores[:, at]
    return chosen


def _member(column: _Coded, chosen: Codes, groups: Groups, rows: Members, random: np.random.Generator) -> Codes:
    """The value of any row of the same group that has the chosen indicator."""
    width = int(column.indicators.max()) + 1
    keys = groups * width + column.indicators[rows]
    order = np.argsort(keys, kind="stable")
    wanted = groups * width + chosen
    first, last = (np.searchsorted(keys[order], wanted, side) for side in ("left", "right"))
    lot = first + np.floor(random.random(len(rows)) * (last - first)).astype(np.intp)
    return column.codes[rows][order[lot]]


@dataclass(frozen=True, eq=False)
class _Moments:
    """Mean and variance of one number in each group; not-a-number where it is suppressed."""

    mean: Floats
    variance: Floats
    suppressed: int
    """Cells."""

    @classmethod
    def of(cls, numbers: Floats, grouped: Grouped) -> _Moments:
        present = np.bincount(grouped.groups, ~np.isnan(numbers))
        mean = grouped.sums(numbers) / np.maximum(present, 1)
        variance = grouped.sums((numbers - mean[grouped.groups]) ** 2) / np.maximum(present, 1)
        thin = present < grouped.k
        suppressed = 0
        for pool, groups in _pools(grouped, thin):
            cells = numbers[pool & thin[grouped.groups]]
            cells = cells[~np.isnan(cells)]
            enough = len(cells) >= grouped.k
            mean[groups], variance[groups] = (cells.mean(), cells.var()) if enough else (np.nan, np.nan)
            suppressed += 0 if enough else len(cells)
        return cls(mean, variance, suppressed)


def _pools(grouped: Grouped, thin: Mask) -> list[tuple[Mask, NDArray[np.intp]]]:
    """The rows of every pool that has such groups, and these groups."""
    of_group = np.zeros(len(grouped.sizes), np.int64)
    of_group[grouped.groups] = grouped.pools
    return [(grouped.pools == pool, np.flatnonzero(thin & (of_group == pool))) for pool in np.unique(of_group[thin])]


def _numbers(moments: _Moments, scores: Floats, grouped: Grouped, random: np.random.Generator) -> Floats:
    """The numbers of a column, from their scores."""
    weight = 1 / (grouped.k + 1)
    own, public = (1 - weight) * moments.variance, weight * PUBLIC_DEVIATION**2
    centre, deviation = parameters(moments.mean, own + public)
    of_own, of_public = np.sqrt(own / (own + public)), np.sqrt(public / (own + public))
    groups = grouped.groups
    mixed = of_own[groups] * scores + of_public[groups] * normal(random, (len(scores),))
    return np.clip(centre[groups] + deviation[groups] * mixed, 0, 1)
