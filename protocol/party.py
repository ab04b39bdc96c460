"""One of the two computing parties, as every step below sees it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mixbayes.protocol.arrays import Bits, Words
from mixbayes.protocol.channel import Channel
from mixbayes.protocol.pool import PairPool
from mixbayes.protocol.randomness import Randomness

A, B = 0, 1


@dataclass(frozen=True, slots=True)
class Party:
    """A (role 0) or B (role 1): its channel to the other, its random transfers, its own randomness."""

    role: int
    channel: Channel
    pool: PairPool
    random: Randomness

    def constant(self, words: Words) -> Words:
        """This party's share of public words: A holds them, B holds zeros."""
        return words if self.role == A else np.zeros_like(words)

    def negate(self, bits: Bits) -> Bits:
        """Its share of the complement."""
        return bits ^ np.uint8(self.role == A)
