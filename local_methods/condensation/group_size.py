"""The group size of class-wise condensation: the approximate greatest common divisor of the class sizes.

It is not stable: one record more or fewer in a class can change it by a large factor. `sensitivity` says how much, and
`steady_threshold` finds a threshold at which no single record matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import gcd


@dataclass(frozen=True)
class Sensitivity:
    """The smallest and the largest group size that any one record more or fewer would have given."""

    lowest: int
    highest: int


def approximate_gcd(class_sizes: Iterable[int], t: int) -> int:
    """t·gcd(⌊|C₁|/t⌋, ⌊|C₂|/t⌋, …): step 1 of Kim's Figure 5. Classes have at least t rows."""
    return t * gcd(*(size // t for size in class_sizes))


def sensitivity(class_sizes: Sequence[int], t: int) -> Sensitivity:
    """What the group size would be with one record more or fewer; a class that falls below t is not counted."""
    sizes = [approximate_gcd(changed, t) for changed in _one_record_apart(class_sizes) if min(changed) >= t]
    found = [*sizes, approximate_gcd(class_sizes, t)]
    return Sensitivity(min(found), max(found))


def steady_threshold(class_sizes: Sequence[int], t: int) -> int | None:
    """The smallest threshold from t on at which one record more or fewer leaves the group size as it is, if any."""
    for threshold in range(t, min(class_sizes)):
        found = sensitivity(class_sizes, threshold)
        if found.lowest == found.highest:
            return threshold
    return None


def _one_record_apart(class_sizes: Sequence[int]) -> Iterable[list[int]]:
    for at, size in enumerate(class_sizes):
        for changed in (size - 1, size + 1):
            yield [*class_sizes[:at], changed, *class_sizes[at + 1 :]]
