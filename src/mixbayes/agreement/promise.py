"""What the noise of an agreement promises to a patient, and what it costs to keep it over several rounds.

Everything is computed from the coins, exactly but for rounding to the safe side, whatever the agreement says of ε.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

from mixbayes.privacy.coins import Coins
from mixbayes.privacy.loss import TOLERANCE, Release, delta_of, epsilon_of
from mixbayes.protocol.attributes.layout import Layout

UNIT = "one row more or less in one hospital's table"
"""What the promise is about. A patient with rows in two hospitals counts twice."""
SHOWN_DIGITS = 4


def keeps(releases: Sequence[Release], epsilon: float, delta: float) -> bool:
    """Whether these together promise (ε, δ)."""
    return _delta(tuple(releases), epsilon) <= delta * (1 + TOLERANCE)


def cost(releases: Sequence[Release], delta: float, rounds: int = 1) -> float:
    """The ε of so many rounds together at this δ, each with these releases; it may be infinite."""
    return _epsilon(tuple(one.again(rounds) for one in releases), delta)


def release_of(coins: Coins, layout: Layout) -> Release:
    """What the noisy counts of one round give away of a patient."""
    return Release(coins, layout.coordinates, layout.noisy_numbers)


def rounded_up(number: float) -> float:
    """A few digits, for people to read and sign; not less than the number."""
    if not 0 < number < math.inf:
        return number
    unit = 10.0 ** (math.floor(math.log10(number)) + 1 - SHOWN_DIGITS)
    return max(number, float(f"{math.ceil(number / unit) * unit:.{SHOWN_DIGITS}g}"))


def noise_document(coins: Coins) -> Mapping[str, object]:
    """The noise on a cell as documents have it."""
    known = {"known": coins.known} if coins.known else {}
    return {"coins": list(coins.counts), **known, "standard_deviation": coins.deviation}


def coins_in_words(coins: Coins) -> str:
    """As in `6 coins of weight 1, 20 of weight 2`."""
    parts = [f"{count} of weight {1 << place}" for place, count in enumerate(coins.counts) if count]
    return ", ".join(parts).replace(" of", " coins of", 1)


@lru_cache(maxsize=256)  # every node checks the same agreement many times
def _delta(releases: tuple[Release, ...], epsilon: float) -> float:
    return delta_of(releases, epsilon)


@lru_cache(maxsize=256)
def _epsilon(releases: tuple[Release, ...], delta: float) -> float:
    return epsilon_of(releases, delta)
