"""t-closeness: how far the sensitive values of people who look alike are from those of the whole table.

N. Li, T. Li and S. Venkatasubramanian, t-closeness: privacy beyond k-anonymity and l-diversity, ICDE 2007. Both
distances are earth mover's distances: between names every move is one, between numbers it is the share of all steps
in the order of the different numbers of the table.
"""

from __future__ import annotations

import numpy as np

from mixbayes.local_methods.measures.sensitive import Sensitive
from mixbayes.local_methods.tables import Floats


def t_closeness(sensitive: Sensitive) -> float | None:
    """The largest distance of a group from the whole table: 0 where a group tells nothing, at most 1."""
    if sensitive.empty:
        return None
    distances = ordered_distances(sensitive) if sensitive.ordered else equal_distances(sensitive)
    return float(distances.max())


def equal_distances(sensitive: Sensitive) -> Floats:
    """For each group half the sum of the differences of shares, which is the sum of those that are above zero."""
    above = sensitive.shares() - sensitive.shares_of_table()[sensitive.values]
    return np.asarray(np.bincount(sensitive.groups, np.maximum(above, 0)), np.float64)


def ordered_distances(sensitive: Sensitive) -> Floats:
    """For each group the sum of the differences of cumulated shares, over the number of steps between the values.

    The cumulated share of a group is constant from each of its values to the next, and that of the table grows: where
    it passes that of the group, differences change their sign. So each stretch needs one look, and not one at each of
    the table's values.
    """
    steps = len(sensitive.totals) - 1
    if not steps:
        return np.zeros(sensitive.groups[-1] + 1)
    groups, values = sensitive.groups, sensitive.values
    first = np.diff(groups, prepend=-1) > 0
    last = np.append(first[1:], True)
    ends = np.where(last, steps, np.append(values[1:], steps))
    running = np.cumsum(sensitive.counts)
    before_group = (running - sensitive.counts)[first]
    levels = (running - before_group[groups]) / np.bincount(groups, sensitive.counts)[groups]

    table = np.cumsum(sensitive.totals)[:-1] / sensitive.totals.sum()
    sums = np.append(0.0, np.cumsum(table))
    passed = np.clip(np.searchsorted(table, levels), values, ends)
    below = levels * (passed - values) - (sums[passed] - sums[values])
    above = sums[ends] - sums[passed] - levels * (ends - passed)
    ahead = sums[values[first]]  # up to its first value the group has nothing
    return (np.bincount(groups, below + above) + ahead) / steps
