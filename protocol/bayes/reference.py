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
from mixbayes.protocol.bayes.model import (
    Model,
    Priors,
    assemble,
    learned,
    log_arguments,
    prior_counts,
    scores,
    weighed,
)
from mixbayes.protocol.bayes.noise import as_in_noisy, clamped_classes_in_clear, clamped_in_clear
from mixbayes.protocol.bayes.precision import precision_for
from mixbayes.protocol.bayes.recipe import JOINT, Recipe
from mixbayes.protocol.circuits.logarithm import fixed_log2


def fixed_model(layout: Layout, vector: Words, recipe: Recipe = JOINT, own: Words | None = None) -> Model:
    """θ of the joint counts, or of N~, in fixed point; of a personal recipe, with the hospital's own counts."""
    own = np.zeros_like(vector) if own is None else own
    return fixed_models(layout, recipe, vector[None], own[None])[0]


def fixed_models(layout: Layout, recipe: Recipe, joint: Words, own: Words) -> list[Model]:
    """Models of one recipe from several joint counts, or N~, and own counts, shaped (models, size)."""
    layout = layout.weighing(recipe.weight)
    precision, classes = precision_for(layout, recipe), layout.classes
    own = as_in_noisy(layout, own)
    vectors, priors = weighed(layout, recipe, joint, own), prior_counts(layout, recipe, joint, own)
    if layout.terms.coins:
        vectors = clamped_in_clear(layout, vectors)
        if recipe.prior_apart and recipe.prior == "joint":
            priors = clamped_classes_in_clear(layout, priors)
    parts = [log_arguments(layout, *both, 1) for both in zip(vectors, priors, strict=True)]
    sizes, apart = [part.size for part in parts[0]], priors.shape[1]
    arguments = np.stack([np.concatenate(of_model) for of_model in parts])
    logs, zero = fixed_log2(arguments), (arguments[:, : classes + apart] == 0).astype(np.uint64)
    found = [learned(layout, *both, precision, sizes) for both in zip(vectors, logs, strict=True)]
    of_priors = Priors(logs[:, apart : apart + classes], zero[:, :classes], zero[:, classes:], 1)
    return assemble(layout, precision, recipe, of_priors, found, _learn)


def _learn(kind: type[Kind], some: list[Learned]) -> list[Words]:
    return kind.fixed_tables(some)


def fixed_labels(layout: Layout, model: Model, codes: Values) -> NDArray[np.intp]:
    """The positions of the winning classes; ties go to the first. One past the last class is `unsure`."""
    found = fixed_scores(layout, model, codes)
    winners = found.argmax(axis=0)
    if model.margin is None:
        return winners
    best, second = np.sort(found, axis=0)[-1:-3:-1]
    return np.where(best - second < model.margin, layout.classes, winners)


def fixed_scores(layout: Layout, model: Model, codes: Values) -> NDArray[np.int64]:
    """The scores (K, n) relative to the first class, in the fixed point of the model."""
    top = 64 - model.width
    return (scores(layout, model, codes) << np.uint64(top)).view(np.int64) >> top


def real_scores(layout: Layout, vector: Words, codes: Values) -> NDArray[np.float64]:
    """log2 P(c) + Σ log2 P(v|c), less what all classes share, as (K, n); minus infinity for a class without rows."""
    smoothing = float(layout.smoothing)
    counts = layout.class_counts(vector).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        total = np.repeat(np.log2(counts / counts.sum())[:, None], codes.shape[1], axis=1)
    for (attribute, block), (_, cells) in zip(layout.blocks(vector), layout.cells(codes), strict=True):
        total += attribute.real_scores(block, cells, smoothing)
    return total
