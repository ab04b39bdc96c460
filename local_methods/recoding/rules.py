"""Rules that recode a cell by public parameters alone: an interval of agreed edges, the multiple of a step, a level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from mixbayes.local_methods.errors import BadParameter, UnfitTable
from mixbayes.local_methods.generalisation.parameters import ByColumn
from mixbayes.local_methods.generalisation.rules import Rule, TaxonomyRule
from mixbayes.local_methods.generalisation.taxonomy import Taxonomy
from mixbayes.local_methods.tables import MISSING, Column, Floats, Nominal, Numeric

MOST_NAMED = 8
LEAST_EDGES = 2


EDGES = ByColumn("their edges [0, 20, 40, 120], or to a step")


@dataclass(frozen=True)
class Suppressed(Rule):
    """No cell is released."""

    def __call__(self, column: Column) -> Column:
        if isinstance(column, Nominal):
            return column.with_codes(np.full(len(column), MISSING, np.int64))
        return Numeric(np.full(len(column), np.nan))

    @property
    def cut(self) -> list[Any]:
        return []

    @property
    def silent(self) -> bool:
        return True

    def __str__(self) -> str:
        return "suppressed"


@dataclass(frozen=True, eq=False)
class InBins(Rule):
    """A number becomes the middle of its interval. One beyond the outer edges counts to the interval next to it."""

    name: str
    edges: Floats = field(repr=False)

    def __call__(self, column: Column) -> Numeric:
        numbers = _numbers(column, self.name)
        middles = self.edges[:-1] / 2 + self.edges[1:] / 2
        interval = np.searchsorted(self.edges[1:-1], numbers, side="right")
        return Numeric(np.where(np.isnan(numbers), np.nan, middles[interval]))

    @property
    def cut(self) -> list[float]:
        return self.edges.tolist()

    @property
    def silent(self) -> bool:
        return False

    def __str__(self) -> str:
        shown = [f"{edge:g}" for edge in self.cut]
        if len(shown) > MOST_NAMED:
            shown = [*shown[: MOST_NAMED - 1], "…", shown[-1]]
        return f"the middle of its interval between {', '.join(shown)}"


@dataclass(frozen=True)
class ToStep(Rule):
    """A number becomes the nearest multiple of the step, ties to even."""

    name: str
    step: float

    def __call__(self, column: Column) -> Numeric:
        rounded = np.rint(_numbers(column, self.name) / self.step) * self.step
        if np.isinf(rounded).any():
            raise UnfitTable(f"A number of column {self.name!r} is too large for the step {self.step:g}. Enlarge it.")
        return Numeric(rounded + 0.0)  # a zero has no sign

    @property
    def cut(self) -> list[float]:
        return [self.step]

    @property
    def silent(self) -> bool:
        return False

    def __str__(self) -> str:
        return f"the nearest multiple of {self.step:g}"


@dataclass(frozen=True)
class AtLevel(Rule):
    """A value becomes the node above it so many steps below the root. One that the tree does not have is missing."""

    tree: Taxonomy
    level: int

    def __call__(self, column: Column) -> Nominal:
        if isinstance(column, Numeric):
            raise BadParameter(f"There is a taxonomy for {self.tree.column!r}, which is numeric. Say its cuts instead.")
        return TaxonomyRule.of(column, self.tree, self._nodes)(column)

    @property
    def cut(self) -> list[str]:
        return [self.tree.written[node] for node in self._nodes if node != self.tree.missing]

    @property
    def silent(self) -> bool:
        return False

    @property
    def _nodes(self) -> list[int]:
        leaves = [node for node in range(len(self.tree.parent)) if node not in self.tree.children]
        path = self.tree.path[leaves]
        return np.unique(path[:, min(self.level, path.shape[1] - 1)]).tolist()

    def __str__(self) -> str:
        return f"level {self.level} of its taxonomy"


def cut_rule(name: str, given: object) -> Rule:
    """The rule of a column's cuts as they are written: edges that rise, or a step."""
    if isinstance(given, Real) and not isinstance(given, bool):
        if not 0 < float(given) < np.inf:
            raise BadParameter(f"cuts of {name!r}: a step is above 0, not {given}.")
        return ToStep(name, float(given))
    if not isinstance(given, Sequence) or isinstance(given, str) or not all(map(_is_number, given)):
        raise BadParameter(f"cuts of {name!r}: write the edges of its intervals as a list of numbers, or a step.")
    edges = np.array(given, np.float64)
    if len(edges) < LEAST_EDGES or not np.isfinite(edges).all() or (np.diff(edges) <= 0).any():
        raise BadParameter(f"cuts of {name!r}: at least two edges are needed, each above the one before it.")
    return InBins(name, edges)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _numbers(column: Column, name: str) -> Floats:
    if isinstance(column, Numeric):
        return column.numbers
    raise BadParameter(f"There are cuts for {name!r}, which holds no numbers. Say a taxonomy instead.")
