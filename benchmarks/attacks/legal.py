"""The asker that follows the protocol: rows that could exist, each chosen after the labels before it.

Every label says on which side of a plane through zero the weights lie. What is left for them is a cone, cut off by
bounds on the weights. The estimate is its analytic centre, and the barrier's curvature there gives an ellipsoid inside
the cone. The next row is one whose score is about zero at the centre and unsure within the ellipsoid: its label cuts
the cone in the middle (cutting planes by analytic centres; Goffin, Luo and Ye 1996).

Labels do not change if all weights are multiplied by one number, so they say nothing about it. `scaled` takes it from
the truth; whoever knows one weight well, as the share of a class, has it too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Values
from mixbayes.protocol.bayes.label import Labels

Floats = NDArray[np.float64]
Ask = Callable[[Values], Labels]

_BOUND = 1.0
"""Of a weight, in units that are free."""
_ENUMERATED = 8
"""Attributes whose values are combined; the others have values at random."""
_CENTRAL, _DEEPEST = 0.3, 3.0
"""In the ellipsoid's radii: how far from the centre a cut is central, and how far it may be. The cone is larger than
the ellipsoid, so that a label is open outside of it too."""
_BEHIND, _STEP = 0.1, 0.7
"""Likewise, how far behind a plane the search for the new centre begins, and how far it goes at once."""
_TRIES = 10
"""To find a row, with other attributes combined."""
_KEPT = 12
"""Planes that are kept, for each weight."""
_STEPS = 60


def learned(ask: Ask, sizes: Sequence[int], random: np.random.Generator) -> Iterator[Floats]:
    """The weights, prior first and then every θ[a][v], up to a factor, after every label. It ends when no row helps.

    It begins with rows at random until both classes were seen: where nearly all rows have one label, few of them are
    near the boundary, and the centre of a wide cone does not find them.
    """
    cone, seen = Cone(1 + sum(sizes)), set[int]()
    while (codes := _chosen(cone, sizes, random, searching=len(seen) < 2)) is not None:
        label = int(ask(codes)[0])
        seen.add(label)
        row = features(codes, sizes)[0]
        cone.cut(row if label else -row)
        yield cone.centre


def _chosen(cone: Cone, sizes: Sequence[int], random: np.random.Generator, *, searching: bool) -> Values | None:
    if searching:
        return random.integers(0, np.array(sizes)[:, None], dtype=np.int32)
    return _undecided(cone, sizes, random)


def features(codes: Values, sizes: Sequence[int]) -> Floats:
    """(n, weights): which weights are summed up in the scores of rows (columns, n)."""
    starts = 1 + np.append(0, np.cumsum(sizes)[:-1])
    found = np.zeros((codes.shape[1], 1 + sum(sizes)))
    found[:, 0] = 1
    for column, start, size in zip(codes, starts, sizes, strict=True):
        some = np.flatnonzero(column < size)
        found[some, start + column[some]] = 1
    return found


def scaled(weights: Floats, truth: Floats) -> Floats:
    """The weights times the one factor, not below zero, that brings them nearest to the truth."""
    return weights * max(0.0, weights @ truth) / (weights @ weights)


class Cone:
    """What is left for the weights: all w with a·w ≥ 0 for every plane a, within the bounds."""

    def __init__(self, weights: int) -> None:
        self._planes = np.zeros((0, weights))
        self.centre = np.zeros(weights)
        self.spread = np.eye(weights) * _BOUND**2 / 2
        """The inverse of the barrier's curvature at the centre: an ellipsoid of radius 1 lies inside."""

    def cut(self, plane: Floats) -> None:
        """Add a plane, of which the centre may be on the wrong side: then it moves to the other one first.

        It stays in the ellipsoid with every step, so it crosses no older plane.
        """
        for _ in range(_STEPS):
            way = self.spread @ plane
            radius = np.sqrt(plane @ way)
            depth = plane @ self.centre / radius
            if depth >= _BEHIND:
                break
            self.centre = self.centre + min(_STEP, _BEHIND - depth + _STEP / 10) * way / radius
            self.spread = np.linalg.inv(self._curvature())
        else:
            raise ArithmeticError("no weights have these labels")
        self._planes = np.append(self._planes, plane[None], axis=0)
        self._recentre()
        self._forget()

    def _curvature(self) -> Floats:
        """Of the barrier −Σ log a·w − Σ log (1 − w²)."""
        near = self._planes / (self._planes @ self.centre)[:, None]
        return near.T @ near + np.diag((_BOUND - self.centre) ** -2 + (_BOUND + self.centre) ** -2)

    def _gradient(self) -> Floats:
        inward = self._planes.T @ (1 / (self._planes @ self.centre))
        return 1 / (_BOUND - self.centre) - 1 / (_BOUND + self.centre) - inward

    def _recentre(self) -> None:
        """Newton's method with the step damped as for any self-concordant barrier."""
        for _ in range(_STEPS):
            self.spread = np.linalg.inv(self._curvature())
            step = self.spread @ (gradient := self._gradient())
            decrement = np.sqrt(gradient @ step)
            self.centre = self.centre - step / (1 + decrement)
            if decrement < 0.1:
                return

    def _forget(self) -> None:
        """Drop the planes that are farthest from the centre, measured by the ellipsoid, when there are too many."""
        most = _KEPT * len(self.centre)
        if len(self._planes) > 1.25 * most:
            distance = (self._planes @ self.centre) / self.deviations(self._planes)
            self._planes = self._planes[np.sort(distance.argsort()[:most])]
            self._recentre()

    def deviations(self, rows: Floats) -> Floats:
        """How far the scores of rows reach within the ellipsoid."""
        return np.sqrt(np.einsum("ij,ij->i", rows @ self.spread, rows))


def _undecided(cone: Cone, sizes: Sequence[int], random: np.random.Generator) -> Values | None:
    """A row (columns, 1) whose label cuts the ellipsoid: in the middle and as unsure as can be, or somewhere."""
    deep, best = _DEEPEST, None
    for _ in range(_TRIES):
        codes = _near_zero(cone.centre, sizes, random)
        rows = features(codes, sizes)
        reach = cone.deviations(rows)
        depth = np.abs(rows @ cone.centre) / reach
        central = np.flatnonzero(depth < _CENTRAL)
        if central.size:
            return _one(codes, central[reach[central].argmax()])
        if depth.min() < deep:
            deep, best = depth.min(), _one(codes, depth.argmin())
    return best


def _one(codes: Values, at: np.intp) -> Values:
    return codes[:, at : at + 1]


def _near_zero(weights: Floats, sizes: Sequence[int], random: np.random.Generator) -> Values:
    """Rows (columns, n) whose scores are as near to zero as values of some attributes can bring them.

    Half of these attributes are combined in all ways, and for each the nearest combination of the other half is found.
    """
    chosen = random.permutation(len(sizes))[:_ENUMERATED]
    halves = np.array_split(chosen, 2)
    fixed = np.array([random.integers(size + 1) for size in sizes])
    fixed[chosen] = np.array(sizes)[chosen]
    tables = _tables(weights, sizes)
    (left, of_left), (right, of_right) = (_combined(half, tables, random) for half in halves)
    wanted = -(weights[0] + sum(table[code] for table, code in zip(tables, fixed, strict=True)) + of_left)
    order = of_right.argsort()
    place = np.searchsorted(of_right[order], wanted).clip(1, len(order) - 1) if len(order) > 1 else 0 * wanted
    place = place.astype(np.intp) - random.integers(2, size=len(wanted)) * (len(order) > 1)
    codes = np.repeat(fixed[:, None], len(wanted), axis=1)
    codes[halves[0]], codes[halves[1]] = left, right[:, order[place]]
    return codes.astype(np.int32)


def _tables(weights: Floats, sizes: Sequence[int]) -> list[Floats]:
    """Every attribute's weights, and zero for a missing cell."""
    return [np.append(part, 0.0) for part in np.split(weights[1:], np.cumsum(sizes)[:-1])]


def _combined(chosen: NDArray[np.int64], tables: list[Floats], random: np.random.Generator) -> tuple[Values, Floats]:
    """Combinations (chosen, n) of values of these attributes, and the sums of their weights."""
    grid = np.meshgrid(*(np.arange(len(tables[a])) for a in chosen), indexing="ij")
    codes = np.stack([axis.reshape(-1) for axis in grid]).astype(np.int32)
    codes = codes[:, random.permutation(codes.shape[1])]
    sums = np.sum([tables[a][own] for a, own in zip(chosen, codes, strict=True)], axis=0)
    return codes, sums
