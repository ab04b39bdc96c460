"""Patients in the order of their classes: a sum by class is then a sum of neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Words

_Integers = NDArray[np.int64]


@dataclass(frozen=True)
class ByClass:
    """At most 2^15 patients. Those whose class is none of the dictionary's are left out."""

    order: _Integers
    """The patients, class by class."""
    labels: _Integers
    """Their classes, in this order."""
    present: _Integers
    """The classes that have patients,"""
    starts: _Integers
    """and where each of them begins."""

    @classmethod
    def of(cls, labels: _Integers, classes: int) -> Self:
        # numpy sorts small integers by their digits, ten times faster than others.
        order = np.argsort(np.minimum(labels, classes).astype(np.min_scalar_type(classes)), kind="stable")
        ordered = labels[order]
        known = int(np.searchsorted(ordered, classes))
        present, starts = np.unique(ordered[:known], return_index=True)
        return cls(order[:known], ordered[:known], present, starts)

    def __len__(self) -> int:
        return len(self.order)

    @cached_property
    def sizes(self) -> Words:
        """How many patients each of these classes has."""
        return np.diff(self.starts, append=len(self)).astype(np.uint64)

    def sums(self, of_patients: NDArray[Any]) -> Words:
        """By class that has patients, of integers (..., patients) below 2^38: exact in float64."""
        return np.add.reduceat(of_patients, self.starts, axis=-1, dtype=np.float64).astype(np.uint64)
