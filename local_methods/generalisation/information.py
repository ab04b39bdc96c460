"""Information gain in bits, from counts of classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mixbayes.local_methods.arithmetic.logarithms import log2
from mixbayes.local_methods.tables import Codes, Floats

GRID = 2.0**32
"""Gains are rounded to multiples of 1 / GRID, so that equal gains are equal whatever they were added up from."""


def bits(counts: Codes) -> Floats:
    """How many bits tell the class of every row, for rows of class counts: n times their entropy. None for no rows."""
    return _times_log(counts.sum(axis=-1)) - _times_log(counts).sum(axis=-1)


def gain(whole: Codes, parts: Sequence[Codes]) -> Floats:
    """What the parts save of the bits of a whole, for each of its rows. Parts may be lists of alternatives."""
    saved = bits(whole) - sum(map(bits, parts))
    return np.round(np.maximum(saved, 0) / whole.sum(axis=-1) * GRID) / GRID


def mixed(counts: Codes) -> np.bool_:
    """Whether there are rows of several classes."""
    return np.bool_(np.count_nonzero(counts) > 1)


def _times_log(counts: Codes) -> Floats:
    return counts * log2(np.maximum(counts, 1))
