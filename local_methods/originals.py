"""Released rows that happen to be rows of the original, and how to be rid of them.

Numbers drawn anew never hit an original row, but a row of a few nominal values can: within its group it trades cells
with other rows, which changes no count, and where that does not help a cell of it is suppressed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixbayes.local_methods.coordinates import nominals
from mixbayes.local_methods.grouping import Groups
from mixbayes.local_methods.tables import MISSING, Column, Mask, Nominal, Numeric, Table

ROUNDS = 30


def in_original(released: Table, original: Table) -> Mask:
    """Which released rows are equal to an original row in every column."""
    suspects = np.ones(released.rows, bool)
    for new, old in sorted(zip(released.columns, original.columns, strict=True), key=_nominal_last):
        if suspects.any():
            suspects[suspects] = np.isin(_keys(new)[suspects], _keys(old))
    at = np.flatnonzero(suspects)
    if len(at):
        known = set(_row_keys(original, np.arange(original.rows)))
        suspects[at] = [row in known for row in _row_keys(released, at)]
    return suspects


def without_originals(released: Table, original: Table, groups: Groups, random: np.random.Generator) -> Table:
    """The table with every original row in it changed."""
    hit = in_original(released, original)
    for _ in range(ROUNDS):
        if not hit.any() or not released.nominal:
            break
        released = _traded(released, hit, groups, random)
        hit = in_original(released, original)
    return _suppressed(released, original, np.flatnonzero(hit), random)


def _traded(released: Table, hit: Mask, groups: Groups, random: np.random.Generator) -> Table:
    """The rows of every group are paired at random; a pair with a hit in it trades its values in one column."""
    at, column = nominals(released)[int(random.integers(len(released.nominal)))]
    order = np.lexsort((random.random(len(groups)), groups))
    sizes = np.bincount(groups)
    begin = np.repeat(np.cumsum(sizes) - sizes, sizes)
    place = np.arange(len(order)) - begin
    beside = np.where((place ^ 1) < np.repeat(sizes, sizes), place ^ 1, place)  # the last of an odd group stays
    partner = np.empty(len(order), np.intp)
    partner[order] = order[begin + beside]
    return released.with_columns(
        {at: column.with_codes(np.where(hit | hit[partner], column.codes[partner], column.codes))}
    )


def _suppressed(released: Table, original: Table, rows: NDArray[np.intp], random: np.random.Generator) -> Table:
    """Each of the rows loses a cell, in the first column, taken at random, where that makes it none of the original."""
    for at in map(int, random.permutation(len(released.names))):
        if not len(rows):
            break
        blanked = released.with_columns({at: _blanked(released.columns[at], rows)})
        still = in_original(blanked.take(rows), original)
        released = released.with_columns({at: _blanked(released.columns[at], rows[~still])})
        rows = rows[still]
    return released


def _blanked(column: Column, rows: NDArray[np.intp]) -> Column:
    if isinstance(column, Nominal):
        codes = column.codes.copy()
        codes[rows] = MISSING
        return column.with_codes(codes)
    numbers = column.numbers.copy()
    numbers[rows] = np.nan
    return Numeric(numbers)


def _keys(column: Column) -> NDArray[np.int64]:
    """Equal keys for equal cells, a missing one being equal to a missing one."""
    if isinstance(column, Nominal):
        return column.codes
    return np.where(column.missing, np.nan, column.numbers + 0.0).view(np.int64)  # + 0.0: -0.0 is 0.0


def _row_keys(table: Table, rows: NDArray[np.intp]) -> list[bytes]:
    matrix = np.column_stack([_keys(column)[rows] for column in table.columns])
    return [row.tobytes() for row in matrix]


def _nominal_last(pair: tuple[Column, Column]) -> bool:
    return isinstance(pair[0], Nominal)
