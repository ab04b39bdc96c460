"""How many rows that a hospital keeps aside are asked about in the joint test. Agreements need these numbers alone."""

from __future__ import annotations

from math import ceil, sqrt

MOST_ASIDE = 1 << 13
"""Rows that a hospital asks about, at most: as many as in an evaluation."""
_DEVIATIONS, _MORE = 8.0, 30
"""So many standard deviations and rows above the mean, no hospital has rows aside: the probability is below 1e-12."""


def asked(most_rows: int, share: float) -> int:
    """Of how many rows each hospital asks where noise hides how many it has: enough for whoever may count so many."""
    return max(1, min(MOST_ASIDE, _nearly_certain(most_rows, share)))


def changed(most_rows: int, share: float) -> int:
    """How many of the sums a row more or less can change, each by one."""
    return 1 if _nearly_certain(most_rows, share) <= MOST_ASIDE else 2


def figures_of(classes: int) -> int:
    """How many sums there are: one for every class and answer."""
    return classes * classes


def _nearly_certain(most_rows: int, share: float) -> int:
    # Rows are kept aside independently, while so many are counted: their number is negative binomial.
    mean = (most_rows + 1) * share / (1 - share)
    return ceil(mean + _DEVIATIONS * sqrt(mean / (1 - share))) + _MORE
