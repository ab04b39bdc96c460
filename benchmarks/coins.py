"""The coins that are chosen for the usual ε: python benchmarks/coins.py [EPSILON...]

For δ = 1e-6, 106 numbers that get noise, and a row that touches 14 of them. Prints the coins of every weight, how many
a number takes, how many of these one of the two who toss may know, how many are tossed in all so that the others can be
checked, the seconds of the search, the standard deviation and the exact δ. Beside it stand the standard deviation of
the least noise if nobody knows a coin, of normal noise that one trusted curator would add, and of the same coins' noise
if each of two parties added its own.
"""

from __future__ import annotations

import math
import sys
from functools import partial
from time import perf_counter

from mixbayes.privacy.checking import tosses
from mixbayes.privacy.choosing import coins_alone, coins_for, normal_deviation
from mixbayes.privacy.coins import Coins
from mixbayes.privacy.loss import Release, delta_of

USUAL = (0.5, 1.0, 2.0, 4.0, 8.0)
DELTA = 1e-6
COORDINATES = 14
NUMBERS = 106


def main(epsilons: tuple[float, ...] = USUAL) -> None:
    print(
        f"{'ε':>5} {'coins':40} {'a number':>8} {'known':>5} {'tossed':>7} {'s':>6} {'σ':>6} {'δ':>8} {'least σ':>8} "
        f"{'normal σ':>9} {'own noise each, σ':>18}"
    )
    for epsilon in epsilons:
        start = perf_counter()
        coins = coins_for(epsilon, DELTA, COORDINATES, NUMBERS)
        seconds = perf_counter() - start
        delta = delta_of([Release(coins, COORDINATES, NUMBERS)], epsilon)
        least = coins_alone(partial(is_enough, epsilon)).deviation
        normal = normal_deviation(epsilon, DELTA, math.sqrt(COORDINATES))
        weights = ", ".join(f"{count} × {1 << place}" for place, count in enumerate(coins.counts) if count)
        figures = f"{sum(coins.counts):8} {coins.known:5} {tosses(coins, NUMBERS):7} {seconds:6.3f}"
        deviations = f"{least:8.2f} {normal:9.2f} {math.sqrt(2) * coins.deviation:18.2f}"
        print(f"{epsilon:5g} {weights:40} {figures} {coins.deviation:6.2f} {delta:8.2e} {deviations}")


def is_enough(epsilon: float, coins: Coins) -> bool:
    """If nobody knows a coin."""
    return delta_of([Release(coins, COORDINATES)], epsilon) <= DELTA


if __name__ == "__main__":
    main(tuple(map(float, sys.argv[1:])) or USUAL)
