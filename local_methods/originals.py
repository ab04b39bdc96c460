"""Which released rows happen to be rows of the original.

No method changes them: whether a row was changed would tell that it is one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mixbayes.local_methods.tables import Codes, Column, Indices, Mask, Nominal, Table


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


def _keys(column: Column) -> Codes:
    """Equal keys for equal cells, a missing one being equal to a missing one."""
    if isinstance(column, Nominal):
        return column.codes
    return np.where(column.missing, np.nan, column.numbers + 0.0).view(np.int64)  # + 0.0: -0.0 is 0.0


def _looked_up(sorted_list: Codes, wanted: Codes) -> tuple[Indices, Mask]:
    """Where each stands in the list, and whether it does."""
    place = np.searchsorted(sorted_list, wanted).clip(max=len(sorted_list) - 1)
    return place, sorted_list[place] == wanted
