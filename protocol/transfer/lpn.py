"""The sizes of one iteration of silent transfers: a problem of learning parity with noise (LPN).

The assumption: A·s ⊕ e looks random to whoever knows A and not s and e. A is a public matrix of n rows and k columns
with a few ones in every row, s has k random bits, and e is regular noise: n bits in t bins of equal size, with a single
one at a random place in each bin. docs/transfers.md says what the best attacks cost, those too that use that rows have
few ones, and benchmarks/lpn.py computes it.
"""

from __future__ import annotations

from dataclasses import dataclass

from mixbayes.protocol.transfer.extension import UNIT
from mixbayes.protocol.transfer.field import BITS


@dataclass(frozen=True, slots=True)
class LpnSizes:
    """What an iteration takes and makes, in transfers."""

    secret: int
    """k, the transfers from which all outputs are combined. At most 2^16."""
    trees: int
    """t, the trees, one for each bin of the noise."""
    depth: int
    """The levels of a tree: it has 2^depth leaves, and so many outputs."""
    weight: int = 10
    """The ones in a row of the matrix (Yang et al. take 10)."""

    @property
    def outputs(self) -> int:
        """n, the transfers made."""
        return self.trees << self.depth

    @property
    def levels(self) -> int:
        """The transfers that open the trees, one for each tree and level."""
        return self.trees * self.depth

    @property
    def taken(self) -> int:
        """The transfers that the iteration needs: the secret, those that open the trees, and those of the check."""
        return self.secret + self.levels + BITS

    @property
    def gained(self) -> int:
        """The transfers that are handed out, in whole units. The next iteration takes as many as this one took."""
        return (self.outputs - self.taken) // UNIT * UNIT

    def __str__(self) -> str:
        return f"LPN n={self.outputs} k={self.secret} t={self.trees} d={self.weight}"


USUAL = LpnSizes(secret=61_440, trees=1024, depth=9)
"""Every attack that is known to us takes more than 2^128 operations, with a margin (benchmarks/lpn.py)."""
