"""A cut of a numeric column into intervals: one from the least to the greatest number at first, each cut in two."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mixbayes.local_methods.generalisation.combinations import Groups
from mixbayes.local_methods.generalisation.cut import CLOSED, NodeCut
from mixbayes.local_methods.generalisation.information import mixed
from mixbayes.local_methods.generalisation.requirement import Requirement
from mixbayes.local_methods.generalisation.rules import IntervalRule
from mixbayes.local_methods.generalisation.splits import gains_of_cuts, valid_cuts
from mixbayes.local_methods.tables import MISSING, Codes, Floats, Indices, Mask, Numeric

BELOW, ABOVE, GONE = 0, 1, 2
"""The sides of a refinement. Missing cells are apart from the first refinement on."""


class IntervalCut(NodeCut):
    """Intervals are numbered as they come up. They are ranges of ranks: of places among the different numbers."""

    sides = 3

    def __init__(self, column: Numeric, labels: Codes, classes: int) -> None:
        self._numbers, self._labels, self._classes = column.numbers, labels, classes
        self.values: Floats = np.unique(column.numbers[~column.missing])
        self._rank = np.where(column.missing, MISSING, np.searchsorted(self.values, column.numbers))
        self._ranges: list[tuple[int, int]] = []
        self._after: list[int] = []
        self.cuts: list[int] = []
        """The ranks after which the column is cut."""
        self.node = np.zeros(len(column), np.int32)
        self.side = np.zeros(len(column), np.int32)
        self.rows = {}
        self.gains = np.empty(0)
        self._enter(np.arange(len(column)), 0, len(self.values))

    def refine(self, refinement: int) -> None:
        rows, side = self.divided(refinement)
        (low, high), after = self._ranges[refinement], self._after[refinement]
        self.close(refinement)
        del self.rows[refinement]
        self._enter(rows[side == BELOW], low, after + 1)
        if after + 1 < high:
            self.cuts.append(after)
            self._enter(rows[side == ABOVE], after + 1, high)
        gone = rows[side == GONE]
        if gone.size:
            self._enter(gone, 0, 0)

    def rule(self) -> IntervalRule:
        whole = len(self._ranges) == 1
        return IntervalRule.of(self._numbers, self.values, sorted(self.cuts), whole=whole)

    def cut_elsewhere(self, node: int, sets: Sequence[Groups], requirement: Requirement) -> None:
        """Choose the best cut of an interval that is valid; close the interval if none is."""
        self._choose(node, np.logical_and.reduce([self._valid(node, groups, requirement) for groups in sets]))

    def _valid(self, node: int, groups: Groups, requirement: Requirement) -> Mask:
        low, high = self._ranges[node]
        rank = self._rank[groups.rows]
        present, gone = np.flatnonzero(rank != MISSING), np.flatnonzero(rank == MISSING)
        if gone.size and not requirement.met_by(groups.only(gone).counted()).all():
            return np.zeros(high - low, bool)
        return valid_cuts(rank[present] - low, high - low, groups.only(present), requirement)

    def _enter(self, rows: Indices, low: int, high: int) -> None:
        """An interval comes onto the cut, or the missing cells, which have no range."""
        node = len(self._ranges)
        self._ranges.append((low, high))
        self._after.append(low)
        self.gains = np.append(self.gains, CLOSED)
        self.rows[node] = rows
        self.node[rows] = node
        self.side[rows] = BELOW
        if high > low:
            self._choose(node)

    def _choose(self, node: int, valid: Mask | None = None) -> None:
        """The cut with the largest information gain, of all or of the valid ones."""
        (low, high), rows = self._ranges[node], self.rows[node]
        rank, labels = self._rank[rows], self._labels[rows]
        gone = rank == MISSING
        missing = np.bincount(labels[gone], minlength=self._classes)
        cells = (rank[~gone] - low) * self._classes + labels[~gone]
        counts = np.bincount(cells, minlength=(high - low) * self._classes).reshape(-1, self._classes)
        possible = np.ones(high - low, bool) if valid is None else valid.copy()
        possible[-1] &= gone.any()  # nothing is above it: only missing cells can be told apart there
        self.gains[node] = CLOSED
        if possible.any() and mixed(counts.sum(axis=0) + missing):
            gains = np.where(possible, gains_of_cuts(counts, missing), CLOSED)
            best = int(gains.argmax())
            self.gains[node], self._after[node] = gains[best], low + best
            self.side[rows] = np.where(gone, GONE, np.where(rank > low + best, ABOVE, BELOW))
