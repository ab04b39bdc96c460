"""Which coins: few of them, with hardly more noise than any number of coins could do with.

One more coin never discloses anything, because adding it to the noisy number is post-processing. So how many coins of a
weight are enough is found by bisection. Coins of weight one alone come closest to the normal distribution and need the
least noise, but their number is four times the variance of the noise. One coin of weight 2w has the variance of four
coins of weight w. Two things limit large weights: the noise must be smooth at every scale, also for somebody who knows
a few coins, and its largest value, which occurs if all coins fall to one side, discloses the row.

What is tried: a few coins of every small weight, some more of the second largest, and of the largest as many as are
enough. From the best of these all coins are taken that are not needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

from mixbayes.privacy.checking import escaping
from mixbayes.privacy.coins import MOST_COINS, MOST_KNOWN, MOST_WEIGHTS, Coins
from mixbayes.privacy.loss import Composition, Losses, Release

A_COIN = 0.002
"""One coin more of every number, which costs bytes and time, is worth so large a part of the noise's deviation."""
SURE = 1e-6
"""The part of δ that is left unused, so that another machine, which rounds otherwise, finds the promise kept too."""
ESCAPES = 0.125
"""The part of δ that the escape of a liar may take: by it is decided how many coins may be known."""
USUAL = 40
"""So many coins a number has, about."""
LARGEST = 8
"""If the noise were made of the largest coins alone, there would be this many of them at the least."""
SOME = (1, 3, 7, 11, 17)
"""How many coins of the second largest weight are tried, beyond those that may be known."""
FEW = (1, 3)
"""And how many of every smaller weight."""
SEEN = 4
"""The search looks at so many of the largest weights, as if the noise below them were uniform."""
ROUGH, FINE = 8, 64
"""How many steps of the grid go into the deviation of the losses, in the search and in the end."""
ENDS = 1e-3
"""The part of δ that is left to the largest and the smallest losses, which would only take time."""
FILLING = 4
"""How many coins there are of each smaller weight where their number does not matter."""
LARGEST_NOISE = (*(FILLING,) * (MOST_WEIGHTS - 1), MOST_COINS)


def coins_for(epsilon: float, delta: float, coordinates: int, numbers: int) -> Coins:
    """Coins for (ε, δ)-privacy of a row that touches so many of the numbers by one, also against one of two who toss.

    As few may be known as leave an escape improbable enough.
    """
    if not (0 < epsilon < math.inf and 0 < delta < 1 and 1 <= coordinates <= numbers):
        raise ValueError("ε must be above zero, δ between zero and one, and coordinates among the numbers")
    possible = normal_deviation(epsilon, delta, math.sqrt(coordinates)) < Coins(LARGEST_NOISE).deviation
    for known in range(1, MOST_KNOWN + 1) if possible else ():
        if escaping(Coins((USUAL,), known), numbers) <= ESCAPES * delta:
            found = _Search(epsilon, delta * (1 - SURE), coordinates, numbers, known).best()
            if found:
                return found
    raise ValueError(
        f"no noise of {MOST_WEIGHTS} weights with up to {MOST_COINS} coins each keeps ε = {epsilon:g} and"
        f" δ = {delta:g} over {coordinates} coordinates, with up to {MOST_KNOWN} coins that a liar may know"
    )


def coins_alone(enough: Callable[[Coins], bool]) -> Coins:
    """Hardly more noise than is enough, for a machine that draws by itself and to which no number of coins is dear.

    Coins of weight one, or `MOST_COINS` at the most of a larger weight and a few of each smaller one.
    """
    for place in range(MOST_WEIGHTS):
        most = (*(FILLING,) * place, MOST_COINS)
        if enough(Coins(most)):
            return Coins(_fewest(most, place, lambda counts: enough(Coins(counts))))
    raise ValueError(f"no noise of {MOST_WEIGHTS} weights with up to {MOST_COINS} coins each is enough")


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


Counts = tuple[int, ...]


def _fewest(counts: Counts, place: int, enough: Callable[[Counts], bool]) -> Counts:
    """As few coins of this weight as are enough, an even number of weight one. As many as there are, are enough."""
    unit = 1 if place else 2
    low, high = unit // 2 - 1, counts[place] // unit
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(_with(counts, place, unit * middle)) else (middle, high)
    return _with(counts, place, unit * high)


def _with(counts: Counts, place: int, many: int) -> Counts:
    return (*counts[:place], many, *counts[place + 1 :])


@dataclass(frozen=True)
class _Search:
    """The search for coins of which so many may be known."""

    epsilon: float
    delta: float
    coordinates: int
    numbers: int
    known: int

    def best(self) -> Coins | None:
        """The cheapest coins that are found."""
        best: Counts | None = None
        for smaller in self.shapes():
            best = self.cheaper(smaller, best) or best
        return self.surely(self.without_needless(best)) if best else None

    def shapes(self) -> Iterator[Counts]:
        """How many coins there may be of every weight but the largest."""
        squares = 4 * normal_deviation(self.epsilon, self.delta, math.sqrt(self.coordinates)) ** 2
        largest = min(MOST_WEIGHTS - 1, max(0, math.floor(math.log(squares / LARGEST, 4))))
        yield from (shape for place in (largest, largest - 1) if place >= 0 for shape in _shapes(place, self.known))

    def cheaper(self, smaller: Counts, than: Counts | None) -> Counts | None:
        """With the fewest coins of the largest weight that are enough, if that is cheaper."""
        place = len(smaller)
        most = (*smaller, MOST_COINS)
        if than:
            most = _fewest(most, place, lambda counts: _cost(counts) >= _cost(than))
        else:
            powers = ((*smaller, 1 << power) for power in range(3, MOST_COINS.bit_length()))
            most = next((counts for counts in powers if self.is_enough(counts)), most)
        if not self.is_enough(most):
            return None
        found = _fewest(most, place, self.is_enough)
        return None if than and _cost(found) >= _cost(than) else found

    def without_needless(self, counts: Counts) -> Counts:
        """Without coins of smaller weights that are not needed."""
        for place in reversed(range(_finer(counts), len(counts) - 1)):
            counts = _fewest(counts, place, self.is_enough)
        return counts

    def surely(self, counts: Counts) -> Coins | None:
        """With a few coins more of the largest weight, if the whole accounting asks for them."""
        place = len(counts) - 1
        for many in range(counts[place], MOST_COINS + 1, 1 if place else 2):
            coins = Coins(_with(counts, place, many), self.known)
            if self.keeps(coins, Losses.of(coins), FINE):
                return coins
        return None

    def is_enough(self, counts: Counts) -> bool:
        """Nearly: the grid is coarse, and the noise of small weights is taken for uniform."""
        if sum(counts) <= self.known:
            return False
        coins = Coins(counts, self.known)
        return self.keeps(coins, Losses.roughly(coins, _finer(counts)), ROUGH)

    def keeps(self, coins: Coins, losses: Losses, points: int) -> bool:
        """With so many steps of the grid to the deviation of the losses."""
        whole = losses.or_else(Release(coins, self.coordinates, self.numbers).escaping)
        if whole.infinite * self.coordinates > self.delta:
            return False
        grid = whole.on_grid(whole.deviation / points).without_ends(ENDS * self.delta / self.coordinates)
        return Composition((grid,), (self.coordinates,)).delta_at(self.epsilon) <= self.delta


def _shapes(place: int, known: int) -> Iterator[Counts]:
    """Below the weight of this place."""
    if not place:
        yield ()
    for few, some in product(FEW if place > 1 else FEW[:1], SOME if place else ()):
        first, *others = (*(known + few,) * (place - 1), known + some)
        yield (first + first % 2, *others)


def _finer(counts: Counts) -> int:
    return max(0, len(counts) - SEEN)


def _cost(counts: Counts) -> float:
    variance = sum(count * 4**place for place, count in enumerate(counts))
    return math.log(variance) / 2 + A_COIN * sum(counts)
