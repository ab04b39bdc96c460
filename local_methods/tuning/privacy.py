"""How private a release is, by a measure that fits the method. In each measure a larger value is more private."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from math import nan
from typing import Any, ClassVar

import numpy as np

from mixbayes.local_methods.base import LocalMethod
from mixbayes.local_methods.measures.disclosure import (
    Unknown,
    attribute_disclosure,
    codes_of,
    cuts_of,
    draw_queries,
    reidentification,
)
from mixbayes.local_methods.measures.release import confidence_interval
from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.local_methods.sap.sap import CLASS
from mixbayes.local_methods.tables import Codes, Floats


class Measure(ABC):
    """What is known of the original once, and asked of every release."""

    told: ClassVar[str]
    """What it measures, in words."""

    @abstractmethod
    def __call__(self, method: Any, released: Labelled) -> float:
        """The privacy of what the method has released."""


@dataclass(frozen=True, eq=False)
class Interval(Measure):
    """Kim's: how wide the interval is that holds an original number. For methods that move numbers."""

    told: ClassVar[str] = "width of the 95% interval, in ranges"
    original: Labelled

    def __call__(self, method: Any, released: Labelled) -> float:
        before = self.original.table.take(method.stood_for_)
        return confidence_interval(before.numbers(), released.table.numbers()) if before.numeric else nan


@dataclass(frozen=True, eq=False)
class Hidden(Measure):
    """One less the success of an attacker who knows some cells of a person (Peters, S1 and S2).

    This is for methods that suppress cells: the remaining cells are those of the original, so no number is moved. A
    missing cell matches every value. All releases are tested with the same queries.
    """

    told: ClassVar[str] = "chance that an attacker's query fails"
    cuts: list[Floats] = field(repr=False)
    queries: Codes = field(repr=False)
    of_class: bool

    @staticmethod
    def of(original: Labelled, of_class: bool, seed: int) -> Hidden:
        """From what the original says of its people."""
        cuts = cuts_of(original.table)
        return Hidden(cuts, draw_queries(codes_of(original.table, cuts), np.random.default_rng(seed)), of_class)

    def __call__(self, method: Any, released: Labelled) -> float:
        codes = codes_of(released.table, self.cuts)
        if self.of_class:
            return 1 - attribute_disclosure(codes, released.labels.codes, self.queries, Unknown.WILDCARD)
        return 1 - reidentification(codes, self.queries, Unknown.WILDCARD)


@dataclass(frozen=True)
class Level(Measure):
    """The level of anonymity that was found when the promise was checked. For methods that promise one."""

    told: ClassVar[str] = "rows that share the rarest combination"

    def __call__(self, method: Any, released: Labelled) -> float:
        return float(method.guarantee_.measured)


def measure_for(method: LocalMethod, original: Labelled, seed: int) -> Measure:
    """The measure that fits the method."""
    if method.RELEASES_PROJECTIONS:
        return Level()
    if method.ONLY_SUPPRESSES:
        return Hidden.of(original, method.get_params()["target"] == CLASS, seed)
    return Interval(original)
