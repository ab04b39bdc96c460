"""stand-in until the accounting is merged"""

from __future__ import annotations

from mixbayes.privacy.coins import Coins

TIMES = 4
FEWEST = 1 << 14


def tosses(coins: Coins, numbers: int) -> int:
    """How many coins are tossed."""
    return max(TIMES * sum(coins.counts) * numbers, FEWEST)
