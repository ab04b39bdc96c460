"""The coins that are chosen for the usual ε: python benchmarks/coins.py [EPSILON...]

For δ = 1e-6 and a row that touches 14 coordinates. Prints the coins of every weight, how many a cell takes, their
standard deviation and their exact δ. Beside it stand the standard deviation of normal noise that one trusted curator
would add, and of the same coins' noise if each of two parties added its own.
"""

from __future__ import annotations

import math
import sys

from mixbayes.privacy.choosing import coins_for, normal_deviation
from mixbayes.privacy.loss import Release, delta_of

USUAL = (0.5, 1.0, 2.0, 4.0, 8.0)
DELTA = 1e-6
COORDINATES = 14


def main(epsilons: tuple[float, ...] = USUAL) -> None:
    print(f"{'ε':>5} {'coins':30} {'a cell':>6} {'σ':>6} {'δ':>8} {'normal σ':>9} {'own noise each, σ':>18}")
    for epsilon in epsilons:
        coins = coins_for(epsilon, DELTA, COORDINATES)
        delta = delta_of([Release(coins, COORDINATES)], epsilon)
        normal = normal_deviation(epsilon, DELTA, math.sqrt(COORDINATES))
        weights = ", ".join(f"{count} × {1 << place}" for place, count in enumerate(coins.counts) if count)
        figures = f"{sum(coins.counts):6} {coins.deviation:6.2f} {delta:8.2e} {normal:9.2f}"
        print(f"{epsilon:5g} {weights:30} {figures} {math.sqrt(2) * coins.deviation:18.2f}")


if __name__ == "__main__":
    main(tuple(map(float, sys.argv[1:])) or USUAL)
