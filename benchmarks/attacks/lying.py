"""The lying asker: offsets bisect scores to the last bit, and exact scores have one table of counts behind them.

A row with one value and all else missing has the score prior + θ[a][v], and a row with everything missing the prior.
An offset moves a score by a known amount, so that the label says on which side of that amount the score is. Rows are
bisected all at once: as many labels a round as there are cells, and as many rounds as a score has bits.

The score of a value is log2 x_1 − log2 x_0 − log2 M_1 + log2 M_0, where x_c = q·n_c + p is a smoothed count and M_c the
sum of the x_c of all values. All are integers, and the logarithms are rounded in a known way. So for known totals of a
class the two counts of a value are those few whose rounded logarithms differ by exactly as much, and of these the
counts of all values must add up to the totals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.discrete import Discrete
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.label import Labels
from mixbayes.protocol.bayes.noise import IN_A_CLASS
from mixbayes.protocol.circuits.logarithm import FRACTION, fixed_log2

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
AskWithOffsets = Callable[[Values, Words], Labels]

_ONE = float(1 << FRACTION)
_NEAR = 2.0**-28
"""Counts whose logarithms agree have a ratio that is as near as this, relatively, with room to spare."""
_MOST_TIMES = 2
"""Tables of up to this many times the rows are looked through."""
_CELLS = 1 << 21
"""Of a matrix, at a time."""


# Labels to scores.


def values_of(layout: Layout) -> list[int]:
    """The number of values of every attribute."""
    sizes = [a.size for a in layout.dictionary.attributes if isinstance(a, Discrete)]
    if layout.classes != 2 or len(sizes) != len(layout.rows):
        raise ValueError("the attacks are written for two classes and attributes with a list of values")
    return sizes


def single_values(sizes: Sequence[int]) -> Values:
    """Rows (columns, cells): all missing, then every value of every attribute with all else missing."""
    missing = np.array(sizes, np.int32)[:, None]
    rows = np.repeat(missing, 1 + sum(sizes), axis=1)
    column = np.repeat(np.arange(len(sizes)), sizes)
    rows[column, 1 + np.arange(sum(sizes))] = np.concatenate([np.arange(size) for size in sizes])
    return rows


def score_bits(layout: Layout) -> int:
    """A score of such a row is below 2^(bits − 1), up or down: it is the difference of two shares of a total."""
    smoothing = layout.smoothing
    largest = smoothing.denominator * layout.dictionary.max_rows + smoothing.numerator * max(values_of(layout))
    return 1 + FRACTION + (2 + largest.bit_length()).bit_length()


def bisected(ask: AskWithOffsets, codes: Values, bits: int) -> Iterator[Integers]:
    """The scores of rows as they become known, a bit with every round: the middle of where they can be."""
    low = np.full(codes.shape[1], -(1 << bits - 1), np.int64)
    for bit in reversed(range(bits)):
        middle = low + (1 << bit)
        # The second class wins if its score is above zero: here, if it is at least the middle.
        labels = ask(codes, (1 - middle).view(np.uint64)[None])
        low = np.where(labels == 1, middle, low)
        yield low + (1 << bit >> 1)


def relative(scores: Integers) -> Integers:
    """The prior, then every θ[a][v]."""
    return np.append(scores[:1], scores[1:] - scores[0])


# Scores to counts.


@dataclass(frozen=True, eq=False)
class Found:
    """The integers behind the scores."""

    of_class: Integers
    """(2,)."""
    counts: tuple[Integers, ...]
    """(V, 2) of each attribute."""
    fitting: int
    """How many tables have exactly these scores, this one included. Nothing tells them apart."""

    def vector(self) -> Integers:
        """Class counts, then all others, without missing cells."""
        return np.concatenate([self.of_class, *(counts.reshape(-1) for counts in self.counts)])


def reconstructed(scores: Integers, layout: Layout, rows: int, spread: int = 0) -> Found | None:
    """The counts that have these scores: prior, then every θ[a][v]. An asker knows about how many rows there are.

    Without a spread, every attribute's counts add up to the class counts, as in a table without missing cells and
    noise. With it every attribute has totals of its own, which are at most so far from the class counts.
    """
    smoothing, sizes = layout.smoothing, values_of(layout)
    parts = np.split(scores[1:], np.cumsum(sizes)[:-1])
    imagined = IN_A_CLASS * layout.spread
    of_class = class_counts_with(int(scores[0]), _MOST_TIMES * rows + 2 * imagined)
    if not len(of_class):
        return None
    if spread:
        return _independent(parts, of_class, smoothing, rows, spread, imagined)
    found = [one for totals in of_class if (one := _with_totals(parts, totals, smoothing))]
    if not found:
        return None
    nearest = min(found, key=lambda one: abs(int(one.of_class.sum()) - rows))
    return replace(nearest, fitting=sum(one.fitting for one in found))


def _with_totals(parts: list[Integers], totals: Integers, smoothing: Fraction) -> Found | None:
    counts, fitting = [], 1
    for part in parts:
        ways, own = tables_with(part, totals, smoothing)
        if own is None:
            return None
        fitting *= ways
        counts.append(own)
    return Found(totals, tuple(counts), fitting)


def _independent(
    parts: list[Integers], of_class: Integers, smoothing: Fraction, rows: int, spread: int, imagined: int
) -> Found | None:
    centre = np.rint(of_class[0] * (rows + 2 * imagined) / of_class[0].sum()).astype(np.int64) - imagined
    found = [_likeliest(part, _possible(part, centre, smoothing, spread), smoothing) for part in parts]
    # Of the class counts with this prior, those that are nearest to the attributes' totals.
    far = np.abs(of_class - imagined - np.median([own.sum(axis=0) for _, own in found], axis=0)).max(axis=1)
    fitting = prod(ways for ways, _ in found) * int((far <= spread).sum())
    return Found(of_class[far.argmin()] - imagined, tuple(own for _, own in found), fitting)


def _likeliest(part: Integers, totals: Integers, smoothing: Fraction) -> tuple[int, Integers]:
    """How many counts (V, 2) of an attribute have these scores, and those with the first totals. None has any: −1."""
    tried = [tables_with(part, one, smoothing) for one in totals]
    some = [own for _, own in tried if own is not None]
    return sum(ways for ways, _ in tried), some[0] if some else np.full((len(part), 2), -1)


def class_counts_with(prior: int, most: int) -> Integers:
    """(n, 2): all pairs of class counts, at most so many patients together, with this difference of logarithms."""
    first = np.arange(1, most + 1)
    second = np.rint(first * 2.0 ** (prior / _ONE)).clip(1, most).astype(np.int64)
    fits = (_log2(second) - _log2(first) == prior) & (first + second <= most)
    return np.stack([first[fits], second[fits]], axis=1)


def tables_with(part: Integers, totals: Integers, smoothing: Fraction) -> tuple[int, Integers | None]:
    """How many counts (V, 2) of an attribute have these scores and add up to these totals, and one of them."""
    p, q = smoothing.numerator, smoothing.denominator
    low, high = _log2(q * totals + p * len(part))
    pairs = [_pairs(int(score) + int(high - low), totals, p, q) for score in part]
    if not all(map(len, pairs)):
        return 0, None
    ways = [np.zeros(totals + 1)]
    ways[0][0, 0] = 1
    for some in pairs:
        ways.append(_added(ways[-1], some))
    return int(ways[-1][-1, -1]), _traced(ways, pairs)


def _added(ways: Floats, pairs: Integers) -> Floats:
    """In how many ways the values so far add up to a pair of sums, with one more value."""
    more = np.zeros_like(ways)
    rows, columns = ways.shape
    for x, y in pairs:
        more[x:, y:] += ways[: rows - x, : columns - y]
    return more


def _traced(ways: list[Floats], pairs: list[Integers]) -> Integers | None:
    """One table behind the totals, from the last value to the first."""
    if not ways[-1][-1, -1]:
        return None
    left, found = np.array(ways[-1].shape) - 1, []
    for before, some in zip(reversed(ways[:-1]), reversed(pairs), strict=True):
        own = next(own for own in some[(some <= left).all(axis=1)] if before[tuple(left - own)])
        found.append(own)
        left = left - own
    return np.stack(found[::-1])


def _pairs(target: int, totals: Integers, p: int, q: int) -> Integers:
    """(n, 2): the counts of one value in both classes whose smoothed logarithms differ by exactly the target."""
    first = np.arange(int(totals[0]) + 1)
    wanted = (q * first + p) * 2.0 ** (target / _ONE)
    second = np.rint((wanted - p) / q).clip(0, int(totals[1])).astype(np.int64)
    fits = _log2(q * second + p) - _log2(q * first + p) == target
    return np.stack([first[fits], second[fits]], axis=1)


def _possible(part: Integers, centre: Integers, smoothing: Fraction, spread: int) -> Integers:
    """(n, 2): the totals near the centre, nearest first, for which every value has some counts, nearly."""
    sides = [np.arange(max(0, int(c) - spread), int(c) + spread + 1) for c in centre]
    totals = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, 2)
    p, q = smoothing.numerator, smoothing.denominator
    # The values with the most different classes come first: they have the fewest counts to try.
    for score in part[np.argsort(-np.abs(part))]:
        totals = totals[_has_counts(int(score), len(part), totals, p, q)]
    return totals[np.abs(totals - centre).sum(axis=1).argsort(kind="stable")]


def _has_counts(score: int, values: int, totals: Integers, p: int, q: int) -> NDArray[np.bool_]:
    """For each pair of totals, whether some smoothed counts of the value nearly have the ratio that the score says."""
    if not len(totals):
        return np.zeros(0, np.bool_)
    whole = q * totals + p * values
    ratio = 2.0 ** (score / _ONE) * whole[:, 1] / whole[:, 0]
    if ratio.mean() < 1:  # the smaller count is tried
        ratio, totals = 1 / ratio, totals[:, ::-1]
    tried = int(min(totals[:, 0].max(), totals[:, 1].max() / max(ratio.min(), 1e-9) + p + 1))
    smaller = q * np.arange(tried + 1.0) + p
    pieces = np.array_split(ratio, max(1, ratio.size * smaller.size // _CELLS))
    return np.concatenate([_near_some(piece[:, None] * smaller, p, q).any(axis=1) for piece in pieces])


def _near_some(wanted: Floats, p: int, q: int) -> NDArray[np.bool_]:
    counted = np.maximum(np.rint((wanted - p) / q), 0)
    return np.abs(q * counted + p - wanted) <= _NEAR * wanted


def _log2(x: Integers) -> Integers:
    return fixed_log2(x.astype(np.uint64)).view(np.int64)
