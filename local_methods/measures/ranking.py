"""The order of several treatments by the Mann-Whitney U test: the rank values of Peters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy.stats import mannwhitneyu

from mixbayes.local_methods.tables import Floats

SIGNIFICANCE = 0.05
DIGITS = 9
"""So many of a p-value are the same on every processor."""


def mann_whitney_ranks(samples: Sequence[Floats], *, high_is_good: bool = True) -> list[int]:
    """The rank of each sample from 1, the best; what does not differ has the same rank.

    The thesis does not say how a test of two becomes ranks of many. Here samples go by their medians, and one that
    differs from the first of the present rank opens the next. Not-a-number is left out; a sample of nothing comes last.
    """
    present = [sample[~np.isnan(sample)] for sample in samples]
    medians = [float(np.median(sample)) if len(sample) else -np.inf for sample in present]
    good = [median if high_is_good or median == -np.inf else -median for median in medians]
    ranks = [0] * len(samples)
    rank, first = 0, None
    for at in sorted(range(len(samples)), key=lambda at: -good[at]):
        if first is None or differ(present[first], present[at]):
            rank, first = rank + 1, at
        ranks[at] = rank
    return ranks


def differ(one: Floats, other: Floats) -> bool:
    """Whether two samples differ at the 5 % level, on either side. A sample of nothing differs from any other."""
    if not len(one) or not len(other):
        return len(one) != len(other)
    return p_value(one, other) < SIGNIFICANCE


def p_value(one: Floats, other: Floats) -> float:
    """The chance of samples at least as different if both were of one kind; 1 where all values are equal."""
    found = round(float(mannwhitneyu(one, other).pvalue), DIGITS)
    return found if np.isfinite(found) else 1.0


class Verdict(StrEnum):
    """What a test says of a release beside its original."""

    WIN = "win"
    TIE = "tie"
    LOSS = "loss"


@dataclass(frozen=True)
class MannWhitney:
    """A test of two samples."""

    p_value: float
    verdict: Verdict

    @staticmethod
    def of(original: Floats, released: Floats, *, high_is_good: bool) -> MannWhitney | None:
        """At the 5 % level, on either side. Not-a-number is left out; None where nothing is left of a sample."""
        before, after = (sample[~np.isnan(sample)] for sample in (original, released))
        if not len(before) or not len(after):
            return None
        chance = p_value(after, before)
        if chance >= SIGNIFICANCE:
            return MannWhitney(chance, Verdict.TIE)
        higher = 2 * mannwhitneyu(after, before).statistic > len(after) * len(before)
        return MannWhitney(chance, Verdict.WIN if higher == high_is_good else Verdict.LOSS)
