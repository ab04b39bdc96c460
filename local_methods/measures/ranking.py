"""Which of several treatments are better than which, by the Mann-Whitney U test: the rank values of Peters."""

from __future__ import annotations

from collections.abc import Sequence

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
    return round(float(mannwhitneyu(one, other).pvalue), DIGITS) < SIGNIFICANCE
