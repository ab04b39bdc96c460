"""Rows of numeric and nominal cells as points, from which distances and covariances are computed.

A number is measured in standard deviations of its column. A nominal column has an indicator for each of its values,
scaled so that two rows with different values are at distance one. Only the most frequent values have their own
indicator, and all others share one, which bounds the dimension of the points. A missing number is placed at the mean of
its column, and a missing nominal cell is a separate value.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from mixbayes.local_methods.missing import filled
from mixbayes.local_methods.points import Points
from mixbayes.local_methods.tables import Codes, Floats, Nominal, Numeric, Table

MOST_INDICATORS = 32
APART = np.sqrt(0.5)
"""The value of an indicator: √½² + √½² = 1² between two rows with different values."""


@dataclass(frozen=True, eq=False)
class Coordinates:
    """How the rows of one table become points; other tables with its columns can be placed beside them."""

    centre: Floats
    spread: Floats
    indicators: dict[int, Codes]
    """For each nominal column, the indicator of each of its values; the last entry is a missing cell's."""

    @classmethod
    def of(cls, table: Table) -> Coordinates:
        numbers = table.numbers()
        centre, spread = np.nanmean(numbers, axis=0), np.nanstd(numbers, axis=0)
        indicators = {at: indicator_of_value(column) for at, column in nominals(table)}
        return cls(centre, np.where(spread > 0, spread, 1), indicators)

    def points(self, table: Table) -> Floats:
        """Rows × coordinates, the numbers first."""
        numbers = (table.numbers() - self.centre) / self.spread
        blocks = [APART * indicator_block(column, self.indicators[at]) for at, column in nominals(table)]
        return np.column_stack([np.nan_to_num(numbers, copy=False), *blocks])

    def columns(self, table: Table) -> Codes:
        """The position of the column that each coordinate belongs to."""
        nominal = [np.full(int(self.indicators[at].max()) + 1, at) for at, _ in nominals(table)]
        return np.concatenate([np.array(table.numeric, np.int64), *nominal])


def nominals(table: Table) -> list[tuple[int, Nominal]]:
    """The nominal columns with their positions."""
    return [(at, column) for at, column in enumerate(table.columns) if isinstance(column, Nominal)]


def numerics(table: Table) -> list[tuple[int, Numeric]]:
    """The numeric columns with their positions."""
    return [(at, column) for at, column in enumerate(table.columns) if isinstance(column, Numeric)]


def indicator_of_value(column: Nominal) -> Codes:
    """The indicator that each value of the column has, the most frequent values first; last, a missing cell's."""
    counts = np.append(column.counts(), column.missing.sum())
    rank = np.empty(len(counts), np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return np.minimum(rank, min(int((counts > 0).sum()), MOST_INDICATORS) - 1)


def indicator_block(column: Nominal, indicator: Codes) -> Floats:
    """Rows × indicators: one where the row has a value of that indicator."""
    block = np.zeros((len(column), int(indicator.max()) + 1))
    block[np.arange(len(column)), indicator[column.codes]] = 1  # code -1 takes the last entry: the missing cell's
    return block


def weighted_points(table: Table, labels: Nominal | None, weight: float, outcomes: Collection[int] = ()) -> Points:
    """The points of a table with its classes as a nominal column.

    The classes, and the columns at the positions of `outcomes`, count `weight` times in every distance.
    """
    place = Coordinates.of(table)
    table = filled(table, labels)
    numbers = np.nan_to_num((table.numbers() - place.centre) / place.spread, copy=False)
    numbers *= np.where(np.isin(table.numeric, list(outcomes)), weight, 1.0)
    columns = [(column, place.indicators[at], weight if at in outcomes else 1.0) for at, column in nominals(table)]
    if labels is not None:
        columns.append((labels, indicator_of_value(labels), weight))
    lists = [times * APART * np.eye(int(indicator.max()) + 1) for _, indicator, times in columns]
    places = np.empty((len(columns), table.rows), np.uint8)
    for into, (column, indicator, _) in zip(places, columns, strict=True):
        into[:] = indicator.astype(np.uint8)[column.codes]  # code -1 takes the last entry: the missing cell's
    return Points(numbers, lists, places)


def columns_of(widths: Sequence[int]) -> list[slice]:
    """Consecutive slices of these widths."""
    ends = np.cumsum(widths)
    return [slice(int(end - width), int(end)) for width, end in zip(widths, ends, strict=True)]
