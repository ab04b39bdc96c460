"""From noisy counts to a model, in floating point and for many draws of noise at once.

`PROTOCOL` is what `protocol/bayes/reference.py` makes of N~, up to the rounding of fixed point. A model is a number for
every class and, for every sum and class, a number that a patient's row of sums is multiplied with.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mixbayes.research.noise.patients import Floats, Integers, Sums

FLOOR = 2.0**-20
"""Added to a variance, in squared widths of the bounds."""
NEVER = -1e6
"""The score of a class without patients."""
Denominators = Literal["clamped", "unclamped", "class counts"]


@dataclass(frozen=True)
class Rule:
    """Factors of s, the standard deviation of the noise on a count, rounded up to a whole number."""

    cells: float = 0.0
    """The smoothing of cells, at least one."""
    classes: float = 0.0
    """Added to each class count."""
    evenly: float = 0.0
    """Patients that are added to the moments of each class, as if they lay evenly between the bounds."""
    below: float = 0.0
    """Taken from each cell before it is clamped at zero."""
    denominators: Denominators = "clamped"
    """Sums of clamped or of unclamped cells, or the class counts."""


PLAIN = Rule()
"""Counts are clamped, and nothing else is done: this also is the classifier without noise."""
PROTOCOL = Rule(cells=0.25, classes=4.0, evenly=6.0)


@dataclass(frozen=True, eq=False)
class Model:
    """Of every draw: `prior` is (draws, K), `words` is (draws, sums, K)."""

    prior: Floats
    words: Floats

    def labels(self, added: Floats) -> Integers:
        """(draws, patients), from their rows of sums; ties go to the first."""
        return (added @ self.words + self.prior[:, None]).argmax(axis=2)


@dataclass(frozen=True, eq=False)
class Maker:
    """Makes models of counts with noise of this standard deviation."""

    sums: Sums
    rule: Rule
    deviation: float

    def model(self, of_class: Floats, sums: Floats) -> Model:
        """From class counts (draws, K) and sums (draws, sums, K)."""
        cells, moments = np.split(sums, [self.sums.discrete], axis=1)
        found = []
        if self.sums.sizes:
            found.append(self._of_cells(of_class, cells))
        if self.sums.numbers:
            found.append(self._of_moments(*np.split(moments, 3, axis=1)))
        return Model(self._prior(of_class), np.concatenate(found, axis=1))

    def _times(self, factor: float) -> float:
        return factor * math.ceil(self.deviation)

    def _prior(self, of_class: Floats) -> Floats:
        counts = np.maximum(of_class, 0) + self._times(self.rule.classes)
        return np.log(counts, out=np.full_like(counts, NEVER), where=counts > 0)

    def _of_cells(self, of_class: Floats, cells: Floats) -> Floats:
        alpha = max(1, math.ceil(self._times(self.rule.cells)))
        kept = np.maximum(cells - self._times(self.rule.below), 0)
        totals = self._totals(of_class, cells, kept) + alpha * np.array(self.sums.sizes)[:, None]
        return np.log(kept + alpha) - np.log(np.repeat(totals, self.sums.sizes, axis=1))

    def _totals(self, of_class: Floats, cells: Floats, kept: Floats) -> Floats:
        """Of every attribute, (draws, attributes, K)."""
        if self.rule.denominators == "class counts":
            return np.repeat(np.maximum(of_class, 0)[:, None], len(self.sums.sizes), axis=1)
        summed = kept if self.rule.denominators == "clamped" else cells
        return np.maximum(np.add.reduceat(summed, self.sums.starts, axis=1), 0)

    def _of_moments(self, n: Floats, of_u: Floats, of_squares: Floats) -> Floats:
        """Of 1, u and 2u² − 1: a number's place between the bounds is x = (u + 1) / 2."""
        s1, s2 = (of_u + n) / 2, (of_squares + 4 * of_u + 3 * n) / 8
        if self.deviation:
            n, s1, s2 = self._as_of_patients(n, s1, s2)
        n, s1, s2 = _with_a_row(n, s1, s2)
        mean = s1 / n
        variance = np.maximum(s2 / n - mean**2, 0) + FLOOR
        # A normal density has the logarithm −log(variance) / 2 − (x − mean)² / (2 · variance). x − mean is u/2 + off
        # and u² is (q + 1) / 2 with q = 2u² − 1.
        off = 0.5 - mean
        constant = -np.log(variance) / 2 - (off**2 + 1 / 8) / (2 * variance)
        return np.concatenate([constant, -off / (2 * variance), -1 / (16 * variance)], axis=1)

    def _as_of_patients(self, n: Floats, s1: Floats, s2: Floats) -> tuple[Floats, Floats, Floats]:
        """At least one patient, with numbers between the bounds."""
        n = np.maximum(n, 1)
        s1 = np.clip(s1, 0, n)
        s2 = np.clip(s2, 0, s1)
        more = self._times(self.rule.evenly)
        return n + more, s1 + more / 2, s2 + more / 3


def _with_a_row(n: Floats, s1: Floats, s2: Floats) -> tuple[Floats, Floats, Floats]:
    """One patient in the middle of the bounds where there is none."""
    none = n == 0
    return n + none, s1 + none / 2, s2 + none / 4
