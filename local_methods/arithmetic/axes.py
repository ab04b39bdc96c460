"""Bases and axes of a matrix, the same on every processor.

A library of linear algebra chooses its steps, its signs and its order of additions by the processor. Here all of it is
numpy's plain arithmetic on whole rows, in one order, and products that are exact.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mixbayes.local_methods.arithmetic.exact_products import product
from mixbayes.local_methods.tables import Floats, Indices

NEGLIGIBLE = 1e-12
"""Of the largest variance: directions below it are rounding errors."""

DEPENDENT = 1e-14
"""Of the length of a column: less is a rounding error."""

BLOCK = 32
"""Columns that are made orthonormal one by one; earlier ones are subtracted at once."""

MOST_SWEEPS = 60
"""Jacobi's method comes to rest long before."""

AT_RIGHT_ANGLES = 1e-15
"""The cosine of two rows that need no rotation."""

STEEPEST = 1e100
"""Larger cotangents mean no rotation, and their squares are still finite."""


def orthonormal(columns: Floats) -> Floats:
    """An orthonormal basis of the same space, by Gram and Schmidt, twice.

    A column that depends on those before it becomes zeros.
    """
    rows = np.array(columns.T, order="C")
    lengths = np.sqrt((rows * rows).sum(axis=1))
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        for least in (DEPENDENT * lengths[start : start + BLOCK], np.zeros(len(block))):
            if start:
                block -= product(product(block, rows[:start].T), rows[:start])
            _gram_schmidt(block, least)
    return rows.T


def _gram_schmidt(rows: Floats, least: Floats) -> None:
    """Make the rows orthonormal in their places, from the first to the last; zeros, where too little is left of one."""
    for at, row in enumerate(rows):
        length = np.sqrt((row * row).sum())
        row /= length if length > least[at] else np.inf
        rest = rows[at + 1 :]
        rest -= (rest * row).sum(axis=1)[:, None] * row


def factor(gram: Floats, most: int) -> Floats:
    """B with BᵀB = gram and a row for each direction, at most so many: Cholesky's, largest variances first."""
    left = gram.copy()
    rows: list[Floats] = []
    least = NEGLIGIBLE * left.diagonal().max(initial=0)
    while len(rows) < min(most, len(gram)):
        at = int(left.diagonal().argmax())
        if not left[at, at] > least:
            break
        rows.append(left[at] / np.sqrt(left[at, at]))
        left -= rows[-1][:, None] * rows[-1]
    return np.array(rows).reshape(len(rows), len(gram))


def at_right_angles(rows: Floats, width: int) -> Floats:
    """The rows rotated among each other until their first `width` columns are orthogonal, the longest first.

    Jacobi's method, one-sided: with the rows of B it gives the principal axes of BᵀB, as long as their singular values.
    """
    count = len(rows)
    rotated = np.vstack([rows, np.zeros((count % 2, rows.shape[1]))])
    for _ in range(MOST_SWEEPS):
        turned = [_rotate(rotated, one, other, width) for one, other in _pairings(len(rotated))]
        if not any(turned):
            break
    lengths = (rotated[:, :width] ** 2).sum(axis=1)
    return rotated[np.argsort(-lengths, kind="stable")[:count]]


def _pairings(count: int) -> Iterator[tuple[Indices, Indices]]:
    """Every row beside every other one once, in count - 1 rounds: the first stays, the others move around it."""
    for turn in range(count - 1):
        circle = np.append(0, 1 + (np.arange(count - 1) + turn) % (count - 1))
        yield circle[: count // 2], circle[: count // 2 - 1 : -1]


def _rotate(rows: Floats, one: Indices, other: Indices, width: int) -> bool:
    """Turn each pair of rows until it is orthogonal; whether any needed it."""
    first, second = rows[one], rows[other]
    square, squared, inner = _inner(first, first, width), _inner(second, second, width), _inner(first, second, width)
    oblique = abs(inner) > AT_RIGHT_ANGLES * np.sqrt(square) * np.sqrt(squared)
    if not oblique.any():
        return False
    half = (squared - square) / (2 * np.where(oblique, inner, 1.0))
    size = np.minimum(abs(half), STEEPEST)
    tangent = np.where(oblique, np.where(half < 0, -1, 1) / (size + np.sqrt(1 + size * size)), 0.0)
    cosine = 1 / np.sqrt(1 + tangent * tangent)
    sine = cosine * tangent
    rows[one] = cosine[:, None] * first - sine[:, None] * second
    rows[other] = sine[:, None] * first + cosine[:, None] * second
    return True


def _inner(first: Floats, second: Floats, width: int) -> Floats:
    return (first[:, :width] * second[:, :width]).sum(axis=1)
