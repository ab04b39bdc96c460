"""Which coins: few of them, with hardly more noise than any number of coins could do with.

One more coin never discloses anything, because adding it to the noisy number is post-processing. Coins of weight one
alone come closest to the normal distribution and need the least noise, but their number is four times the variance of
the noise. One coin of weight 2w has the variance of four coins of weight w. Two things limit large weights: the noise
must be smooth at every scale, and its largest value, which occurs if all coins fall to one side, discloses the row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Self

from mixbayes.privacy.coins import MOST_COINS, MOST_WEIGHTS, Coins
from mixbayes.privacy.loss import Composition, Losses, Release, Tilted, delta_of

DEARER = 1.035
"""So many times the smallest standard deviation is allowed. Every coin costs bytes in every cell, and a few per cent
more noise change few labels."""
SURE = 1e-6
"""The part of δ that is left unused, so that another machine, which rounds otherwise, finds the promise kept too."""
LOW = ((2, 3, 4, 6), (2, 3, 4, 5, 6))
"""How many coins are tried of the two weights below the three most used ones."""
FINE = 2
"""How many coins there are of weights that are smaller still. The search leaves them out and puts them below."""
WAYS = 8
"""How many numbers of the largest coins are tried."""
TRIES = 3
"""How many of those that are enough without the smallest weights are tried with them."""
POINTS = (16, 8)
"""How many steps of the grid go into the deviation of the least noise's losses, for few coordinates and for many."""
MANY = 1000
"""More coordinates than this are many."""
RAGGED = 3
"""How many times the variance of normal noise tilted losses may have before they are tilted less."""
WIDEST = 40
NARROW = 1 << 14
FLATTER = (1, 0.85, 0.7, 0.55)
"""How many standard deviations a window may have; normal noise needs 17. Or it may
have as many points as take no time. Where more are needed, losses are tilted less.
Any tilt gives a bound, and if none of these does, the noise is not looked at further."""
FILLING = 4
"""How many coins there are of each smaller weight where their number does not matter."""
GROWTH = 1.25
FEW = 6
"""Which numbers of coins are tried: leaps by this factor, and one by one between two that are as close as this."""


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
    return _fewest(
        lambda coins: delta_of([Release(coins, coordinates)], epsilon) <= delta * (1 - SURE), (), MOST_COINS
    ).deviation


def coins_alone(enough: Callable[[Coins], bool]) -> Coins:
    """Hardly more noise than is enough, for a machine that draws by itself and to which no number of coins is dear.

    Coins of weight one, or `MOST_COINS` at the most of a larger weight and a few of each smaller one.
    """
    for smaller in range(MOST_WEIGHTS):
        if enough(Coins((FILLING,) * smaller + (MOST_COINS,))):
            return _fewest(enough, (FILLING,) * smaller, MOST_COINS)
    raise ValueError(f"no noise of {MOST_WEIGHTS} weights with up to {MOST_COINS} coins each is enough")


def _fewest(enough: Callable[[Coins], bool], smaller: tuple[int, ...], most: int) -> Coins:
    """The fewest coins of the largest weight, an even number, with which the noise is enough. It is with the most."""
    low, high = 0, most // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(Coins((*smaller, 2 * middle))) else (middle, high)
    return Coins((*smaller, 2 * high))


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
        """From the number that the largest value of the noise asks for upwards, by leaps and then one by one."""
        most = min(math.floor(self.limit), MOST_COINS * MOST_WEIGHTS)
        low = max(1, math.ceil(math.log2(self.coordinates / self.delta)) - 1)
        high = low + 1
        while not (found := self.best(high)) and high < most:
            low, high = high, min(math.ceil(GROWTH * high), most)
        while high - low > FEW:
            middle = (low + high) // 2
            better = self.best(middle)
            low, high, found = (low, middle, better) if better else (middle, high, found)
        between = (self.best(number) for number in range(low + 1, high))
        found = next((coins for coins in between if coins), found)
        return (found and self.best(sum(found.counts), smallest=True)) or found or self._of_weight_one()

    def _of_weight_one(self) -> Coins | None:
        count = round(4 * self.least**2)
        return Coins((count,)) if count <= MOST_COINS and count % 2 == 0 and self.is_enough((count,), 0) else None

    @property
    def points(self) -> int:
        return POINTS[self.coordinates > MANY]

    @property
    def limit(self) -> float:
        """The largest variance of the coins, four times."""
        return (2 * DEARER * self.least) ** 2

    def best(self, number: int, smallest: bool = False) -> Coins | None:
        """Of so many coins the ones with the largest deviation that are enough: they are found soonest."""
        middle = max(1, math.floor(math.log2(self.limit / number) / 2))
        finer = max(0, middle - 1 - len(LOW))
        fine, low = (FINE,) * finer, LOW[: middle - 1]
        room = (self.limit - _variance(fine)) / 4**finer
        tried = sorted(_candidates(number - sum(fine), room, low), key=_variance, reverse=not smallest)
        wholes = (_stripped(fine + counts) for counts in tried if self._may_be(fine, counts))
        return next(
            (Coins(whole) for whole in islice(wholes, TRIES if fine else None) if self.is_enough(whole, 0)), None
        )

    def _may_be(self, fine: tuple[int, ...], counts: tuple[int, ...]) -> bool:
        return _allowed(_stripped(fine + counts)) and (not fine or self.is_enough(counts, len(fine)))

    def is_enough(self, counts: tuple[int, ...], finer: int) -> bool:
        """With noise on a count that moves by one or, scaled down, by a part of it."""
        exact = Losses.of_move(counts, 0.5**finer).without_ends(1e-3 * self.delta / self.coordinates)
        if exact.infinite * self.coordinates > self.delta:
            return False
        together = Composition((exact.on_grid(1 / (self.points * self.least)),), (self.coordinates,))
        for theta in (self.theta * part for part in FLATTER):
            if together.variance(theta) > RAGGED * self.coordinates / self.least**2:
                continue
            low, high = together.window(theta)
            if high - low < max(NARROW, WIDEST * self.points * math.sqrt(self.coordinates)):
                return together.infinite + Tilted.of(together, theta).delta_at(self.epsilon) <= self.delta
        return False


def _candidates(number: int, room: float, low: Sequence[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    """Few coins of each small weight; of the three largest weights as many as there is room for."""
    for few in product(*low):
        yield from (few + many for many in _filled(number - sum(few), (room - _variance(few)) / 4 ** len(few)))


def _filled(number: int, room: float) -> Iterator[tuple[int, ...]]:
    """As many coins of weights 1, 2 and 4, with hardly less variance than there is room for."""
    most = max(-1, min(number, math.floor(room / 16)))
    for fours in range(0, most + 1, max(1, most // WAYS)):
        twos = min(number - fours, math.floor((room - 15 * fours - number) / 3))
        yield from ((number - fours - some, some, fours) for some in range(max(0, twos - 1), twos + 1))


def _allowed(counts: tuple[int, ...]) -> bool:
    return counts[0] >= 2 and counts[0] % 2 == 0 and max(counts) <= MOST_COINS and len(counts) <= MOST_WEIGHTS


def _stripped(counts: tuple[int, ...]) -> tuple[int, ...]:
    """Without weights that no coin has."""
    return counts if counts[-1] or len(counts) == 1 else _stripped(counts[:-1])


def _variance(counts: tuple[int, ...]) -> int:
    return sum(count * 4**place for place, count in enumerate(counts))
