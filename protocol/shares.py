"""A hospital's contribution: its vector split into a seed for A and a masked vector for B."""

from __future__ import annotations

from dataclasses import dataclass

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.randomness import Randomness


@dataclass(frozen=True, slots=True, repr=False)
class Share:
    """Both halves of one vector, modulo 2^64. Together they are the vector; each alone is noise."""

    seed: bytes
    masked: Words

    def for_a(self) -> Words:
        return expand(self.seed, self.masked.size)

    def for_b(self) -> Words:
        return self.masked


def split(vector: Words, seed: bytes) -> Share:
    """A's share is the seed's expansion, B's is the rest. A seed serves one contribution."""
    return Share(seed, vector - expand(seed, vector.size))


def expand(seed: bytes, size: int) -> Words:
    """The words a seed of 32 bytes stands for, by AES-256 in counter mode."""
    return Randomness(seed).words(size)
