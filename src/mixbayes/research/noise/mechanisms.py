"""Ways of making counts private, by the noise that each puts on a sum which a patient moves by one at most.

Noise on moments, which are no whole numbers, is that of a count plus a number between −1/2 and 1/2
(`protocol/attributes/gaussian_noise.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Protocol

import numpy as np

from mixbayes.privacy.choosing import coins_for, normal_deviation
from mixbayes.privacy.coins import Coins
from mixbayes.research.noise.patients import Floats

DELTA = 1e-6
NUMBERS = 300
"""How many numbers get noise, when coins are chosen. The choice hardly depends on it: of a hundred numbers, as of a
thousand, a liar may know three coins each."""


class Mechanism(Protocol):
    """Noise for (ε, δ)-privacy of a patient who changes so many counts."""

    @property
    def deviation(self) -> float:
        """The standard deviation on a count."""
        ...

    def drawn(self, random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        """Noise on counts."""
        ...


@dataclass(frozen=True)
class OfCoins:
    """What two computing parties draw, and neither knows."""

    coins: Coins

    @property
    def deviation(self) -> float:
        return self.coins.deviation

    @cached_property
    def _below(self) -> Floats:
        return np.cumsum(self.coins.distribution())[:-1]

    def drawn(self, random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        heads = np.searchsorted(self._below, random.random(shape), side="right")
        return (heads - self.coins.bound).astype(np.float64)


@dataclass(frozen=True)
class Normal:
    """The analytic Gaussian mechanism (Balle and Wang 2018)."""

    deviation: float

    def drawn(self, random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        return random.normal(0, self.deviation, shape)


@dataclass(frozen=True)
class Geometric:
    """Two-sided geometric noise, which is Laplace noise on whole numbers: δ is zero."""

    ratio: float
    """Of the probabilities of a number and of the next larger one."""

    @property
    def deviation(self) -> float:
        return math.sqrt(2 * self.ratio) / (1 - self.ratio)

    def drawn(self, random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        one, other = random.geometric(1 - self.ratio, (2, *shape))
        return (one - other).astype(np.float64)


@dataclass(frozen=True)
class OfEach:
    """Every hospital adds the whole noise to its own counts: what is known of the sum has that of all."""

    own: Mechanism
    hospitals: int

    @property
    def deviation(self) -> float:
        return self.own.deviation * math.sqrt(self.hospitals)

    def drawn(self, random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        return self.own.drawn(random, (self.hospitals, *shape)).sum(axis=0)


HOSPITALS = 4
"""That add noise alone. Only the sum of their noise counts, so it is the same however the patients are divided."""


@cache
def of_coins(epsilon: float, touched: float) -> Mechanism:
    return OfCoins(coins_for(epsilon, DELTA, round(touched), max(NUMBERS, round(touched))))


@cache
def normal(epsilon: float, touched: float) -> Mechanism:
    return Normal(normal_deviation(epsilon, DELTA, math.sqrt(touched)))


@cache
def geometric(epsilon: float, touched: float) -> Mechanism:
    """ε is split evenly over the counts that a patient changes."""
    return Geometric(math.exp(-epsilon / touched))


def normal_of_each(epsilon: float, touched: float) -> Mechanism:
    return OfEach(normal(epsilon, touched), HOSPITALS)


def geometric_of_each(epsilon: float, touched: float) -> Mechanism:
    return OfEach(geometric(epsilon, touched), HOSPITALS)
