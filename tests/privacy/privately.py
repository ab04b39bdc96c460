"""The same in another way: coins that the constructor refuses, and δ by going through every outcome."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import product
from math import exp, prod

import numpy as np

from mixbayes.privacy.coins import Coins


def any_coins(*counts: int) -> Coins:
    """Also with no coin of weight one, or an odd number."""
    coins = object.__new__(Coins)
    object.__setattr__(coins, "counts", counts)
    return coins


def law(coins: Coins) -> dict[int, float]:
    """By the outcomes of every single coin."""
    half = sum(coins.weights) // 2
    found: dict[int, float] = {}
    for heads in product((0, 1), repeat=len(coins.weights)):
        value = sum(weight for weight, head in zip(coins.weights, heads, strict=True) if head) - half
        found[value] = found.get(value, 0.0) + 0.5 ** len(heads)
    return found


def delta_by_enumeration(coordinates: Sequence[Coins], epsilon: float) -> float:
    """Of vectors with a coordinate for each of these, all of them moved by one."""
    laws = [law(coins) for coins in coordinates]
    outcomes = product(*({*one, *(value + 1 for value in one)} for one in laws))
    return sum(
        max(0.0, _mass(laws, [value - 1 for value in outcome]) - exp(epsilon) * _mass(laws, outcome))
        for outcome in outcomes
    )


def _mass(laws: Sequence[dict[int, float]], outcome: Sequence[int]) -> float:
    return prod(one.get(value, 0.0) for one, value in zip(laws, outcome, strict=True))


def hockey_stick(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    return float(np.maximum(0, p - exp(epsilon) * q).sum())


def convolved(laws: Sequence[np.ndarray]) -> np.ndarray:
    return reduce(np.convolve, laws)
