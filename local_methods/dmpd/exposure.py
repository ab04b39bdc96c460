"""What each outsider finds in a release by the quasi-identifiers that this outsider knows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import astuple, dataclass

import numpy as np

from mixbayes.local_methods.coded import Coded
from mixbayes.local_methods.dmpd.anonymity import (
    diversity,
    rejoined_diversity,
    rejoined_level,
    rejoined_level_with_class,
)
from mixbayes.local_methods.tables import Codes


@dataclass(frozen=True)
class Exposure:
    """The rows, and the classes of the rows, that share the rarest combination; each the smallest that is found."""

    anonymity: int
    rejoined_anonymity: int
    rejoined_anonymity_with_class: int
    diversity: int
    rejoined_diversity: int

    @staticmethod
    def of(coded: Coded, groups: Iterable[Collection[int]], outsiders: Iterable[Collection[int]]) -> Exposure:
        """Of the projections of a release, to the outsider who finds the smallest."""
        groups = list(groups)
        return Exposure(*map(min, zip(*(astuple(_to_one(coded, groups, known)) for known in outsiders), strict=True)))


def _to_one(coded: Coded, groups: Sequence[Collection[int]], known: Collection[int]) -> Exposure:
    keys = [[at for at in group if at in known] for group in groups]
    counts: list[Codes] = [coded.class_counts(coded.combined(key)) for key in keys if key]
    if not counts:  # nothing that the outsider knows is released: the whole table is one combination
        counts = [np.bincount(coded.labels)[None]]
    return Exposure(
        min(int(c.sum(axis=1).min()) for c in counts),
        rejoined_level(counts),
        rejoined_level_with_class(counts),
        min(map(diversity, counts)),
        rejoined_diversity(counts),
    )
