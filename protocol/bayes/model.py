"""The table θ of log-probabilities: what training makes of counts, in the clear or on shares.

Everything here is linear or a rearrangement, so the two computing parties and the clear-text reference run the same
code, each on its own numbers; only the logarithm between `log_arguments` and `assemble` differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixbayes.protocol.arrays import Values, Words, mask
from mixbayes.protocol.attributes.dictionary import Numeric
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.log_density import features, numeric_positions
from mixbayes.protocol.bayes.precision import Precision
from mixbayes.protocol.circuits.logarithm import FRACTION


@dataclass(frozen=True, slots=True, repr=False)
class Model:
    """Shares of θ modulo 2^width, relative to the first class: what decides is a difference.

    `prior` is (K − 1,); `tables` has (V + 1, K − 1) for each attribute, the last row, "missing", being zero, and
    (FEATURES, K − 1) for a Gaussian one.
    """

    width: int
    prior: Words
    tables: tuple[Words, ...]
    gaussian: tuple[int, ...] = ()
    """Which of the attributes are."""

    @property
    def classes(self) -> int:
        return self.prior.size + 1


def discrete_positions(layout: Layout) -> list[int]:
    """Which attributes are nominal or binned."""
    return [i for i in range(len(layout.rows)) if i not in numeric_positions(layout)]


def log_arguments(layout: Layout, vector: Words, one: int) -> Words:
    """What is under the logarithms: n_c, then per nominal or binned attribute q·n_avc + p and q·n_ac + p·V_a.

    `one` is this party's share of the number one.
    """
    smoothing = layout.dictionary.smoothing
    p, q = np.uint64(smoothing.numerator * one), np.uint64(smoothing.denominator)
    parts = [layout.class_counts(vector)]
    for a in discrete_positions(layout):
        counts = layout.block(vector, a)[:-1] * q + p
        parts += [counts.reshape(-1), counts.sum(axis=0, dtype=np.uint64)]
    return np.concatenate(parts)


def assemble(layout: Layout, precision: Precision, logs: Words, empty: Words, gaussians: Sequence[Words]) -> Model:
    """θ from the logarithms of `log_arguments`, from [n_c = 0], and from the tables of Gaussian attributes."""
    classes = layout.classes
    logs = logs << np.uint64(precision.fraction - FRACTION)
    prior = logs[:classes] - empty * np.uint64(precision.empty)
    tables, at, numeric = [], classes, iter(gaussians)
    for rows, attribute in zip(layout.rows, layout.dictionary.attributes, strict=True):
        if isinstance(attribute, Numeric):
            tables.append(_relative(next(numeric)))
            continue
        values = (rows - 1) * classes
        numerators = logs[at : at + values].reshape(rows - 1, classes)
        denominators = logs[at + values : at + values + classes]
        tables.append(_relative(np.append(numerators - denominators, np.zeros((1, classes), np.uint64), axis=0)))
        at += values + classes
    low = mask(precision.width)
    return Model(
        precision.width,
        _relative(prior) & low,
        tuple(table & low for table in tables),
        tuple(numeric_positions(layout)),
    )


def _relative(cells: Words) -> Words:
    return np.ascontiguousarray(cells[..., 1:] - cells[..., :1])


def scores(model: Model, codes: Values) -> Words:
    """Shares (K, n) of every class's score minus the first one's, for public instances (attributes, n)."""
    total = np.zeros((model.classes, codes.shape[1]), np.uint64)
    total[1:] = model.prior[:, None]
    for position, (table, values) in enumerate(zip(model.tables, codes, strict=True)):
        if position in model.gaussian:
            total[1:] += table.T @ features(values).astype(np.uint64)
        else:
            for later in range(model.classes - 1):
                total[later + 1] += table[:, later].take(values)
    return total & mask(model.width)
