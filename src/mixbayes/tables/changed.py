"""How far the numbers that a hospital contributes differ from those of its table as it is, in words for its operator.

The labels of a federation depend on these numbers alone. Where they are those of the table as it is, a protection
changes nothing of what labels give away, whatever it did to the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.layout import Layout

FEW = 10
"""Where fewer than one number in so many differs, there is a warning."""
GIVEN_AWAY = "labels give away what they gave away before"


@dataclass(frozen=True)
class Changed:
    """What protecting a table changed of the hospital's contribution, over all folds together."""

    numbers: int
    """Numbers of the layout."""
    differing: int
    median: float
    """Half of those that differ do so by more than this share of the patients of their class."""
    largest: float
    """The largest difference, as such a share."""

    @property
    def hardly(self) -> bool:
        return self.differing * FEW < self.numbers

    def __str__(self) -> str:
        said = f"{self.differing} of {self.numbers} numbers of the contribution differ from the unprotected ones"
        if self.differing:
            said += (
                f", half of these by more than {_percent(self.median)} of the patients of their class, "
                f"the most by {_percent(self.largest)}"
            )
        return f"{said}: {GIVEN_AWAY}" if self.hardly else said


def _percent(share: float) -> str:
    return f"{float(f'{100 * share:.2g}'):g} %"


def changed_by(layout: Layout, before: Words, after: Words) -> Changed:
    """Between the vectors (size) of a table as it is and of its release."""
    differences = np.abs((after - before).astype(np.int64))
    shares = differences / _most(layout, before)
    found = shares[(differences > 0) & (shares > 0)]
    median, largest = (float(np.median(found)), float(found.max())) if found.size else (0.0, 0.0)
    return Changed(differences.size, int(np.count_nonzero(differences)), median, largest)


def _most(layout: Layout, vector: Words) -> NDArray[np.float64]:
    """What the patients of its class can make of each number, at most."""
    of_class = np.maximum(layout.class_counts(vector), np.uint64(1)).astype(np.float64)
    most = np.empty(layout.size)
    layout.class_counts(most)[:] = of_class
    for attribute, block in layout.blocks(most):
        block[:] = np.array(attribute.most_each)[:, None] * of_class
    return most
