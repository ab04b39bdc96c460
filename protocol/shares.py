"""Additive secret sharing of a hospital's contribution: its vector becomes a seed for A and a masked vector for B.

A's share is the expansion of the seed and B's share is the vector minus that, modulo 2^64. Their sum is the vector, and
each alone looks random. Shares are linear: the sum of all hospitals' shares is a share of the sum of all
vectors.
"""

from __future__ import annotations

from dataclasses import dataclass

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.randomness import Randomness

A, B = 0, 1
"""The roles of the two computing parties."""


@dataclass(frozen=True, slots=True, repr=False)
class Share:
    """Both shares of one vector, as they are sent."""

    seed: bytes
    masked: Words

    def for_a(self) -> Words:
        return expand(self.seed, self.masked.size)

    def for_b(self) -> Words:
        return self.masked


def split(vector: Words, seed: bytes) -> Share:
    """Share a vector. A seed must be used for one contribution only."""
    return Share(seed, vector - expand(seed, vector.size))


def expand(seed: bytes, size: int) -> Words:
    """A's share of `size` words: the seed of 32 bytes, expanded by AES-256 in counter mode."""
    return Randomness(seed).words(size)
