"""Which coins: few of them, with hardly more noise than any number of coins could do with.

A coin more never gives anything away: it is added to what was there, and that is post-processing. Coins of weight one
alone come closest to the normal distribution and need the least noise, but four times its variance of them. One coin of
weight 2w has the variance of four of weight w. What stands against large weights is that the noise must be smooth at
every scale, and that its largest value, which every coin must fall to the same side for, gives the row away.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Self

from mixbayes.protocol.privacy.coins import MOST_COINS, MOST_WEIGHTS, Coins
from mixbayes.protocol.privacy.loss import Composition, Losses, Release, Tilted, delta_of, tilt_where

DEARER = 1.035
"""So many times the smallest standard deviation is allowed: coins cost bytes for every cell, and a few per cent of noise
are not seen in any label. Below it the number of coins rises quickly, above it hardly falls."""
SURE = 1e-6
"""The part of δ that is left unused, so that another machine, which rounds otherwise, finds the promise kept too."""
LOW = ((2, 4, 6), (2, 3, 4, 6), (3, 4, 5, 6, 8))
"""How many coins there may be of weight 1, 2 and 4, where these are small."""
FINE = 2
"""How many coins there are of weights that are smaller still."""
SCALE = 32.0
"""The search is made on noise with a smaller standard deviation than this; smaller weights are put below it after."""


def coins_for(epsilon: float, delta: float, coordinates: int) -> Coins:
    """Coins for (ε, δ)-privacy of a row that touches so many coordinates by one."""
    if not (0 < epsilon < math.inf and 0 < delta < 1 and coordinates >= 1):
        raise ValueError("ε must be above zero, δ between zero and one, and there must be a coordinate")
    least = least_deviation(epsilon, delta, coordinates)
    few = _Search.of(epsilon, delta, coordinates, least).fewest()
    if few is None:
        raise ValueError(
            f"no noise of {MOST_WEIGHTS} weights with up to {MOST_COINS} coins each keeps ε = {epsilon:g} and"
            f" δ = {delta:g} over {coordinates} coordinates"
        )
    return few


def least_deviation(epsilon: float, delta: float, coordinates: int) -> float:
    """The smallest standard deviation that coins of weight one reach; of normal noise where these are too many."""
    normal = normal_deviation(epsilon, delta, math.sqrt(coordinates))
    if 4 * normal**2 > MOST_COINS:
        return normal
    low, high = 0, MOST_COINS // 2
    while high - low > 1:
        middle = (low + high) // 2
        enough = delta_of([Release(Coins((2 * middle,)), coordinates)], epsilon) <= delta * (1 - SURE)
        low, high = (low, middle) if enough else (middle, high)
    return math.sqrt(2 * high) / 2


def normal_deviation(epsilon: float, delta: float, distance: float) -> float:
    """Of the normal noise that is just enough for two vectors at this distance (Balle and Wang 2018)."""
    low, high = 0.0, distance
    while normal_delta(epsilon, high / distance) > delta:
        low, high = high, 2 * high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if normal_delta(epsilon, middle / distance) <= delta else (middle, high)
    return high


def normal_delta(epsilon: float, deviation: float) -> float:
    """Of normal noise on a number that moves by one."""
    half, far = 0.5 / deviation, epsilon * deviation
    return _below(half - far) - math.exp(min(epsilon, 700.0)) * _below(-half - far)


def _below(x: float) -> float:
    """The standard normal distribution function."""
    return math.erfc(-x / math.sqrt(2)) / 2


@dataclass(frozen=True)
class _Search:
    """The fewest coins within a standard deviation."""

    epsilon: float
    delta: float
    coordinates: int
    least: float
    theta: float
    """The tilt of normal noise of this deviation."""

    @classmethod
    def of(cls, epsilon: float, delta: float, coordinates: int, least: float) -> Self:
        theta = max(0.0, epsilon * least**2 / coordinates - 0.5)
        return cls(epsilon, delta * (1 - SURE), coordinates, least, theta)

    def fewest(self) -> Coins | None:
        """From the number that the largest value of the noise asks for upwards."""
        low = max(2, math.ceil(math.log2(self.coordinates / self.delta)))
        high = min(self.limit, MOST_COINS * MOST_WEIGHTS)
        found = (self.best(number) for number in range(low, math.floor(high) + 1))
        return next((coins for coins in found if coins), None)

    @property
    def finer(self) -> int:
        """How many small weights are left out of the search."""
        return max(0, math.ceil(math.log2(DEARER * self.least / SCALE)))

    @property
    def limit(self) -> float:
        """The largest variance of the coins in the search, four times."""
        return (2 * DEARER * self.least / 2**self.finer) ** 2

    def best(self, number: int) -> Coins | None:
        """Of so many coins in the search the ones with the smallest deviation that are enough."""
        for counts in sorted(self._candidates(number), key=_variance):
            if self.is_enough(counts, self.finer):
                return self._with_fine_ones(counts)
        return None

    def _with_fine_ones(self, counts: tuple[int, ...]) -> Coins | None:
        whole = _stripped((FINE,) * self.finer + counts)
        return Coins(whole) if _allowed(whole) and self.is_enough(whole, 0) else None

    def _candidates(self, number: int) -> Iterator[tuple[int, ...]]:
        """Few coins of each small weight; of the three largest weights as many as the limit allows."""
        places = max(3, math.floor(math.log2(self.limit) / 2))
        for low in product(*LOW[: places - 3]):
            left, room = number - sum(low), self.limit - _variance(low)
            for high in _filled(left, room / 4 ** len(low)):
                if self.finer or _allowed(_stripped((*low, *high))):
                    yield (*low, *high)

    def is_enough(self, counts: tuple[int, ...], finer: int) -> bool:
        """With noise on a count that moves by one or, scaled down, by a part of it."""
        exact = Losses.of_move(counts, 0.5**finer).without_ends(1e-3 * self.delta / self.coordinates)
        if exact.infinite * self.coordinates > self.delta:
            return False
        together = Composition((exact.on_grid(1 / (16 * self.least)),), (self.coordinates,))
        if together.variance(self.theta) > 2 * self.coordinates / self.least**2:
            return together.delta_at(self.epsilon) <= self.delta
        return together.infinite + Tilted.of(together, self.theta).delta_at(self.epsilon) <= self.delta


def _filled(number: int, limit: float) -> Iterator[tuple[int, ...]]:
    """As many coins of weights 1, 2 and 4, with the largest variance within the limit."""
    for fours in range(min(number, int(limit / 16)) + 1):
        left = number - fours
        twos = min(left, math.floor((limit - 16 * fours - left) / 3))
        yield from ((left - some, some, fours) for some in range(max(0, twos - 1), twos + 1))


def _allowed(counts: tuple[int, ...]) -> bool:
    return counts[0] >= 2 and counts[0] % 2 == 0 and max(counts) <= MOST_COINS and len(counts) <= MOST_WEIGHTS


def _stripped(counts: tuple[int, ...]) -> tuple[int, ...]:
    """Without weights that no coin has."""
    return counts if counts[-1] or len(counts) == 1 else _stripped(counts[:-1])


def _variance(counts: tuple[int, ...]) -> int:
    return sum(count * 4**place for place, count in enumerate(counts))
