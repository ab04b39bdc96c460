"""The top-down search: the best refinement of all that are valid and beneficial, again and again.

The rows are kept by their combinations, as in the paper's TIPS (taxonomy indexed partitions). A refinement divides the
combinations of the rows that it is about, and only these are counted again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mixbayes.local_methods.base import Progress
from mixbayes.local_methods.generalisation.combinations import Combinations, Groups
from mixbayes.local_methods.generalisation.cut import CLOSED, Cut
from mixbayes.local_methods.generalisation.interval_cut import IntervalCut
from mixbayes.local_methods.generalisation.requirement import Least, Requirement
from mixbayes.local_methods.tables import Codes, Floats, Mask


class Search:
    """The cuts of the quasi-identifiers, and the combinations of each set of them.

    `cut_elsewhere` says whether an interval whose best cut is not valid may be cut at the best valid point instead.
    """

    def __init__(
        self,
        cuts: Sequence[Cut],
        sets: Sequence[Sequence[int]],
        labels: Codes,
        classes: int,
        requirement: Requirement,
        *,
        cut_elsewhere: bool,
    ) -> None:
        self.cuts, self.requirement, self._elsewhere = cuts, requirement, cut_elsewhere
        # Where classes do not matter they need not be counted apart.
        counted = (labels, classes) if requirement.diversity > 1 else (np.zeros_like(labels), 1)
        self.sets = [Combinations(columns, *counted) for columns in sets]
        self.least = [{column: Least(len(cuts[column].gains)) for column in each.columns} for each in self.sets]
        for at, each in enumerate(self.sets):
            self._look_at(at, each.of(np.arange(len(labels))))
        self._settle()

    def run(self, progress: Progress) -> int:
        """Refine until no refinement is valid and beneficial; how many were made."""
        made = 0
        while (best := self.best()) is not None:
            progress("refinements", made, made + self._left())
            self.refine(*best)
            made += 1
        return made

    def best(self) -> tuple[int, int] | None:
        """The column and the number of the refinement with the highest score; the first one of equals."""
        scores = [self.scores(column) for column in range(len(self.cuts))]
        tops = [score.max(initial=CLOSED) for score in scores]
        column = int(np.argmax(tops))
        return None if tops[column] == CLOSED else (column, int(scores[column].argmax()))

    def scores(self, column: int) -> Floats:
        """Information gain for each row of anonymity that is lost, and one: InfoGain / (AnonyLoss + 1)."""
        gains = self.cuts[column].gains
        return np.where(self.valid(column), gains / (self.losses(column) + 1), CLOSED)

    def losses(self, column: int) -> Floats:
        """By how much each refinement of a column lowers the anonymity, on average over the sets that it is in."""
        sets = self._with(column)
        lost = [self.sets[at].smallest - np.minimum(self.sets[at].smallest, self.least[at][column].rows) for at in sets]
        return np.mean(lost, axis=0)

    def valid(self, column: int) -> Mask:
        """Which refinements of a column leave every combination of every set as many rows and classes as required."""
        found = [self.least[at][column] for at in self._with(column)]
        return np.logical_and.reduce([self.requirement.met(least.rows, least.classes) for least in found])

    def refine(self, column: int, refinement: int) -> None:
        """Make a refinement, and count again what it divides."""
        cut = self.cuts[column]
        rows, side = cut.divided(refinement)
        cut.refine(refinement)
        for at in self._with(column):
            self.least[at][column].grow(len(cut.gains))
            self._look_at(at, self.sets[at].divide(rows, side, cut.sides))
        self._settle()

    def _look_at(self, at: int, groups: Groups) -> None:
        """Take note of what refinements would leave of these combinations of a set."""
        for column, least in self.least[at].items():
            parts = self.cuts[column].parts(groups)
            least.lower(parts.refinement, parts.counts)

    def _settle(self) -> None:
        """Close the refinements that are not valid, once for all; an interval may be cut elsewhere instead."""
        for column, cut in enumerate(self.cuts):
            for refinement in np.flatnonzero((cut.gains > CLOSED) & ~self.valid(column)).tolist():
                if self._elsewhere and isinstance(cut, IntervalCut):
                    self._cut_elsewhere(column, cut, refinement)
                else:
                    cut.close(refinement)

    def _cut_elsewhere(self, column: int, cut: IntervalCut, node: int) -> None:
        sets = self._with(column)
        groups = [self.sets[at].of(cut.rows[node]) for at in sets]
        cut.cut_elsewhere(node, groups, self.requirement)
        for at, each in zip(sets, groups, strict=True):
            parts = cut.parts(each)
            self.least[at][column].forget(node)
            self.least[at][column].lower(parts.refinement, parts.counts)

    def _with(self, column: int) -> list[int]:
        """The sets that a column is in."""
        return [at for at, each in enumerate(self.sets) if column in each.columns]

    def _left(self) -> int:
        return sum(int((cut.gains > CLOSED).sum()) for cut in self.cuts)
