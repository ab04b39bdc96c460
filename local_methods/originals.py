"""Released rows that happen to be rows of the original, and how they are removed.

A row with newly drawn numbers never equals an original row, but a row of a few nominal values can. Such a row exchanges
cells with other rows of its group, which changes no count. If that does not help, one of its cells is suppressed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mixbayes.local_methods.coordinates import nominals
from mixbayes.local_methods.grouping import Groups
from mixbayes.local_methods.tables import MISSING, Codes, Column, Floats, Indices, Mask, Nominal, Numeric, Table

ROUNDS = 30


@dataclass(frozen=True, eq=False)
class Originals:
    """The rows of a table in a form in which equal ones are soon found.

    A row has a number, made column by column of the number so far and its cell, each looked up in a sorted list.
    """

    order: list[int]
    """Numbers first: they tell most rows apart."""
    lists: list[tuple[Codes, Codes]] = field(repr=False)
    """For each column in this order the different cells, and the different pairs of a number and a cell's place."""

    @staticmethod
    def of(table: Table) -> Originals:
        order, lists = [*table.numeric, *table.nominal], []
        number = np.zeros(table.rows, np.int64)
        for at in order:
            cells, place = np.unique(_keys(table.columns[at]), return_inverse=True)
            pairs, number = np.unique(number * len(cells) + place, return_inverse=True)
            lists.append((cells, pairs))
        return Originals(order, lists)

    def among(self, released: Table) -> Mask:
        """Which rows are equal to one of its rows in every column. A row without any cell is nobody's."""
        rows = np.flatnonzero(~released.empty())
        number = np.zeros(len(rows), np.int64)
        for at, (cells, pairs) in zip(self.order, self.lists, strict=True):
            place, known = _looked_up(cells, _keys(released.columns[at])[rows])
            rows, number = rows[known], number[known] * len(cells) + place[known]
            number, known = _looked_up(pairs, number)
            rows, number = rows[known], number[known]
        return np.isin(np.arange(released.rows), rows)


def in_original(released: Table, original: Table) -> Mask:
    """Which released rows are equal to an original row in every column. A row without any cell is nobody's."""
    return Originals.of(original).among(released)


def without_originals(released: Table, original: Table, groups: Groups, random: np.random.Generator) -> Table:
    """The table with every original row in it changed."""
    originals = Originals.of(original)
    hit = originals.among(released)
    for _ in range(ROUNDS):
        if not hit.any() or not released.nominal:
            break
        released, changed = _traded(released, hit, groups, random)
        hit[changed] = originals.among(released.take(changed))
    return _suppressed(released, originals, np.flatnonzero(hit), random)


def _traded(released: Table, hit: Mask, groups: Groups, random: np.random.Generator) -> tuple[Table, Mask]:
    """The rows of every group are paired at random; a pair with a hit in it trades its values in one column.

    And in which rows that changes anything.
    """
    at, column = nominals(released)[int(random.integers(len(released.nominal)))]
    partner = _partners(random.random(len(groups)), hit, groups)
    touched = hit | hit[partner]
    codes = np.where(touched, column.codes[partner], column.codes)
    return released.with_columns({at: column.with_codes(codes)}), codes != column.codes


def _partners(draws: Floats, hit: Mask, groups: Groups) -> Indices:
    """The row beside each in the order of the draws, group by group; itself, where no row of its group is a hit."""
    rows = np.flatnonzero((np.bincount(groups, hit) > 0)[groups])
    order = rows[np.lexsort((draws[rows], groups[rows]))]
    sizes = np.bincount(groups[rows])
    begin = np.repeat(np.cumsum(sizes) - sizes, sizes)
    place = np.arange(len(order)) - begin
    beside = np.where((place ^ 1) < np.repeat(sizes, sizes), place ^ 1, place)  # the last of an odd group stays
    partner = np.arange(len(groups))
    partner[order] = order[begin + beside]
    return partner


def _suppressed(released: Table, originals: Originals, rows: Indices, random: np.random.Generator) -> Table:
    """Each of the rows loses a cell, in the first column, taken at random, where that makes it none of the original."""
    for at in map(int, random.permutation(len(released.names))):
        if not len(rows):
            break
        blanked = released.with_columns({at: _blanked(released.columns[at], rows)})
        still = originals.among(blanked.take(rows))
        released = released.with_columns({at: _blanked(released.columns[at], rows[~still])})
        rows = rows[still]
    return released


def _blanked(column: Column, rows: Indices) -> Column:
    if isinstance(column, Nominal):
        codes = column.codes.copy()
        codes[rows] = MISSING
        return column.with_codes(codes)
    numbers = column.numbers.copy()
    numbers[rows] = np.nan
    return Numeric(numbers)


def _keys(column: Column) -> Codes:
    """Equal keys for equal cells, a missing one being equal to a missing one."""
    if isinstance(column, Nominal):
        return column.codes
    return np.where(column.missing, np.nan, column.numbers + 0.0).view(np.int64)  # + 0.0: -0.0 is 0.0


def _looked_up(sorted_list: Codes, wanted: Codes) -> tuple[Indices, Mask]:
    """Where each stands in the list, and whether it does."""
    place = np.searchsorted(sorted_list, wanted).clip(max=len(sorted_list) - 1)
    return place, sorted_list[place] == wanted
