"""A cut for a nominal column without a taxonomy: all values are suppressed, and a refinement discloses one of them.

This is the refinement of TDR for categorical attributes without a tree. The suppressed values are not distinguished
from one another, or from a missing cell.
"""

from __future__ import annotations

import numpy as np

from mixbayes.local_methods.coded import Small, combined
from mixbayes.local_methods.generalisation.combinations import Groups, class_counts
from mixbayes.local_methods.generalisation.cut import CLOSED, Cut, Parts
from mixbayes.local_methods.generalisation.information import gain, mixed
from mixbayes.local_methods.generalisation.requirement import Requirement
from mixbayes.local_methods.generalisation.rules import SuppressionRule
from mixbayes.local_methods.tables import Codes, Indices, Nominal


class SuppressionCut(Cut):
    """The refinements have the codes of the values that they disclose."""

    sides = 2

    def __init__(self, column: Nominal, labels: Codes, classes: int, requirement: Requirement) -> None:
        self._column = column
        present = np.flatnonzero(~column.missing)
        cells = column.codes[present] * classes + labels[present]
        many = len(column.values)
        self._counts = np.bincount(cells, minlength=many * classes).reshape(many, classes)
        self._left = np.bincount(labels, minlength=classes)
        self._rows: Indices = np.arange(len(column))
        self._hidden = np.ones(len(column), bool)
        # One more for a missing cell, whose code is -1: it can never be disclosed.
        self._open = np.append(requirement.met_by(self._counts), False)
        self._disclosed = np.zeros(many, bool)
        self.gains = np.full(many, CLOSED)
        self._weigh()

    def parts(self, groups: Groups) -> Parts:
        hidden = np.flatnonzero(self._hidden[groups.rows])
        if not hidden.size:
            return _no_parts(groups.classes)
        within = groups.only(hidden)
        whole = within.counted()
        code = self._column.codes[within.rows]
        asked = np.flatnonzero(self._open[code])
        if not asked.size:
            return _no_parts(groups.classes)
        code, group = code[asked], within.number[asked]
        number = combined([(group, within.many), (code.astype(np.int32), len(self.gains))], len(asked))
        counts = class_counts(number, within.labels[asked], groups.classes)
        value, of_group = np.empty(len(counts), np.int64), np.empty(len(counts), np.int64)
        value[number], of_group[number] = code, group
        rest = whole[of_group] - counts
        left = rest.any(axis=1)
        return Parts(np.append(value, value[left]), np.vstack([counts, rest[left]]))

    def divided(self, refinement: int) -> tuple[Indices, Small]:
        return self._rows, (self._column.codes[self._rows] == refinement).astype(np.int32)

    def refine(self, refinement: int) -> None:
        rows, side = self.divided(refinement)
        self._hidden[rows[side == 1]] = False
        self._rows = rows[side == 0]
        self._left = self._left - self._counts[refinement]
        self._disclosed[refinement] = True
        self.close(refinement)
        self._weigh()

    def rule(self) -> SuppressionRule:
        return SuppressionRule(self._column.values, self._disclosed)

    def close(self, refinement: int) -> None:
        super().close(refinement)
        self._open[refinement] = False

    def _weigh(self) -> None:
        """The gains, which change with what is still suppressed.

        The last value is disclosed even where its rows are of one class: that divides no combination.
        """
        at = np.flatnonzero(self._open[:-1])
        counts = self._counts[at]
        beneficial = mixed(self._left) | (counts == self._left).all(axis=1)
        gains = gain(self._left, [counts, self._left - counts])
        self.gains[at] = np.where(beneficial, gains, CLOSED)


def _no_parts(classes: int) -> Parts:
    return Parts(np.empty(0, np.int64), np.empty((0, classes), np.int64))
