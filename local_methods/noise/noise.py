"""What additive and multiplicative noise share: confidential numbers are changed at random.

Noise promises nothing about people. It is centred on the true number, so the mean of several releases comes close to
it. If columns are correlated, independent noise can be filtered out of even one release: the noise is spread over all
directions of the table, and the data are not (Kargupta and others, 2003). This filter does not work if the noise is
correlated like the data, but the mean of several releases still does. A number far from all others stays far from them,
and so does its row. The check is only that no number is the original one.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from mixbayes.local_methods.base import KEEPING_CONSTRAINTS, LocalMethod, Released, Work
from mixbayes.local_methods.condensation.synthesis import FINEST, normal
from mixbayes.local_methods.confidential import confidential_columns
from mixbayes.local_methods.errors import UnfitTable
from mixbayes.local_methods.guarantee import Guarantee
from mixbayes.local_methods.tables import Floats, Mask

NOISE_CONSTRAINTS: Mapping[str, Any] = {
    **KEEPING_CONSTRAINTS,
    "confidential": [list, tuple, None],
}


class Noise(LocalMethod):
    """Changes every confidential number at random, and releases everything else unchanged.

    A subclass says how, and which numbers its noise does not change.
    """

    LEARNED: ClassVar[tuple[str, ...]] = ("unchanged_cells",)

    scale: float
    confidential: Sequence[str] | None

    @abstractmethod
    def _noisy(self, numbers: Floats, random: np.random.Generator) -> Floats:
        """The numbers with noise; a missing one stays missing."""

    @abstractmethod
    def _unchangeable(self, numbers: Floats) -> Mask:
        """Which numbers the noise leaves as they are."""

    @abstractmethod
    def _claim(self, names: Sequence[str]) -> str:
        """What was done to the columns of these names."""

    def _release(self, work: Work) -> Released:
        at = confidential_columns(work.table, self.confidential)
        numbers = work.table.numbers(at)
        with np.errstate(over="ignore"):
            noisy = self._noisy(numbers, work.random)
        if np.isinf(noisy).any():
            too_large = work.table.names[at[int(np.isinf(noisy).any(axis=0).argmax())]]
            raise UnfitTable(f"Column {too_large!r} with noise exceeds the largest number. Divide it by a thousand.")
        self.unchanged_cells_ = int(self._unchangeable(numbers).sum())
        return Released(work.table.with_numbers(noisy, at), work.labels)

    def _guarantee(self, work: Work, released: Released) -> Guarantee:
        at = confidential_columns(released.table, self.confidential)
        before, after = work.table.numbers(at), released.table.numbers(at)
        kept = (before == after) & ~self._unchangeable(before)
        return Guarantee(
            claim=self._claim([released.table.names[p] for p in at]),
            measured=float(kept.sum()),
            holds=not kept.any(),
            not_promised="anything about people: the mean of several releases comes close to the original, and who "
            "knows the seed has it",
        )


def nonzero_normal(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Standard normal numbers, none of them zero: halfway between the multiples that `normal` gives."""
    return normal(random, shape) + FINEST / 2
