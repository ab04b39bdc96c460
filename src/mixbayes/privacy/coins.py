"""The noise on one number: a sum of fair coins of several weights.

A coin of weight w adds w or nothing, and half of all weights is taken away. Two computing parties toss a coin as the
XOR of a bit each. There must be coins of weight one: without them the noise is a multiple of the smallest weight, and
the lowest bits of the number stay as they are.

One of the two may know some coins of a number, because not every coin is checked (`checking.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import comb, isqrt

import numpy as np
from numpy.typing import NDArray

MOST_WEIGHTS = 12
MOST_COINS = 1 << 12
MOST_KNOWN = 6
"""For a δ of 1e-13 or more no more are needed. They would take long to account for."""


@dataclass(frozen=True)
class Coins:
    """How many coins there are of weight 1, 2, 4 and so on."""

    counts: tuple[int, ...]
    known: int = 0
    """How many coins of every number one of the two who toss may know, any of them. Zero where one machine draws alone,
    and in agreements that were made before coins were checked."""

    def __post_init__(self) -> None:
        if not 1 <= len(self.counts) <= MOST_WEIGHTS or not all(0 <= count <= MOST_COINS for count in self.counts):
            raise ValueError(f"at most {MOST_WEIGHTS} weights with up to {MOST_COINS} coins each are possible")
        if self.counts[0] < 2 or self.counts[0] % 2:
            raise ValueError("of weight one there must be an even number of coins, two at least")
        if not 0 <= self.known <= min(MOST_KNOWN, sum(self.counts) - 1):
            raise ValueError(f"of the coins of a number at most {MOST_KNOWN}, and not all, may be known")

    @property
    def weights(self) -> list[int]:
        """Of every coin."""
        return [1 << place for place, count in enumerate(self.counts) for _ in range(count)]

    @property
    def each(self) -> int:
        """How many coins a number gets."""
        return sum(self.counts)

    @property
    def bound(self) -> int:
        """No noise is larger or below minus this: half of all weights."""
        return sum(self.weights) // 2

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        return float(np.sqrt(sum(weight * weight for weight in self.weights)) / 2)

    @property
    def spread(self) -> int:
        """The standard deviation rounded up, in integers: all nodes must come to the same number."""
        squares = sum(weight * weight for weight in self.weights)
        return (isqrt(squares - 1) + 1 + 1) // 2

    def distribution(self) -> NDArray[np.float64]:
        """The probabilities of −bound to bound."""
        found = np.ones(1)
        for place, count in enumerate(self.counts):
            for _ in range(count):
                moved = np.concatenate([np.zeros(1 << place), found])
                moved[: len(found)] += found
                found = moved / 2
        return found


def unknown(counts: tuple[int, ...], known: int) -> Iterator[tuple[Fraction, tuple[int, ...]]]:
    """What may be left of the coins once so many are taken at random, and how probable it is."""
    ways = comb(sum(counts), known)
    return ((Fraction(many, ways), left) for many, left in _without(counts, known))


def _without(counts: tuple[int, ...], known: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """What may be left, and in how many ways. What has the same coins of large weights comes together."""
    *smaller, largest = counts
    for taken in range(max(0, known - sum(smaller)), min(known, largest) + 1):
        ways = comb(largest, taken)
        if smaller:
            of_smaller = _without(tuple(smaller), known - taken)
            yield from ((ways * many, (*left, largest - taken)) for many, left in of_smaller)
        else:
            yield ways, (largest - taken,)
