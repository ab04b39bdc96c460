"""Points of rows with numeric and nominal cells, in little memory.

A nominal cell contributes one of a few vectors to a point. Each vector is stored once, and each row only stores which
one it has. Whole points are computed for some rows at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mixbayes.local_methods.tables import Floats, Rows

Places = NDArray[np.uint8]

BLOCK = 1024
"""Points that are made at a time, so that they and their distances stay in the processor's cache."""

FEW_NUMBERS = 1 << 22
"""Points of so many coordinates in all are made at once, which saves time: 32 MiB."""


@dataclass(frozen=True, eq=False)
class Points:
    """Rows × coordinates: first those of numbers, then those of each list in turn."""

    numbers: Floats = field(repr=False)
    lists: Sequence[Floats] = field(default=(), repr=False)
    """For each nominal column, lines × coordinates."""
    places: Places = field(default_factory=lambda: np.empty((0, 0), np.uint8), repr=False)
    """Lists × rows: which line of the list a row has."""

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def parts(self) -> list[slice]:
        """The coordinates of the numbers, and those of each list."""
        ends = np.cumsum([0, self.numbers.shape[1], *(lines.shape[1] for lines in self.lists)]).tolist()
        return list(map(slice, ends[:-1], ends[1:]))

    @property
    def width(self) -> int:
        """How many coordinates a point has."""
        return self.parts[-1].stop

    def take(self, rows: Rows | slice) -> Points:
        """Only these points, by their positions or by a mask; made at once where they are few."""
        if not self.lists:
            return Points(self.numbers[rows])
        some = Points(self.numbers[rows], self.lists, self.places[:, rows])
        return Points(some.whole()) if len(some) * self.width <= FEW_NUMBERS else some

    def whole(self) -> Floats:
        """All coordinates of every point."""
        if not self.lists:
            return self.numbers
        made = np.empty((len(self), self.width))
        made[:, self.parts[0]] = self.numbers
        for part, lines, places in zip(self.parts[1:], self.lists, self.places, strict=True):
            made[:, part] = lines[places]
        return made

    def blocks(self) -> Iterator[tuple[slice, Floats]]:
        """All points, some rows at a time."""
        for start in range(0, len(self), BLOCK):
            rows = slice(start, start + BLOCK)
            yield rows, Points(self.numbers[rows], self.lists, self.places[:, rows]).whole()

    def changed(self, change: Callable[[Floats, slice], Floats]) -> Points:
        """Every coordinate changed by itself; `change` gets numbers, and which coordinates they are."""
        numbers, *lists = (change(part, at) for part, at in zip((self.numbers, *self.lists), self.parts, strict=True))
        return Points(numbers, lists, self.places)

    def largest(self) -> float:
        """The largest of all coordinates, without their signs."""
        listed = zip(self.lists, self.places, strict=True)
        had = [lines[np.bincount(places, minlength=len(lines)) > 0] for lines, places in listed]
        return float(max(max(part.max(initial=0), -part.min(initial=0)) for part in (self.numbers, *had)))

    def sums(self, of: Callable[[Floats], Floats]) -> Floats:
        """The sum over all points of what `of` makes of each coordinate, to the last bit that of the whole matrix.

        numpy adds the rows of a matrix one after another, but the numbers of a single column in pairs.
        """
        if not self.lists or self.width == 1:
            return np.asarray(of(self.whole()).sum(axis=0))
        total = np.empty((0, self.width))
        for _, block in self.blocks():
            total = np.vstack([total, of(block)]).sum(axis=0, keepdims=True)
        return total[0]

    def by_row(self, of: Callable[[Floats, slice], Floats]) -> Floats:
        """A number for each point; `of` gets some points, and which rows they are."""
        made = np.empty(len(self))
        for rows, block in self.blocks():
            made[rows] = of(block, rows)
        return made

    def squared_distances(self, to: Floats) -> Floats:
        """The squared distance of each point."""
        return self.by_row(lambda block, _: ((block - to) ** 2).sum(axis=1))

    def all_equal(self) -> bool:
        """Whether all are the same point."""
        first = self.take(np.arange(1)).whole()
        return all((block == first).all() for _, block in self.blocks())
