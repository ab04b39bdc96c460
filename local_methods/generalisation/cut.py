"""A cut through the values of a column: how general its cells are now, and which refinements are possible."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np

from mixbayes.local_methods.coded import Small, combined
from mixbayes.local_methods.generalisation.combinations import Groups, class_counts
from mixbayes.local_methods.generalisation.rules import Rule
from mixbayes.local_methods.tables import Codes, Floats, Indices

CLOSED = -np.inf
"""The gain of what is no refinement, or is not beneficial."""


@dataclass(frozen=True, eq=False)
class Parts:
    """What refinements would leave of some combinations: whose refinement leaves each part, and its rows by class."""

    refinement: Codes = field(repr=False)
    counts: Codes = field(repr=False)


class Cut(ABC):
    """The refinements of one column have numbers; `gains` has the information gain of each, or that it is closed."""

    sides: int
    """Into how many parts a refinement divides a combination at most."""
    gains: Floats

    @abstractmethod
    def parts(self, groups: Groups) -> Parts:
        """What every refinement of this column would leave of these combinations."""

    @abstractmethod
    def divided(self, refinement: int) -> tuple[Indices, Small]:
        """The rows that a refinement is about, and the side on which each falls."""

    @abstractmethod
    def refine(self, refinement: int) -> None:
        """Make the refinement. Its children are refinements from now on."""

    @abstractmethod
    def rule(self) -> Rule:
        """The rule that replaces cells of this column by the values of the cut."""

    def close(self, refinement: int) -> None:
        """It will never be made: what is not valid now never is."""
        self.gains[refinement] = CLOSED


class NodeCut(Cut):
    """A cut of nodes, each of which can be refined in one way: of a taxonomy, or of intervals."""

    node: Small
    """Of each row."""
    side: Small
    """On which a row falls if its node is refined."""
    rows: dict[int, Indices]
    """Of each node on the cut."""

    def parts(self, groups: Groups) -> Parts:
        number = combined([(groups.number, groups.many), (self.side[groups.rows], self.sides)], len(groups.rows))
        counts = class_counts(number, groups.labels, groups.classes)
        node = np.empty(len(counts), np.int64)
        node[number] = self.node[groups.rows]
        return Parts(node, counts)

    def divided(self, refinement: int) -> tuple[Indices, Small]:
        rows = self.rows[refinement]
        return rows, self.side[rows]
