"""Where an interval can be cut in two: what each cut would gain, and which cuts leave enough rows on both sides."""

from __future__ import annotations

import numpy as np

from mixbayes.local_methods.generalisation.combinations import Groups
from mixbayes.local_methods.generalisation.information import gain
from mixbayes.local_methods.generalisation.requirement import Requirement
from mixbayes.local_methods.tables import Codes, Floats, Mask


def gains_of_cuts(counts: Codes, missing: Codes) -> Floats:
    """The information gain of a cut after each number, from numbers × classes and the classes of missing cells."""
    below = counts.cumsum(axis=0)
    return gain(below[-1] + missing, [below, below[-1] - below, missing])


def valid_cuts(ranks: Codes, many: int, groups: Groups, requirement: Requirement) -> Mask:
    """After which of the ranks a cut meets the requirement in every combination.

    In a combination, a cut may lie below all of its ranks or above them. Else it must lie at or above the rank at which
    enough rows and classes are below it, and below the rank at which enough are above it.
    """
    if not requirement.met_by(groups.counted()).all():
        return np.zeros(many, bool)
    order = np.lexsort((ranks, groups.number))
    ordered = ranks[order]
    sizes = np.bincount(groups.number)
    ends = np.cumsum(sizes)
    first, last = ordered[ends - sizes], ordered[ends - 1]
    low, high = ordered[ends - sizes + requirement.k - 1], ordered[ends - requirement.k]
    if requirement.diversity > 1:
        low = np.maximum(low, _diverse_from(ranks, groups, requirement.diversity))
        high = np.minimum(high, -_diverse_from(-ranks, groups, requirement.diversity))
    # Neither from the first rank to below `low`, nor from `high` to below the last one.
    change = sum(sign * np.bincount(at, minlength=many) for sign, at in ((1, first), (-1, low), (1, high), (-1, last)))
    return np.cumsum(change) == 0


def _diverse_from(ranks: Codes, groups: Groups, diversity: int) -> Codes:
    """For each combination, the lowest rank up to which the required number of classes occurs."""
    pair = groups.number.astype(np.int64) * groups.classes + groups.labels
    order = np.lexsort((ranks, pair))
    begins = np.flatnonzero(np.diff(pair[order], prepend=-1))
    group, lowest = pair[order][begins] // groups.classes, ranks[order][begins]
    by_rank = np.lexsort((lowest, group))
    kinds = np.bincount(group)
    return lowest[by_rank][np.cumsum(kinds) - kinds + diversity - 1]
