"""The pooled classifier in the clear: what the protocols must equal.

`fixed_model` with `fixed_labels` is the same integer arithmetic as on shares, and so the labels bit for bit;
`real_scores` is the textbook classifier in float64.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.dictionary import Numeric
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.log_density import fixed_tables, real_density, whole_moments
from mixbayes.protocol.bayes.model import Model, assemble, log_arguments, scores
from mixbayes.protocol.bayes.precision import precision_for
from mixbayes.protocol.circuits.logarithm import fixed_log2


def fixed_model(layout: Layout, vector: Words) -> Model:
    """θ of the joint counts in fixed point."""
    logs = fixed_log2(log_arguments(layout, vector, 1))
    empty = (layout.class_counts(vector) == 0).astype(np.uint64)
    return assemble(layout, precision_for(layout.dictionary), logs, empty, fixed_tables(layout, vector))


def fixed_labels(model: Model, codes: Values) -> NDArray[np.intp]:
    """The positions of the winning classes; ties go to the first."""
    top = np.uint64(64 - model.width)
    return (scores(model, codes) << top).view(np.int64).argmax(axis=0)


def real_scores(layout: Layout, vector: Words, codes: Values) -> NDArray[np.float64]:
    """log2 P(c) + Σ log2 P(v|c), less what all classes share, as (K, n); minus infinity for a class without rows."""
    alpha = float(layout.dictionary.smoothing)
    counts = layout.class_counts(vector).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        total = np.repeat(np.log2(counts / counts.sum())[:, None], codes.shape[1], axis=1)
    for a, values in enumerate(codes):
        if isinstance(layout.dictionary.attributes[a], Numeric):
            block = layout.block(vector, a)
            total += np.stack([real_density(whole_moments(block, c), values) for c in range(layout.classes)])
            continue
        cells = layout.block(vector, a)[:-1] + alpha
        table = np.append(np.log2(cells / cells.sum(axis=0)), np.zeros((1, layout.classes)), axis=0)
        total += table[values].T
    return total
