"""Groups of any size found by lattice reduction: Lenstra, Lenstra and Lovász, all pairs of neighbours at a time.

A group is a vector of zeros and ones, one for each row, whose sum of fractions is whole. Such vectors form a lattice,
and those of groups are by far its shortest: every other needs large coefficients to be whole in all the fractions. The
groups are disjoint, so that elimination gives them from any basis of the lattice that they span.

The basis holds whole numbers, each exact in a double. Pairs at even and at odd places are swapped in turn (Villard,
1992), which needs a few operations on whole matrices instead of many on rows.
"""

from __future__ import annotations

import numpy as np

from mixbayes.local_methods.attacks.moments import Fractions
from mixbayes.local_methods.tables import Floats, Indices

MOST_ROWS = 160
"""More are not reduced together."""

DIGITS = 30.0
"""Bits of a fraction that are used at most."""

BITS_A_ROW = (6.0, 10.0)
"""So many bits for each row tell a group's vector from all others: small groups, and then large ones. With fewer
nothing is tried, and with more only if the fewer gave a group."""

COVERED = 2
"""If groups hold one row of so many, their vectors were told from all others."""

LOVASZ = 0.98
MOST_TURNS = 5_000
AFRESH = 12
"""Turns after which rounding errors are removed, and all of the basis is size-reduced."""


def groups_by_lattice(found: Fractions) -> tuple[list[Indices], bool]:
    """The groups, by the rows' positions in `found`, and whether the reduction was cut off."""
    rows = len(found.rows)
    if rows < 2 or rows > MOST_ROWS:
        return [], rows > MOST_ROWS
    groups: list[Indices] = []
    for bits in BITS_A_ROW:
        if found.bits < bits * rows:
            break
        basis, ended = reduced(_basis(found, bits))
        more = [members for members in _short_sets(basis, rows) if found.whole(members[None])[0]]
        groups = max(groups, more, key=len)
        if not groups or not ended or COVERED * sum(map(len, groups)) > rows:
            return groups, not ended
    return groups, False


def _short_sets(basis: Floats, rows: int) -> list[Indices]:
    vectors = _eliminated(basis[_short(basis), -rows:])
    return [np.flatnonzero(vector) for vector in vectors if np.isin(vector, (0, 1)).all() and vector.sum() > 1]


def _basis(found: Fractions, bits: float) -> Floats:
    """The moduli of the fractions first, then the rows with their fractions."""
    scales = np.rint(np.minimum(1 / found.tolerances, 2.0**DIGITS))
    used = int(np.searchsorted(np.cumsum(np.log2(scales)), bits * len(found.rows))) + 1
    scales = scales[:used]
    used = len(scales)
    basis = np.zeros((used + len(found.rows),) * 2)
    basis[:used, :used] = np.diag(scales)
    basis[used:, :used] = np.rint(found.values[:, :used] * scales)
    basis[used:, used:] = np.eye(len(found.rows))
    return basis


def reduced(basis: Floats) -> tuple[Floats, bool]:
    """The same lattice by a reduced basis, rows of whole numbers; and whether it came to its end."""
    basis = basis.copy()
    upper = _afresh(basis)
    idle = 0
    for turn in range(MOST_TURNS):
        if turn % AFRESH == AFRESH - 1:
            upper = _afresh(basis)
        idle = 0 if _swapped(basis, upper, turn % 2) else idle + 1
        if idle >= 2:
            upper = _afresh(basis)
            if not (_swapped(basis, upper, 0) or _swapped(basis, upper, 1)):
                return basis, True
            idle = 0
    return basis, False


def _afresh(basis: Floats) -> Floats:
    """Size-reduce the basis in its place; R of its QR decomposition, with the vectors as columns."""
    upper = _triangle(basis)
    for at in range(len(basis) - 1, 0, -1):
        _reduce_by(basis, upper, at)
    return _triangle(basis)


def _triangle(basis: Floats) -> Floats:
    upper: Floats = np.asarray(np.linalg.qr(basis.T, mode="r"), np.float64)
    return upper


def _reduce_by(basis: Floats, upper: Floats, at: int) -> None:
    """Subtract a vector from all after it."""
    times = np.rint(upper[at - 1, at:] / upper[at - 1, at - 1])
    which = np.flatnonzero(times)
    if len(which):
        upper[:at, at + which] -= np.outer(upper[:at, at - 1], times[which])
        basis[at + which] -= np.outer(times[which], basis[at - 1])


def _swapped(basis: Floats, upper: Floats, parity: int) -> bool:
    """Size-reduce and swap neighbours, the first of them at even or odd places, where Lovász's condition fails."""
    first = np.arange(parity, len(basis) - 1, 2)
    times = np.rint(upper[first, first + 1] / upper[first, first])
    upper[:, first + 1] -= upper[:, first] * times
    basis[first + 1] -= times[:, None] * basis[first]
    across, below, corner = upper[first, first + 1], upper[first + 1, first + 1], upper[first, first]
    first = first[across**2 + below**2 < LOVASZ * corner**2]
    if not len(first):
        return False
    second = first + 1
    basis[first], basis[second] = basis[second], basis[first]
    upper[:, first], upper[:, second] = upper[:, second], upper[:, first]
    length = np.hypot(upper[first, first], upper[second, first])
    cosine, sine = (upper[first, first] / length)[:, None], (upper[second, first] / length)[:, None]
    one, other = upper[first], upper[second]
    upper[first], upper[second] = cosine * one + sine * other, cosine * other - sine * one
    upper[second, first] = 0.0
    return True


def _short(basis: Floats) -> Indices:
    """The vectors before the largest step in the lengths of the reduced basis: those of groups."""
    lengths = np.log(np.linalg.norm(basis, axis=1))
    order = np.argsort(lengths, kind="stable")
    step = int(np.argmax(np.diff(lengths[order])))
    return order[: step + 1]


def _eliminated(vectors: Floats) -> Floats:
    """The reduced echelon form, in which every vector has a column to itself."""
    left, at = vectors.astype(np.float64), 0
    for column in range(left.shape[1]):
        if at == len(left):
            break
        pivot = at + int(np.abs(left[at:, column]).argmax())
        if abs(left[pivot, column]) < 1e-9:
            continue
        left[[at, pivot]] = left[[pivot, at]]
        left[at] /= left[at, column]
        others = np.arange(len(left)) != at
        left[others] -= left[others, column][:, None] * left[at]
        at += 1
    near = np.rint(left[:at])
    return np.where(np.abs(left[:at] - near) < 1e-6, near, left[:at])
