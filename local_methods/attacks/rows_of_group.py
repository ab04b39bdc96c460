"""The rows of a group from its sums and its sums of products: small systems of whole numbers, solved by search.

One column after the other is filled in, those that vary least first. A column is a point with whole coordinates on a
sphere, and its products with the columns before it are known. When as many columns as there are rows are independent,
the others follow. Rows that are alike so far change places without a difference, so their cells are in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from mixbayes.local_methods.tables import Floats, Mask

MOST_PARTIAL = 20_000
"""Partly filled columns at a time; with more the group is given up."""

MOST_COLUMNS = 400
"""Columns filled in, of one group."""

MOST_SOLUTIONS = 8

SMALL = 1e-6


class TooMany(Exception):
    """The search would take too long."""


@dataclass(eq=False)
class _Search:
    """The numbers that are wanted, and what was found so far."""

    sums: Floats
    products: Floats = field(repr=False)
    order: list[int]
    size: int
    filled: int = 0
    found: set[bytes] = field(default_factory=set)


def rows_with(sums: Floats, products: Floats, size: int) -> tuple[list[Floats], bool]:
    """Every table of whole numbers with these sums and products, its rows in order; and whether the search ended.

    After `MOST_SOLUTIONS` it is as good as unknown which is the original.
    """
    varied = products.diagonal() - sums**2 / size
    search = _Search(sums, products, [int(at) for at in np.argsort(varied, kind="stable")], size)
    ended = True
    try:
        _fill(search, np.ones((size, 1)), 0)
    except TooMany:
        ended = False
    tables = [np.frombuffer(key).reshape(size, len(sums)) for key in sorted(search.found)]
    return tables, ended


def _fill(search: _Search, known: Floats, at: int) -> None:
    """Fill in the columns from this place of the order on, beside those that are known: the first is of ones."""
    if at == len(search.order):
        back = np.argsort(search.order)
        table = known[:, 1:][:, back]
        search.found.add((table[np.lexsort(table.T[::-1])] + 0.0).tobytes())
        if len(search.found) > MOST_SOLUTIONS:
            raise TooMany
        return
    column = search.order[at]
    inner = np.concatenate([search.sums[[column]], search.products[column, search.order[:at]]])
    for cells in _columns(known, inner, float(search.products[column, column])):
        search.filled += 1
        if search.filled > MOST_COLUMNS:
            raise TooMany
        _fill(search, np.column_stack([known, cells]), at + 1)


def _columns(known: Floats, inner: Floats, square: float) -> Iterator[Floats]:
    """Whole columns with these products with the known ones, and with themselves."""
    mean = inner[0] / len(known)
    if square - inner[0] * mean < SMALL * max(1.0, square):
        yield from _checked(np.full((1, len(known)), np.rint(mean)), known, inner, square)
    elif np.linalg.matrix_rank(known) == len(known):
        solved = np.rint(np.linalg.lstsq(known.T, inner, rcond=None)[0])
        yield from _checked(solved[None], known, inner, square)
    else:
        yield from _checked(_searched(known, inner, square), known, inner, square)


def _checked(columns: Floats, known: Floats, inner: Floats, square: float) -> Iterator[Floats]:
    right: Mask = ((columns @ known) == inner).all(axis=1) & ((columns**2).sum(axis=1) == square)
    yield from columns[right]


def _searched(known: Floats, inner: Floats, square: float) -> Floats:
    """Row by row; what is left must still be within reach of the rows that are left."""
    size = len(known)
    alike = _same_as_before(known)
    partial, left, rest = np.empty((1, 0)), inner[None], np.array([square])
    for row in range(size):
        low, high = _range(known[row:], left, rest)
        partial, left, rest = _extended(partial, left, rest, known[row], (low, high))
        if alike[row]:
            ordered = partial[:, row] <= partial[:, row - 1]
            partial, left, rest = partial[ordered], left[ordered], rest[ordered]
        near = _reachable(known[row + 1 :], left, rest)
        partial, left, rest = partial[near], left[near], rest[near]
        if not len(partial):
            return np.empty((0, size))
    return partial


def _same_as_before(known: Floats) -> Mask:
    """Which rows equal the one before them. They stand in order, because columns are filled in order."""
    return np.append(False, (known[1:] == known[:-1]).all(axis=1))


def _range(rows: Floats, left: Floats, rest: Floats) -> tuple[Floats, Floats]:
    """Between which bounds the first of the rows' cells lies, by the sum of squares that is left."""
    nearest = left @ np.linalg.pinv(rows)
    slack = np.maximum(rest - (nearest**2).sum(axis=1), 0)
    across = 1 - np.einsum("j,jk,k->", rows[0], np.linalg.pinv(rows.T @ rows), rows[0])
    reach = np.sqrt(slack * max(across, 0.0)) + SMALL
    return np.ceil(nearest[:, 0] - reach - SMALL), np.floor(nearest[:, 0] + reach + SMALL)


def _extended(
    partial: Floats, left: Floats, rest: Floats, row: Floats, bounds: tuple[Floats, Floats]
) -> tuple[Floats, Floats, Floats]:
    low, high = bounds
    counts = np.maximum(high - low + 1, 0).astype(np.int64)
    if counts.sum() > MOST_PARTIAL:
        raise TooMany
    which = np.repeat(np.arange(len(partial)), counts)
    values = low[which] + np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    more = np.column_stack([partial[which], values])
    return more, left[which] - values[:, None] * row, rest[which] - values**2


def _reachable(rows: Floats, left: Floats, rest: Floats) -> Mask:
    """Whether the rows that are left can have these products at all."""
    if not len(rows):
        return (np.abs(left).max(axis=1) < SMALL) & (np.abs(rest) < SMALL)
    nearest = left @ np.linalg.pinv(rows)
    exact = np.abs(nearest @ rows - left).max(axis=1) < SMALL * np.maximum(1, np.abs(left).max(axis=1))
    return exact & ((nearest**2).sum(axis=1) <= rest * (1 + SMALL) + SMALL)
