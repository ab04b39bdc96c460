"""The cells that are missing because the user says so, besides the usual ones, and which of these no table had."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.attributes.cells import MISSING, Numbers, Texts, numbers
from mixbayes.tables.sources.how import How, Spelling


class Gaps:
    """What `how` says of a table's cells. It is the same for every source and command.

    A spelling that reads as a number means every cell that is the same number; any other means the cells with this
    text, but for blanks around it.
    """

    def __init__(self, how: How) -> None:
        self._said = how.spellings
        self._met: set[Spelling] = set()
        self._read: set[str] = set()

    def spellings(self, column: str) -> tuple[Spelling, ...]:
        """Those for every column, and those for this one."""
        self._read.add(column)
        return tuple(one for one in self._said if one.column in (None, column))

    def numbers(self, column: str) -> list[list[float]]:
        """The numbers that mean a missing cell of this column: each that is for it alone, then those for all."""
        return [[one.number for one in group if one.number is not None] for group in self._groups(column)]

    def emptied(self, column: str, texts: Texts, counts: NDArray[np.int64] | None = None) -> Texts:
        """These different cells, each `counts` times; empty where they are missing."""
        said = self.spellings(column)
        if not said or not texts.size:
            return texts
        bare = np.char.strip(texts)
        values = numbers(texts) if any(one.number is not None for one in said) else np.empty(0)
        gaps = np.zeros(texts.size, np.bool_)
        for one in said:
            found = bare == one.text if one.number is None else values == one.number
            self._note(one, found if counts is None else found & (counts > 0))
            gaps |= found
        return np.where(gaps, "", texts)

    def without(self, column: str, values: Numbers) -> Numbers:
        """These cells, which are all numbers; not-a-number where they are missing."""
        gaps = np.zeros(values.size, np.bool_)
        for one in self.spellings(column):
            found = values == one.number
            self._note(one, found)
            gaps |= found
        return np.where(gaps, np.nan, values) if gaps.any() else values

    def note(self, column: str, met: Sequence[bool]) -> None:
        """Remember which lists of this column's `numbers` have one that any of its cells is."""
        for group, found in zip(self._groups(column), met, strict=True):
            self._met.update(group if found else ())

    def _groups(self, column: str) -> list[list[Spelling]]:
        said = [one for one in self.spellings(column) if one.number is not None]
        general = [one for one in said if one.column is None]
        return [*([one] for one in said if one.column is not None), *([general] if general else [])]

    def unmet(self) -> Iterator[str]:
        """Spellings that no cell had of the columns that were read.

        Those for every column are a usual list of words, of which one that occurs is enough, unless one has a comma:
        that may have been meant to stand between two.
        """
        for one in self._said:
            if one.column in self._read and one not in self._met and one.text not in MISSING:
                yield f"no cell of column {one.column!r} says {one.text!r}, which --missing names"
        general = [one for one in self._said if one.column is None and one.text not in MISSING]
        usual = not self._met.isdisjoint(general)
        absent = [one.text for one in general if one not in self._met and ("," in one.text or not usual)]
        if absent and self._read:
            yield f"no cell says {_either(absent)}, which --missing names"

    def _note(self, one: Spelling, found: NDArray[np.bool_]) -> None:
        if one not in self._met and found.any():
            self._met.add(one)


def _either(texts: Sequence[str]) -> str:
    return " or ".join(map(repr, texts))
