"""Are these the moments of anything? Count n, sum S1 and sum of squares S2 of values in [0, 2^f].

They are those of a distribution over [0, 2^f] exactly if S2 ≤ 2^f S1 and S1² ≤ n·S2: the variance is neither below
zero nor above what the bounds allow. S1 ≤ 2^f n follows. S2 = low + 2^f high travels as two sums. Low halves are below
2^f, so low ≤ (2^f − 1) n; high ≤ 2^f n follows. Whole numbers have a few moments fewer (S1 and S2 are both even or both
odd); that is not checked.

The inequalities are between integers. The ring of each is as wide as the numbers can be if the ranges and the
inequalities before it hold, so then it is exact. If one of those fails, the contribution is refused for that, and what
a later comparison says does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mixbayes.protocol.arrays import Bits, Words, mask
from mixbayes.protocol.attributes.gaussian_moments import NUMERIC_BITS
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.circuits.bounded import Cut, cut, excess, lifted, times
from mixbayes.protocol.circuits.comparison import less, negative
from mixbayes.protocol.computing_party import ComputingParty


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bits that moments of at most so many rows need; `precision.py` refuses dictionaries of more than 2^38 rows."""

    rows: int

    @property
    def count(self) -> int:
        return self.rows.bit_length()

    @property
    def sum(self) -> int:
        """Of S1 and of the sums of low and of high halves, none above 2^f n."""
        return self.count + NUMERIC_BITS

    @property
    def square(self) -> int:
        """Of 2^f S1 − low − 2^f high, with its sign."""
        return self.sum + NUMERIC_BITS + 2

    @property
    def product(self) -> int:
        """Of n·S2 − S1², with its sign: S1² has twice the bits of S1, and so has n·S2 ≤ n·2^f S1."""
        return 2 * self.sum + 1


def moment_checks(me: ComputingParty, cells: Words, rows: int) -> Words:
    """Words (7, k) that A and B hold alike exactly where the cells (4, k) n, S1, low and high are possible moments."""
    sizes, counts, sums = Sizes(rows), cells[0], cells[1:].reshape(-1)
    n, of_sums = cut(me, counts, sizes.count), cut(me, sums, sizes.sum)
    ranges = [excess(me, counts, n), *excess(me, sums, of_sums).reshape(3, -1)]
    return np.stack([*ranges, *_inequalities(me, cells, n, of_sums, sizes)])


def _inequalities(me: ComputingParty, cells: Words, n: Cut, of_sums: Cut, sizes: Sizes) -> list[Words]:
    """Of each the XOR shares of its failure: alike where it holds."""
    s1, low, high = np.split(lifted(me, of_sums, sizes.product), 3, axis=-1)
    s2 = ring.add(low, ring.shifted(high, NUMERIC_BITS, sizes.product), sizes.product)
    failures = [
        _low_beyond(me, cells[0], cells[2], sizes.sum + 1),
        _squares_beyond(me, s1, s2, sizes),
        _variance_negative(me, n, s2, of_sums.first(n.low.size), s1, sizes.product),
    ]
    return [failure.astype(np.uint64) for failure in failures]


def _low_beyond(me: ComputingParty, n: Words, low: Words, width: int) -> Bits:
    """[(2^f − 1) n < low]."""
    most = (n << np.uint64(NUMERIC_BITS)) - n
    return negative(me, (most - low) & mask(width), width)


def _squares_beyond(me: ComputingParty, s1: Words, s2: Words, sizes: Sizes) -> Bits:
    """[2^f S1 < S2]."""
    most, s2 = (
        ring.low_bits(words, sizes.product, sizes.square)
        for words in (ring.shifted(s1, NUMERIC_BITS, sizes.product), s2)
    )
    return less(me, most, s2, sizes.square)


def _variance_negative(me: ComputingParty, n: Cut, s2: Words, s1_cut: Cut, s1: Words, width: int) -> Bits:
    """[n·S2 < S1²]."""
    return less(me, times(me, n, s2, width), times(me, s1_cut, s1, width), width)
