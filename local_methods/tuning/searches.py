"""The rule-based search and the exhaustive search over whole numbers of steps, and the choice of the best value tried.

A search goes from the least private end to the most private one, whichever of the two numbers is larger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isnan, log2

import numpy as np

Told = Callable[[int, int], None]
"""Called with how many values were tried, and how many there are to be tried."""


@dataclass(frozen=True)
class Tried:
    """What a value of the parameter gave, on average over the repeats."""

    value: float
    accuracy: float
    """The share of test rows that a classifier trained on the release gets right."""
    privacy: float
    """By the measure that fits the method; not-a-number if the table does not have it."""


Try = Callable[[Sequence[int]], Iterator[Tried]]
"""Tries these numbers of steps, in this order."""

Middle = Callable[[int, int], int]
"""A number of steps between two that are at least two apart."""


def unheard(done: int, total: int) -> None:
    """Progress that nobody follows."""


def rule_based(
    tries: Try, open_end: int, private_end: int, gap: float, middle: Middle, told: Told = unheard
) -> list[Tried]:
    """Figure 6: halve the range, towards accuracy or towards privacy, until nothing is left."""
    ends = sorted({open_end, private_end})
    tried = dict(zip(ends, tries(ends), strict=True))
    expected = 2 + int(log2(max(abs(private_end - open_end), 1)))
    while abs(private_end - open_end) > 1:
        told(len(tried), max(expected, len(tried) + 1))
        between = middle(open_end, private_end)
        tried[between] = next(tries([between]))
        best, worst = tried[open_end].accuracy, tried[private_end].accuracy
        if best - worst > gap * best:
            private_end = between
        else:
            open_end = between
    told(len(tried), len(tried))
    return list(tried.values())


def exhaustive(tries: Try, low: int, high: int, most: int | None, told: Told = unheard) -> list[Tried]:
    """Every value of the range, or at most so many at equal distances."""
    count = high - low + 1 if most is None else min(most, high - low + 1)
    steps = sorted({round(step) for step in np.linspace(low, high, count)})
    tried = []
    for one in tries(steps):
        tried.append(one)
        told(len(tried), len(steps))
    return tried


def best_of(tried: Sequence[Tried], gap: float, less_is_private: bool = False) -> Tried:
    """The one with the most privacy among those that lose at most this share of the best accuracy.

    Of several, the value that promises most. It alone decides where nothing else measures privacy.
    """
    enough = (1 - gap) * max(one.accuracy for one in tried)
    good = [one for one in tried if one.accuracy >= enough]
    sign = -1 if less_is_private else 1
    return max(good, key=lambda one: (-1.0 if isnan(one.privacy) else one.privacy, sign * one.value))
