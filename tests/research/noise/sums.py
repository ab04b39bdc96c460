"""Counts in words as the sums of `research/noise/patients.py`."""

from __future__ import annotations

import numpy as np

from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.discrete import Discrete
from mixbayes.protocol.attributes.gaussian_moments import NUMERIC_BITS, PRESENT, SQUARES_HIGH, SUM
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.research.noise.patients import Floats


def of_words(layout: Layout, noisy: Words) -> tuple[Floats, Floats]:
    """Class counts and sums of N~, as `Patients` has them."""
    cells, moments = [], []
    for attribute, block in layout.blocks(noisy.view(np.int64)):
        if isinstance(attribute, Discrete):
            cells.append(block[:-1])
            continue
        x, squares = block[SUM] / 2.0**NUMERIC_BITS, block[SQUARES_HIGH] / 2.0**NUMERIC_BITS
        u = 2 * x - block[PRESENT]
        moments.append([block[PRESENT], u, 8 * squares - 4 * u - 3 * block[PRESENT]])
    by_sum = np.array(moments).reshape(len(moments), 3, layout.classes).transpose(1, 0, 2)
    sums = np.concatenate([*cells, by_sum.reshape(-1, layout.classes)]).astype(np.float64)
    return layout.class_counts(noisy.view(np.int64)).astype(np.float64), sums
