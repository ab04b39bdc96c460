"""How many coins are tossed, so that those that are not needed can be checked, and what a liar has left.

**The game** (cut and choose). Two computing parties toss M coins. A coin is a XOR b, of a bit of each, and has no
weight yet. When all are tossed, both draw a uniform permutation of them. The first N are kept: they are dealt, in that
order, to the k slots of every number, and a slot has a weight. All others are opened: each party is bound to its bit
and its additive share before it sees the other's, and x + y = a XOR b is checked. Once somebody may know the
permutation, nothing else is tossed for these numbers: a draw that breaks off goes on with what is stored.

**The liar.** One of the two may choose, as the sender of a transfer, what a coin becomes, and so know it. Call such a
coin bad, and let c be their number. Bad or not is settled before the permutation is drawn. A bad coin that is opened
passes with the probability 1/2 at most, whatever happens to the others: what the liar shows is right for one value of
the honest bit alone, and it is bound before that bit, which is uniform, is seen. So c bad coins escape more often than
if all that are opened were found. A bad coin that is kept adds what the liar chose for each value of the honest bit; we
give the liar that bit, so that it knows the coin.

**The bound.** For every c, with f = N/M, the probability that the liar is not caught and knows more than t coins of
some number is at most

    numbers · C(c, t+1) · C(k, t+1) / C(M, t+1) · (1 − p/2)^(c−t−1),  p = (M − N) / (M − t − 1) ≥ 1 − f.

*Proof.* If a number has more than t bad coins, some t + 1 of the c bad ones fall into it: there are `numbers` numbers,
and C(c, t+1) sets of that size. A given set falls into the k places of a given number with the probability C(k, t+1) /
C(M, t+1), which is at most (k/M)^(t+1). Given that, the other c − t − 1 bad coins lie anywhere on the other M − t − 1
places, of which M − N are opened. So the number X of opened bad coins is hypergeometric, and the liar passes with the
probability E[2^−X] at most. 2^−x is convex, so this is at most what it would be if the places were drawn with
replacement (Hoeffding 1963, Theorem 4), which is (1 − p/2)^(c−t−1). The sum over sets and numbers is the bound.

From c to c + 1 the bound grows by the factor r · (c + 1) / (c − t), r = 1 − p/2, which falls with c. So it is largest
at the first c where this is not above one. That is a handful: more bad coins are caught, fewer are too few.

**What a bad coin is worth.** Whoever knows at most t coins of every number knows nothing of which ones it will be: the
permutation is uniform, and whether the liar passes and how many bad coins each number has does not depend on their
order inside a number. So the known slots of a number are a uniform subset of its slots, independent from number to
number. `Losses.of` is computed for that, with t of them known in every number; fewer are less.
"""

from __future__ import annotations

import math
from fractions import Fraction

from mixbayes.privacy.coins import Coins

TIMES = 2
"""Coins are tossed for each that is kept. With half of them opened, a liar's bad coin passes three times of four."""
FEWEST = 1 << 15
"""Coins are tossed at the least: to hit one of a few numbers must stay as improbable as to hit one of many."""


def tosses(coins: Coins, numbers: int) -> int:
    """How many coins are tossed for noise on so many numbers."""
    return max(TIMES * len(coins.weights) * numbers, FEWEST)


def escaping(coins: Coins, numbers: int) -> float:
    """No liar knows more coins of some number than `coins.known`, uncaught, with a larger probability. Rounded up."""
    bound = escape_of_most(len(coins.weights), numbers, tosses(coins, numbers), coins.known)
    return min(1.0, math.nextafter(float(bound), math.inf))


def escape_of_most(slots: int, numbers: int, tossed: int, known: int) -> Fraction:
    """The bound for the number of bad coins with which it is largest."""
    passes = _passes(slots, numbers, tossed, known)
    most = max(known + 1, math.ceil((known + passes) / (1 - passes)))
    return escape_of(min(most, tossed), slots, numbers, tossed, known)


def escape_of(bad: int, slots: int, numbers: int, tossed: int, known: int) -> Fraction:
    """The bound for so many bad coins."""
    if bad <= known:
        return Fraction(0)
    sets = math.comb(bad, known + 1) * Fraction(math.comb(slots, known + 1), math.comb(tossed, known + 1))
    return numbers * sets * _passes(slots, numbers, tossed, known) ** (bad - known - 1)


def _passes(slots: int, numbers: int, tossed: int, known: int) -> Fraction:
    """How often one more bad coin is not found, kept or opened: r above."""
    return 1 - Fraction(tossed - slots * numbers, 2 * (tossed - known - 1))
