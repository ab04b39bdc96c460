"""Are these the moments of anything? Count n, sum S1 and sum of squares S2 of values in [0, 2^f].

Some rows have such real values exactly if S1 ≤ 2^f n, S2 ≤ 2^f S1 and n·S2 ≥ S1² (no value lies outside the bounds; the
variance is not negative). S2 = low + 2^f high travels as two sums. The inequalities are on integers, and each is exact
if the ranges hold and those before it: the ring is wide enough for what these leave possible. Where one of them fails,
what is computed after it means nothing, and does not matter: the contribution is refused for the first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mixbayes.protocol import ring
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.bounded import cut, excess, lifted, times
from mixbayes.protocol.comparison import negative
from mixbayes.protocol.layout import NUMERIC_BITS
from mixbayes.protocol.party import Party


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bits that moments of at most so many rows need. `precision.py` refuses dictionaries that need too many."""

    rows: int

    @property
    def count(self) -> int:
        return self.rows.bit_length()

    @property
    def moment(self) -> int:
        """Of S1, and of the sums of low and of high halves: at most 2^f n each."""
        return self.count + NUMERIC_BITS

    @property
    def square(self) -> int:
        """Of 2^f S1 − low − 2^f high and its sign."""
        return self.moment + NUMERIC_BITS + 2

    @property
    def product(self) -> int:
        """Of n·S2 − S1² and its sign: neither exceeds 2^2f n² once the inequalities before hold."""
        return 2 * self.moment + 1


def moment_checks(me: Party, cells: Words, rows: int) -> Words:
    """Words (7, n) that A and B hold alike exactly if the cells (4, n) are moments: n, S1, low and high halves of S2."""
    sizes = Sizes(rows)
    count, sums = cells[0], cells[1:].reshape(-1)
    n, s1_low_high = cut(me, count, sizes.count), cut(me, sums, sizes.moment)
    ranges = [excess(me, count, n), *excess(me, sums, s1_low_high).reshape(3, -1)]
    first = _first(s1_low_high, count.size)
    s1, low, high = np.split(lifted(me, s1_low_high, sizes.product), 3, axis=-1)
    s2 = ring.add(low, ring.shifted(high, NUMERIC_BITS, sizes.product), sizes.product)
