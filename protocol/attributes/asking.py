"""How an attribute's value becomes words of its table: one of them, or a sum of several.

A table (words, classes) holds a share of θ[·, c] − θ[·, 0] for every class c but the first. A value selects the words
that are added up. If the hospital shows its rows, each computing party adds up the words of its own share. In a private
question only the hospital knows which words are selected (`bayes/question.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mixbayes.protocol.arrays import Bits, Values, Words


class Asking(ABC):
    """A way of asking about one attribute."""

    words: int
    """Rows of the attribute's table."""

    @property
    def named_words(self) -> int:
        """Rows of the table that a value can name. Further rows are zero, and nobody asks for them."""
        return self.words

    @abstractmethod
    def named(self, codes: Values) -> Values:
        """(few, n): the words that these codes (columns, n) name, each once; `named_words` where there is no more."""

    @abstractmethod
    def add_scores(self, total: Words, table: Words, codes: Values) -> None:
        """Add this party's share of the named words to its total (classes, n), for codes that it knows."""


@dataclass(frozen=True)
class OneOf(Asking):
    """The code is the number of the word. The last word is that of a missing cell, and zero."""

    words: int

    @property
    def named_words(self) -> int:
        return self.words - 1

    def named(self, codes: Values) -> Values:
        return codes[:1]

    def add_scores(self, total: Words, table: Words, codes: Values) -> None:
        for later in range(len(total)):
            total[later] += table[:, later].take(codes[0])


@dataclass(frozen=True)
class SumOf(Asking):
    """A sum over binary features of which many may be set."""

    words: int
    features: Callable[[Values], Bits]
    """(words, n), from codes (columns, n)."""

    def named(self, codes: Values) -> Values:
        words = np.arange(self.words, dtype=np.int32)[:, None]
        return np.where(self.features(codes), words, np.int32(self.words))

    def add_scores(self, total: Words, table: Words, codes: Values) -> None:
        total += table.T @ self.features(codes).astype(np.uint64)


@dataclass(frozen=True)
class SumOfFew(Asking):
    """A sum over many features of which few are set."""

    words: int
    few: Callable[[Values], Values]
    """(few, n), from codes: the positions of those that are set, each once, and `words` where there is no more."""

    def named(self, codes: Values) -> Values:
        return self.few(codes)

    def add_scores(self, total: Words, table: Words, codes: Values) -> None:
        named = self.named(codes)
        for later, words in enumerate(np.append(table, np.zeros_like(table[:1]), axis=0).T):
            for features in named:
                total[later] += words.take(features)
