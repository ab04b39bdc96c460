"""Noise and choices that one machine draws by itself, exactly: from random bits, with integers alone.

`random.SystemRandom` draws from the operating system. `random.Random` with a seed draws the same again: whoever knows
the seed can take the noise off.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from random import Random

import numpy as np
from numpy.typing import NDArray

from mixbayes.privacy.coins import Coins

WORD = 64
AT_ONCE = 1 << 20
"""How many words of random bits are in memory at a time."""


def draw_noise(coins: Coins, count: int, source: Random) -> NDArray[np.int64]:
    """So many independent sums of the coins, each less half of all weights."""
    noise = np.full(count, -coins.bound, np.int64)
    for place, heads in enumerate(coins.counts):
        if heads:
            noise += _heads(heads, count, source) << place
    return noise


def _heads(coins: int, count: int, source: Random) -> NDArray[np.int64]:
    """How many of so many fair coins show heads, each time anew."""
    words = -(-coins // WORD)
    found = np.empty(count, np.int64)
    step = max(1, AT_ONCE // words)
    for start in range(0, count, step):
        part = found[start : start + step]
        bits = np.frombuffer(source.randbytes(8 * words * len(part)), "<u8").reshape(len(part), words).copy()
        bits[:, -1] &= np.uint64((1 << (coins - WORD * (words - 1))) - 1)
        part[:] = np.bitwise_count(bits).sum(axis=1, dtype=np.int64)
    return found


def draw_choice(scores: Sequence[int], epsilon: Fraction, source: Random) -> int:
    """The exponential mechanism: the place of a score, each with a probability in proportion to exp(ε · score/2).

    A place is drawn uniformly, and taken with the probability exp(-ε · (highest - score)/2), or else another is drawn.
    """
    highest = max(scores)
    while True:
        place = source.randrange(len(scores))
        if _falls(epsilon * (highest - scores[place]) / 2, source):
            return place


def _falls(exponent: Fraction, source: Random) -> bool:
    """True with the probability exp(-exponent): Canonne, Kamath and Steinke 2020, Algorithm 1."""
    whole = exponent.__floor__()
    return all(_falls_below_one(Fraction(1), source) for _ in range(whole)) and _falls_below_one(
        exponent - whole, source
    )


def _falls_below_one(exponent: Fraction, source: Random) -> bool:
    turns = 1
    while source.randrange(exponent.denominator * turns) < exponent.numerator:
        turns += 1
    return turns % 2 == 1
