"""The two ways of asking about an attribute privately: choose one entry of its table, or sum the words of features.

In both the hospital is the receiver of random transfers (OT) with a mixer, which is the sender. The mixer's table holds
its share of θ[·, c] − θ[·, 0] for every later class c. The hospital learns the entry, or the sum, plus ρ. The mixer
draws ρ anew for every row, attribute and class, and learns nothing of the choice.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mixbayes.protocol.arrays import Bits, Values, Words
from mixbayes.protocol.circuits import ring
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.pads import FixedKeyHash, all_masks, chosen_masks, pad_words


@dataclass(frozen=True, slots=True, repr=False)
class Received:
    """The receiver's part of the transfers for one attribute of n rows."""

    hashing: FixedKeyHash
    choices: Bits
    """(transfers, n): the random choices."""
    flips: Bits
    """(transfers, n): what was announced, the wanted bits under the random choices."""
    pads: Words
    """(transfers · n, 2)."""


@dataclass(frozen=True, slots=True, repr=False)
class Sent:
    """The sender's part."""

    hashing: FixedKeyHash
    flips: Bits
    pads: Words
    """(2, transfers · n, 2)."""


class Asking(ABC):
    """A way of asking. `words` is the number of words that a mixer sends for each row and later class."""

    words: int

    @property
    @abstractmethod
    def transfers(self) -> int:
        """Random transfers for each row."""

    @abstractmethod
    def wanted(self, codes: Values) -> Bits:
        """(transfers, n): the bits by which the hospital chooses, from its codes (columns, n)."""

    @abstractmethod
    def take(self, received: Received, codes: Values, classes: int, offered: Callable[[], Words]) -> Words:
        """The hospital's entries or sums plus ρ, (classes, n), out of what the mixer offers (words, classes, n).

        The masks do not depend on the offer, so they are made before the hospital waits for it.
        """

    @abstractmethod
    def offer(self, sent: Sent, table: Words, random: Randomness) -> tuple[Words, Words]:
        """The mixer's offer (words, classes, n) of its table (words, classes), and ρ (classes, n)."""

    @abstractmethod
    def add_scores(self, total: Words, table: Words, codes: Values) -> None:
        """Add this party's share of the entries or sums to its total (classes, n), for codes that it knows."""


@dataclass(frozen=True)
class OneOf(Asking):
    """1-of-N OT: one entry of the table, which the code names."""

    words: int

    @property
    def transfers(self) -> int:
        return (self.words - 1).bit_length()

    def wanted(self, codes: Values) -> Bits:
        return ring.bits(codes[0].astype(np.uint64), self.transfers)

    def take(self, received: Received, codes: Values, classes: int, offered: Callable[[], Words]) -> Words:
        rows = codes.shape[1]
        index = codes[0].astype(np.intp)
        pads = received.pads.reshape(self.transfers, rows, 2)
        masks = chosen_masks(received.hashing, pads, index.astype(np.uint64), classes)
        return offered()[index, :, np.arange(rows)].T - masks.T

    def offer(self, sent: Sent, table: Words, random: Randomness) -> tuple[Words, Words]:
        """Every entry plus ρ, each under a mask of its own."""
        rho = random.words(table.shape[1], sent.flips.shape[1])
        masks = all_masks(sent.hashing, sent.pads.reshape(2, *sent.flips.shape, 2), sent.flips, *table.shape)
        return table[:, :, None] + rho[None] + masks.transpose(0, 2, 1), rho

    def add_scores(self, total: Words, table: Words, codes: Values) -> None:
        for later in range(len(total)):
            total[later] += table[:, later].take(codes[0])


class Sum(Asking):
    """A correlated OT for each binary feature: the feature times its word, summed over the features."""

    @abstractmethod
    def bits(self, codes: Values) -> Bits:
        """(words, n): the features, from codes (columns, n)."""

    @property
    def transfers(self) -> int:
        return self.words

    def wanted(self, codes: Values) -> Bits:
        return self.bits(codes)

    def take(self, received: Received, codes: Values, classes: int, offered: Callable[[], Words]) -> Words:
        pads = pad_words(received.hashing, received.pads, classes)
        words, total = offered(), np.empty((classes, codes.shape[1]), np.uint64)
        for later, pad in enumerate(pads):
            chosen = pad.reshape(received.flips.shape) + received.choices * words[:, later]
            total[later] = ring.signed(received.flips, chosen, ring.WORD).sum(axis=0, dtype=np.uint64)
        return total

    def offer(self, sent: Sent, table: Words, random: Randomness) -> tuple[Words, Words]:
        """Every feature's word less the difference of its pads, and ρ, which is made of the pads.

        This is one direction of `products.cross`. p_0 is fresh for every row, feature and class.
        """
        classes, shape = table.shape[1], sent.flips.shape
        zeros, ones = (pad_words(sent.hashing, pad, classes).reshape(classes, *shape) for pad in sent.pads)
        offered = np.empty((self.words, classes, shape[1]), np.uint64)
        rho = np.empty((classes, shape[1]), np.uint64)
        for later in range(classes):
            word = table[:, later, None]
            offered[:, later] = word - ones[later] + zeros[later]
            kept = ring.signed(sent.flips, zeros[later], ring.WORD) - sent.flips * word
            rho[later] = kept.sum(axis=0, dtype=np.uint64)
        return offered, rho


@dataclass(frozen=True)
class SumOf(Sum):
    """A sum over features of which most may be set."""

    words: int
    features: Callable[[Values], Bits]
    """(words, n), from codes (columns, n)."""

    def bits(self, codes: Values) -> Bits:
        return self.features(codes)

    def add_scores(self, total: Words, table: Words, codes: Values) -> None:
        total += table.T @ self.features(codes).astype(np.uint64)


@dataclass(frozen=True)
class SumOfFew(Sum):
    """A sum over many features of which few are set."""

    words: int
    named: Callable[[Values], Values]
    """(few, n), from codes: the positions of those that are set, each once, and `words` where there is no more."""

    def bits(self, codes: Values) -> Bits:
        bits = np.zeros((self.words + 1, codes.shape[1]), np.uint8)
        bits[self.named(codes), np.arange(codes.shape[1])] = 1
        return bits[:-1]

    def add_scores(self, total: Words, table: Words, codes: Values) -> None:
        named = self.named(codes)
        for later, words in enumerate(np.append(table, np.zeros_like(table[:1]), axis=0).T):
            for features in named:
                total[later] += words.take(features)
