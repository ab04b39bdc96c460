"""The anonymity requirement: how many rows, and how many classes, every combination must have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mixbayes.local_methods.tables import Codes, Mask

NO_PART = np.iinfo(np.int64).max
"""What stands where a refinement leaves no part at all."""


@dataclass(frozen=True)
class Requirement:
    """k rows, and classes of as many kinds as `diversity` says: distinct l-diversity."""

    k: int
    diversity: int

    def met(self, rows: Codes, classes: Codes) -> Mask:
        """Whether so many rows of so many classes are enough."""
        return (rows >= self.k) & (classes >= self.diversity)

    def met_by(self, counts: Codes) -> Mask:
        """Whether parts are large enough, from parts × classes."""
        return self.met(counts.sum(axis=1), (counts > 0).sum(axis=1))


class Least:
    """For each refinement of a column, the rows and the classes of the least part that it would leave.

    Parts only ever become smaller when other refinements are made. So what was least before and the parts that changed
    say what is least now, and nobody has to look at the others.
    """

    def __init__(self, refinements: int) -> None:
        self.rows = np.full(refinements, NO_PART)
        self.classes = np.full(refinements, NO_PART)

    def lower(self, refinement: Codes, counts: Codes) -> None:
        """Take note of parts: whose refinement leaves each, and its rows by class."""
        np.minimum.at(self.rows, refinement, counts.sum(axis=1))
        np.minimum.at(self.classes, refinement, (counts > 0).sum(axis=1))

    def grow(self, refinements: int) -> None:
        """Make room for refinements that have come up."""
        more = np.full(refinements - len(self.rows), NO_PART)
        self.rows, self.classes = np.append(self.rows, more), np.append(self.classes, more)

    def forget(self, refinement: int) -> None:
        """A refinement that will leave other parts than before."""
        self.rows[refinement] = self.classes[refinement] = NO_PART
