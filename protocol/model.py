"""The table θ of log-probabilities: what training makes of counts, in the clear or on shares.

Everything here is linear or a rearrangement, so the two computing parties and the clear-text reference run the same
code, each on its own numbers; only the logarithm between `log_arguments` and `assemble` differs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mixbayes.protocol.arrays import Values, Words, mask
from mixbayes.protocol.layout import Layout
from mixbayes.protocol.precision import Precision, discrete_attributes


@dataclass(frozen=True, slots=True, repr=False)
class Model:
    """Shares of θ modulo 2^width, relative to the first class: what decides is a difference.

    `prior` is (K − 1,); `tables` has (V + 1, K − 1) for each attribute, the last row, "missing", being zero.
    """

    width: int
    prior: Words
    tables: tuple[Words, ...]

    @property
    def classes(self) -> int:
        return self.prior.size + 1


def log_arguments(layout: Layout, vector: Words, one: int) -> Words:
    """What is under the logarithms: n_c, then per attribute q·n_avc + p and q·n_ac + p·V_a.

    `one` is this party's share of the number one.
    """
    smoothing = layout.dictionary.smoothing
    p, q = np.uint64(smoothing.numerator * one), np.uint64(smoothing.denominator)
    parts = [layout.class_counts(vector)]
    for a in range(len(layout.rows)):
        counts = layout.block(vector, a)[:-1] * q + p
        parts += [counts.reshape(-1), counts.sum(axis=0, dtype=np.uint64)]
    return np.concatenate(parts)


def assemble(layout: Layout, precision: Precision, logs: Words, empty: Words) -> Model:
    """θ from the logarithms of `log_arguments` and from [n_c = 0]."""
    discrete_attributes(layout.dictionary)
    classes = layout.classes
    prior = logs[:classes] - empty * np.uint64(precision.empty)
    tables, at = [], classes
    for rows in layout.rows:
        values = (rows - 1) * classes
        numerators = logs[at : at + values].reshape(rows - 1, classes)
        denominators = logs[at + values : at + values + classes]
        tables.append(_relative(np.append(numerators - denominators, np.zeros((1, classes), np.uint64), axis=0)))
        at += values + classes
    low = mask(precision.width)
    return Model(precision.width, _relative(prior) & low, tuple(table & low for table in tables))


def _relative(cells: Words) -> Words:
    return np.ascontiguousarray(cells[..., 1:] - cells[..., :1])


def scores(model: Model, codes: Values) -> Words:
    """Shares (K, n) of every class's score minus the first one's, for public instances (attributes, n)."""
    total = np.zeros((model.classes, codes.shape[1]), np.uint64)
    total[1:] = model.prior[:, None]
    for table, values in zip(model.tables, codes, strict=True):
        for later in range(model.classes - 1):
            total[later + 1] += table[:, later].take(values)
    return total & mask(model.width)
