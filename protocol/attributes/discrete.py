"""Attributes with a finite list of values: counts by value and class, one logarithm of a fraction for each.

With smoothing α = p/q, P(v | c) = (n_vc + α) / (n_c + α·V), where n_c counts the patients of class c with a value. The
arguments of the logarithms are the integers q·n_vc + p and q·n_c + p·V; log2 q cancels.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.asking import OneOf
from mixbayes.protocol.attributes.kind import Integers, Kind, Learned, Positive, Reach
from mixbayes.protocol.attributes.totals import occurrences
from mixbayes.protocol.circuits.logarithm import ERROR


class Discrete(Kind):
    """The block has a row for every value, and a last one for "missing", which gives no class an advantage."""

    exact: ClassVar[bool] = True

    @property
    @abstractmethod
    def size(self) -> int:
        """How many values it has, not counting the missing one."""

    @property
    def codes(self) -> int:
        return self.size + 1

    @property
    def rows(self) -> int:
        return self.size + 1

    def count(self, block: Words, codes: Values, labels: Integers, times: Integers | None = None) -> None:
        cells = codes[0].astype(np.int64) * block.shape[1] + labels
        block += occurrences(cells, block.size, times).reshape(block.shape)

    def counters(self, block: Words) -> Words:
        return block.reshape(len(block), -1)

    def surplus(self, block: Words, of_class: Words) -> Words:
        """Values and missing cells add up to n_c, in every class."""
        return block.sum(axis=1, dtype=np.uint64) - of_class

    @property
    def touched(self) -> int:
        """The cell of the patient's value. Missing cells are not used, so they need no noise."""
        return 1

    @property
    def units(self) -> Sequence[int]:
        return [0] * self.size

    def blurred(self, block: Words, noise: Words) -> Words:
        return np.append(block[:-1] + noise, np.zeros_like(block[-1:]), axis=0)

    @classmethod
    def clamped(cls, blocks: Sequence[Words], positive: Positive, one: int, spread: int) -> list[Words]:
        """No cell is negative. The denominators are sums of the clamped cells, so that probabilities add up to one."""
        return np.split(positive(np.concatenate(blocks)), np.cumsum([len(block) for block in blocks])[:-1])

    def reach(self, smoothing: Fraction, rows: int, noise: int) -> Reach:
        p, q = smoothing.numerator, smoothing.denominator
        largest = q * (rows + self.size * noise) + p * self.size
        return Reach(largest, Fraction(largest, p), self.size, 2 * ERROR)

    def log_arguments(self, block: Words, smoothing: Fraction, one: int) -> Words:
        """Numerators value by value, then the denominators."""
        counts = block[:-1] * np.uint64(smoothing.denominator) + np.uint64(smoothing.numerator * one)
        return np.concatenate([counts.reshape(-1), counts.sum(axis=0, dtype=np.uint64)])

    @classmethod
    def fixed_tables(cls, learned: Sequence[Learned]) -> list[Words]:
        return [_table(one.logs, one.block.shape[1]) for one in learned]

    @property
    def asking(self) -> OneOf:
        return OneOf(self.size + 1)

    def real_scores(self, block: Words, codes: Values, smoothing: float) -> NDArray[np.float64]:
        cells = block[:-1] + smoothing
        table = np.append(np.log2(cells / cells.sum(axis=0)), np.zeros((1, block.shape[1])), axis=0)
        return table[codes[0]].T


def _table(logs: Words, classes: int) -> Words:
    """(V + 1, K): log numerators less log denominators; the last row, "missing", is zero."""
    cells = logs.reshape(-1, classes)
    return np.append(cells[:-1] - cells[-1], np.zeros((1, classes), np.uint64), axis=0)
