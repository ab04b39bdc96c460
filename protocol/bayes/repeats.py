"""Rows that a hospital asks about twice, at places that nobody else knows: a check of what the mixers answer.

In a private question a mixer cannot tell the rows apart, and so it does not know which of them are copies. If it makes
some of the answers wrong, a row and its copy get different answers unless both are wrong or neither is. If n rows
contain k copies, a lie about one row is noticed with probability 2k/n. A lie that makes every second answer wrong
escapes with probability 2^-k.

This does not detect a lie that does the same to a row and to its copy: another model, flipping every answer of two
classes, or a class that never wins. If the rows are shown to the mixers, the mixers see the copies, and only mistakes
are detected.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Values
from mixbayes.protocol.bayes import label
from mixbayes.protocol.bayes.label import Labels
from mixbayes.protocol.errors import OutOfRange
from mixbayes.protocol.randomness import Randomness

_REMEDY = "Use no label of this question, and ask neither of them again until it is known what went wrong"


@dataclass(frozen=True, slots=True, repr=False)
class Repeated:
    """The rows in the order in which they are asked about."""

    codes: Values
    """(columns, n), the copies among them."""
    places: NDArray[np.intp]
    """Which row of the hospital each of them is."""

    def labels(self, answers: Labels, senders: str) -> Labels:
        """The answers in the order of the hospital's rows, if every row and its copies have the same one."""
        found = np.empty(int(self.places.max(initial=-1)) + 1, np.int64)
        found[self.places] = answers
        if (found[self.places] != answers).any():
            raise OutOfRange(senders, label.STEP, "a row that was asked about twice got two different answers", _REMEDY)
        return found


def as_they_are(codes: Values) -> Repeated:
    """These rows in their order, without any copy."""
    return Repeated(codes, np.arange(codes.shape[1]))


def with_repeats(codes: Values, repeats: int, random: Randomness) -> Repeated:
    """These rows, and so many copies of some of them, in an order that nobody can guess."""
    count = codes.shape[1]
    copies = np.resize(_shuffled(count, random), repeats)
    places = np.concatenate([np.arange(count), copies])[_shuffled(count + repeats, random)]
    return Repeated(codes[:, places], places)


def _shuffled(count: int, random: Randomness) -> NDArray[np.intp]:
    """The numbers below `count` in a random order."""
    return np.argsort(random.words(count), kind="stable")
