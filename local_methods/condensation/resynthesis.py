"""A mixed table drawn anew, group by group: every released cell has the statistics of its group in expectation.

Each row draws scores: normal numbers with the correlations of its group, one for every number, for every nominal value
and for every gap. From these, columns are made by themselves.

- A number has the mean and the variance of its group. The covariance is first shrunk towards a diagonal one that is
  public: a group of few rows has no spread at all in most directions, and rows drawn from it would lie in the flat
  through the original ones. Numbers are then cut off at public bounds and rounded to the unit of their column.
- A nominal value is drawn as often as the group has it, more often where its score is high. So is a gap.
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
from mixbayes.local_methods.domain import Unit
from mixbayes.local_methods.grouping import Groups
from mixbayes.local_methods.tables import Codes, Column, Floats, Mask, Numeric, Table

Members = NDArray[np.intp]

PUBLIC_DEVIATION = 1 / 20
"""Of the width of a column's bounds: the deviation towards which that of every group is shrunk."""
FLAT = 1e-9
"""A deviation below it, in deviations of the column, is a rounding error."""
AT_ONCE = 1 << 12
"""Rows that are drawn at a time, or one group."""


@dataclass(frozen=True)
class Measured:
    """What is public of a numeric column."""

    low: float
    high: float
    unit: Unit | None
    """In which its cells are recorded."""

    def cut_off(self, numbers: Floats) -> Floats:
        """The numbers in the column's unit, between its bounds."""
        if self.unit is None:
            return np.clip(numbers, self.low, self.high)
        return np.clip(self.unit.rounded(numbers), *self.unit.within(self.low, self.high))


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
    table: Table,
    grouped: Grouped,
    measured: list[Measured],
    random: np.random.Generator,
    draw: Draw,
    progress: Progress,
) -> tuple[Table, int]:
    """A new table of the same groups, row for row in their places, and how many cells were suppressed."""
    plan = _Plan.of(table)
    scores = np.empty((table.rows, len(plan.numbers)))
    gone = np.zeros((table.rows, len(plan.numbers)), bool)
    codes = [np.empty(table.rows, np.int64) for _ in plan.nominal]
    done = 0
    for part in grouped.parts:
        rows = np.concatenate(part)
        drawn, likely = map(np.concatenate, zip(*(plan.drawn(each, random, draw) for each in part), strict=True))
        scores[rows], heights = drawn[:, plan.parts[0]], ndtr(drawn)
        for into, coded, span in zip(codes, plan.nominal, plan.parts[1:-1], strict=True):
            chosen = _chosen(heights[:, span], likely[:, span])
            into[rows] = _member(coded, chosen, grouped.groups[rows], rows, random)
        span = plan.parts[-1]
        gone[np.ix_(rows, plan.gaps)] = heights[:, span] > 1 - likely[:, span]
        done += len(part)
        progress("drawing the groups", done, len(grouped.sizes))
    moments = [_Moments.of(column, grouped) for column in plan.numbers]
    columns: dict[int, Column] = {
        at: Numeric(_numbers(one, known, scores[:, j], gone[:, j], grouped, random))
        for j, (at, one, known) in enumerate(zip(table.numeric, moments, measured, strict=True))
    }
    for new, (at, column) in zip(codes, nominals(table), strict=True):
        columns[at] = column.with_codes(new)
    return table.with_columns(columns), sum(one.suppressed for one in moments)


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

    def drawn(self, members: Members, random: np.random.Generator, draw: Draw) -> tuple[Floats, Floats]:
        """For each row of a group, standard normal numbers with the correlations of the group, and for each of them
        the share of the rows that have the nominal value or the gap that it stands for."""
        rows = self._matrix(members)
        shares = rows.mean(axis=0)
        scores, spread = deviations_like(rows - shares, random, draw), rows.std(axis=0)
        flat = spread < FLAT
        scores[:, flat] = normal(random, (len(rows), int(flat.sum())))
        return scores / np.where(flat, 1.0, spread), np.broadcast_to(shares / APART, rows.shape)

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


def _chosen(heights: Floats, likely: Floats) -> Codes:
    """For every row one of the indicators, each with its share, the rarest of the table first.

    `heights` are uniform between 0 and 1. An indicator is chosen where it is high enough, of the share that is left.
    """
    left = np.cumsum(likely, axis=1)
    chosen: Codes = np.zeros(len(heights), np.int64)
    for at in range(1, heights.shape[1]):  # the later and rarer one replaces what was chosen before
        share = np.divide(likely[:, at], left[:, at], out=np.zeros(len(left)), where=left[:, at] > 0)
        chosen = np.where(heights[:, at] > 1 - share, at, chosen)
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


def _numbers(
    moments: _Moments, known: Measured, scores: Floats, gone: Mask, grouped: Grouped, random: np.random.Generator
) -> Floats:
    """The numbers of a column, from their scores."""
    width = known.high - known.low
    new = normal(random, (len(scores),))
    if not width > 0:
        return np.where(gone | np.isnan(moments.mean[grouped.groups]), np.nan, known.low)
    public = 1 / (grouped.k + 1)
    mean = np.clip((moments.mean - known.low) / width, 0, 1)
    own, all_ = (1 - public) * moments.variance / width**2, public * PUBLIC_DEVIATION**2
    centre, deviation = parameters(mean, own + all_)
    weights = np.sqrt(np.array([own, np.full_like(own, all_)]) / (own + all_))[:, grouped.groups]
    fraction = centre[grouped.groups] + deviation[grouped.groups] * (weights[0] * scores + weights[1] * new)
    found = known.cut_off(known.low + width * np.clip(fraction, 0, 1))
    return np.where(gone, np.nan, found)
