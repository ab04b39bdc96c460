"""What chance alone could have done: intervals of 95 %, and the exact test of two classifiers on the same patients."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, fsum, lgamma, log, sqrt
from typing import NamedTuple

NORMAL = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""
_HALVINGS = 60


class Interval(NamedTuple):
    """Where a share can lie."""

    low: float
    high: float


ANYWHERE = Interval(0.0, 1.0)


def wilson(right: int, rows: int) -> Interval:
    """Of a share of so many rows: of use for few of them too, and never beyond 0 or 1."""
    if not rows:
        return ANYWHERE
    share, square = right / rows, NORMAL**2
    centre = (share + square / (2 * rows)) / (1 + square / rows)
    half = NORMAL * sqrt(share * (1 - share) / rows + square / (4 * rows**2)) / (1 + square / rows)
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


def mcnemar(one: int, other: int) -> float:
    """How probable it is that two equally good classifiers differ so much, or more.

    Only patients say something whom one of the two labels rightly and the other wrongly: `one` and `other` are how many
    they are. The test is exact, of heads among tosses of a fair coin, on both sides.
    """
    tosses = one + other
    if one == other:
        return 1.0
    logs = [_log_choose(tosses, heads) - tosses * log(2) for heads in range(min(one, other) + 1)]
    most = max(logs)
    return min(1.0, 2 * exp(most) * fsum(exp(each - most) for each in logs))


def _log_choose(tosses: int, heads: int) -> float:
    return lgamma(tosses + 1) - lgamma(heads + 1) - lgamma(tosses - heads + 1)


def area_interval(area: float, negative: int, positive: int) -> Interval:
    """Of the area under a ROC curve of so many patients of each class: the fifth method of Newcombe (2006).

    As Wilson's interval does for a share, it takes the areas from which the measured one is not further than chance
    can be; Hanley and McNeil's formula says how far that is. So it has a width where the area is 1, and it holds with
    a handful of patients of one class, where DeLong's is too narrow.
    """
    if not (negative and positive):
        return ANYWHERE

    def far(true: float) -> bool:
        return abs(area - true) > NORMAL * sqrt(_variance(true, negative, positive))

    return Interval(_edge(area, 0.0, far), _edge(area, 1.0, far))


def _variance(area: float, negative: int, positive: int) -> float:
    """Hanley and McNeil's (1982), with Newcombe's mean of both group sizes instead of each."""
    others = (negative + positive) / 2 - 1
    pairs = (1 - area) / (2 - area) + area / (1 + area)
    return area * (1 - area) * (1 + others * pairs) / (negative * positive)


def _edge(inside: float, outside: float, far: Callable[[float], bool]) -> float:
    """Where what is not far ends, between an area that is not and the end of all areas."""
    if not far(outside):
        return outside
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if far(middle) else (middle, outside)
    return inside
