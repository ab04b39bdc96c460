"""A prior that everybody knows: given probabilities of the classes, in place of those from the counts.

On shares it is a constant, which party A adds. It is not part of a recipe's text; whoever trains gives it separately.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.bayes.recipe import Recipe, log2_in_integers
from mixbayes.protocol.circuits.logarithm import FRACTION
from mixbayes.protocol.errors import Unsupported


@dataclass(frozen=True)
class PublicPrior:
    """Probabilities as fractions, so that every machine comes to the same logarithms."""

    shares: tuple[Fraction, ...]
    """In the order of the dictionary's classes."""

    @classmethod
    def of(cls, numbers: Sequence[Fraction | float]) -> Self:
        """The prior in proportion to these numbers, each exactly as it is."""
        exact = [Fraction(number) for number in numbers]
        if min(exact) < 0 or not any(exact):
            raise Unsupported("A public prior has no negative probability, and not only zeros.")
        total = sum(exact)
        return cls(tuple(number / total for number in exact))

    @property
    def impossible(self) -> NDArray[np.bool_]:
        """The classes that never win."""
        return np.array([share == 0 for share in self.shares])

    @property
    def logs(self) -> Words:
        """log2 with `FRACTION` fraction bits, modulo 2^64; 0 for what is impossible."""
        found = [log2_in_integers(share or Fraction(1), FRACTION) for share in self.shares]
        return np.array([log % (1 << 64) for log in found], np.uint64)

    @property
    def fall(self) -> int:
        """Bits by which a possible class may start below a certain one."""
        return int(1 / min(share for share in self.shares if share)).bit_length()


def with_prior(recipe: Recipe, public: PublicPrior | None) -> Recipe:
    """The recipe, without a prior of its own where there is a public one."""
    return recipe if public is None else replace(recipe, prior="mixed")
