"""Groups of people who look alike: how many people, and how much a group tells about all of them (k, l and t)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from mixbayes.local_methods.coded import coded_cells, combined
from mixbayes.local_methods.measures.closeness import t_closeness
from mixbayes.local_methods.measures.diversity import distinct_l, entropy_l
from mixbayes.local_methods.measures.sensitive import Sensitive
from mixbayes.local_methods.tables import Column, Indices

Value = TypeVar("Value")


@dataclass(frozen=True)
class Alike:
    """The smallest group, the least diverse one and the one furthest from the table; None where nothing is counted."""

    k: int | None
    distinct_l: int | None
    entropy_l: float | None
    t: float | None

    @staticmethod
    def of(groups: Indices, sensitive: Column | None) -> Alike:
        """The group of each row, below zero where it is in none, and the sensitive column, if there is one."""
        if sensitive is None:
            return Alike(smallest(groups), None, None, None)
        counted = Sensitive.of(groups, sensitive)
        return Alike(smallest(groups), distinct_l(counted), entropy_l(counted), t_closeness(counted))

    @staticmethod
    def worst(parts: Sequence[Alike]) -> Alike:
        """Of several ways of putting rows into groups, each by itself."""
        return Alike(
            min(_known(part.k for part in parts), default=None),
            min(_known(part.distinct_l for part in parts), default=None),
            min(_known(part.entropy_l for part in parts), default=None),
            max(_known(part.t for part in parts), default=None),
        )


def combinations(columns: Sequence[Column], rows: int) -> Indices:
    """The combination of cells that each row has, numbered from zero; a missing cell equals a missing one alone.

    Without columns all rows are alike.
    """
    return combined(map(coded_cells, columns), rows).astype(np.intp) if rows else np.empty(0, np.intp)


def smallest(groups: Indices) -> int | None:
    """The rows of the smallest group; None where no row is in one."""
    sizes = np.bincount(groups[groups >= 0])
    return int(sizes[sizes > 0].min()) if sizes.any() else None


def _known(values: Iterable[Value | None]) -> list[Value]:
    return [value for value in values if value is not None]
