"""Quantiles of histograms that stay on shares: a search by halving, which opens nothing but what it finds.

A column of numbers is counted in the cells of a public grid. The i/B quantile is in the first cell whose cumulative
count C_j, all cells up to j together, has B·C_j ≥ i·n, where n is the count of all cells. With a patient's cell as the
patient's number, this is `numpy.quantile` with the method "inverted_cdf": the interpolation of the default method would
have to open counts.

The search finds the number of that cell from its highest bit down: is B·C_j < i·n for the last cell j of the lower half
of what is left? The answers are the bits of the result, so they can be opened one after the other: they show nothing
but the result. The search costs one comparison for each bit of the result. A comparison for every cell would cost
thirty times as many.

Noise makes some cells negative, and then cumulative counts do not always rise. Negative cells are not clamped: with
zeros in their place, many cells would together have an even count all over the grid, which pulls every quantile to the
middle. The answers of the search are the quantiles of the histogram `levelled`: where the count up to one half
contradicts a count up to a smaller part, the count up to the half is used. Neither count is more exact, and the errors
of cells cancel in cumulative counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Bits, Words, mask
from mixbayes.protocol.circuits.comparison import negative
from mixbayes.protocol.circuits.products import opened
from mixbayes.protocol.computing_party import ComputingParty

Counts = NDArray[np.int64]
Positions = NDArray[np.int64]
Negative = Callable[[Words], Bits]
"""Which of these signed words modulo 2^64 are negative, in the clear."""


def shared_quantiles(me: ComputingParty, histograms: Sequence[Words], parts: int, width: int) -> list[Positions]:
    """The cells of the quantiles of every histogram, from additive shares modulo 2^64 of its cells.

    `width` is that of the comparisons, the sign included.
    """
    return _quantiles(histograms, parts, lambda words: opened(me, "quantiles", _sign(me, words, width)))


def quantiles(histograms: Sequence[Words], parts: int) -> list[Positions]:
    """The same of the histograms themselves."""
    return _quantiles(histograms, parts, lambda words: (words >> np.uint64(63)).astype(np.uint8))


def _sign(me: ComputingParty, words: Words, width: int) -> Bits:
    return negative(me, words & mask(width), width)


def _quantiles(histograms: Sequence[Words], parts: int, is_negative: Negative) -> list[Positions]:
    """For each histogram the cells (parts − 1,) of the quantiles 1/parts, 2/parts and so on."""
    if not histograms:
        return []
    cells = np.array([len(histogram) for histogram in histograms])[:, None]
    cumulative = np.concatenate([np.cumsum(histogram, dtype=np.uint64) for histogram in histograms])
    last = np.cumsum(cells)[:, None] - 1
    wanted = np.arange(1, parts, dtype=np.uint64) * cumulative[last]
    # Now `wanted` is i·n, (histograms, parts − 1).
    found = np.zeros(wanted.shape, np.int64)
    for place in reversed(range(int(cells.max() - 1).bit_length())):
        beyond = found + (1 << place)
        # At least `beyond` cells lie before the quantile's if all of them together have too few patients. What would
        # lie behind the last cell is compared too, as a zero, so that messages have the same size whatever is found.
        before = cumulative[last - cells + np.minimum(beyond, cells)]
        short = np.where(beyond < cells, np.uint64(parts) * before - wanted, np.uint64(0))
        found += is_negative(short.reshape(-1)).reshape(found.shape).astype(np.int64) << place
    return list(found)


def levelled(histogram: Counts) -> Counts:
    """The histogram without negative cells of which the search by halving finds the quantiles.

    If no cell is negative it is the histogram itself. It needs more than zero patients.
    """
    cumulative = np.cumsum(histogram)
    levels = np.zeros(len(histogram) + 1, np.int64)
    _level(levels, cumulative, 0, len(histogram), cumulative[-1])
    return np.diff(levels)


def _level(levels: Counts, cumulative: Counts, start: int, stop: int, most: int) -> None:
    """Cumulative counts in `levels`, from what stands at `start` up to the most, which will stand at `stop`."""
    levels[stop] = most
    if stop - start > 1:
        middle = start + (1 << (stop - start - 1).bit_length() - 1)
        level = int(np.clip(cumulative[middle - 1], levels[start], most))
        _level(levels, cumulative, start, middle, level)
        _level(levels, cumulative, middle, stop, most)
