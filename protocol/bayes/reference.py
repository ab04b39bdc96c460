"""The pooled classifier in the clear: what the protocols must equal.

`fixed_model` with `fixed_labels` is the same integer arithmetic as on shares, and so the labels bit for bit;
`real_scores` is the textbook classifier in float64.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.kind import Kind, Learned
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.model import Model, assemble, learned, log_arguments, scores
from mixbayes.protocol.bayes.noise import clamped_in_clear
from mixbayes.protocol.bayes.precision import precision_for
from mixbayes.protocol.circuits.logarithm import fixed_log2


def fixed_model(layout: Layout, vector: Words) -> Model:
    """θ of the joint counts, or of N~, in fixed point."""
    precision = precision_for(layout)
    if layout.terms.coins:
        vector = clamped_in_clear(layout, vector)
    parts = log_arguments(layout, vector, 1)
    logs = fixed_log2(np.concatenate(parts))
    empty = (layout.class_counts(vector) == 0).astype(np.uint64)
    found = learned(layout, vector, precision, logs, [part.size for part in parts])
    return assemble(layout, precision, logs[: layout.classes], empty, found, _learn)


def _learn(kind: type[Kind], some: list[Learned]) -> list[Words]:
    return kind.fixed_tables(some)


def fixed_labels(layout: Layout, model: Model, codes: Values) -> NDArray[np.intp]:
    """The positions of the winning classes; ties go to the first."""
    top = np.uint64(64 - model.width)
    return (scores(layout, model, codes) << top).view(np.int64).argmax(axis=0)


def real_scores(layout: Layout, vector: Words, codes: Values) -> NDArray[np.float64]:
    """log2 P(c) + Σ log2 P(v|c), less what all classes share, as (K, n); minus infinity for a class without rows."""
    smoothing = float(layout.smoothing)
    counts = layout.class_counts(vector).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        total = np.repeat(np.log2(counts / counts.sum())[:, None], codes.shape[1], axis=1)
    for (attribute, block), (_, cells) in zip(layout.blocks(vector), layout.cells(codes), strict=True):
        total += attribute.real_scores(block, cells, smoothing)
    return total
