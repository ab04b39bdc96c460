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
from mixbayes.protocol.bayes.public_prior import PublicPrior, with_prior
from mixbayes.protocol.bayes.recipe import JOINT, Recipe
from mixbayes.protocol.circuits.logarithm import fixed_log2


def fixed_model(
    layout: Layout,
    vector: Words,
    recipe: Recipe = JOINT,
    own: Words | None = None,
    public: PublicPrior | None = None,
) -> Model:
    """θ of the joint counts, or of N~, in fixed point; of a personal recipe, with the hospital's own counts."""
    own = np.zeros_like(vector) if own is None else own
    return fixed_models(layout, recipe, vector[None], own[None], public)[0]


def fixed_models(
    layout: Layout, recipe: Recipe, joint: Words, own: Words, public: PublicPrior | None = None
) -> list[Model]:
    """Models of one recipe from several joint counts, or N~, and own counts, shaped (models, size)."""
    layout, recipe = layout.weighing(recipe.weight), with_prior(recipe, public)
    precision, classes = precision_for(layout, recipe, public), layout.classes
    vectors, priors = _counts(layout, recipe, joint, own)
    parts = [log_arguments(layout, *both, 1) for both in zip(vectors, priors, strict=True)]
    sizes, apart = [part.size for part in parts[0]], priors.shape[1]
    arguments = np.stack([np.concatenate(of_model) for of_model in parts])
    logs, some = fixed_log2(arguments), (arguments != 0).astype(np.uint8)
    found = [learned(layout, *each, precision, sizes) for each in zip(vectors, logs, some, strict=True)]
    zero = (arguments[:, : classes + apart] == 0).astype(np.uint64)
    of_priors = Priors(logs[:, apart : apart + classes], zero[:, :classes], zero[:, classes:], 1)
    return assemble(layout, precision, recipe, of_priors.replaced(public), found, _learn)


def _counts(layout: Layout, recipe: Recipe, joint: Words, own: Words) -> tuple[Words, Words]:
    """The counts behind the tables, and those of a prior apart, as training can take them."""
    own = as_in_noisy(layout, own)
    vectors, priors = weighed(layout, recipe, joint, own), prior_counts(layout, recipe, joint, own)
    if layout.terms.coins:
        vectors = clamped_in_clear(layout, vectors)
        if recipe.prior_apart and recipe.prior == "joint":
            priors = clamped_classes_in_clear(layout, priors)
    return vectors, priors


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
    return _real_scores(layout, vector, codes, layout.class_counts(vector).astype(np.float64))


def recipe_scores(
    layout: Layout,
    vector: Words,
    codes: Values,
    recipe: Recipe = JOINT,
    own: Words | None = None,
    public: PublicPrior | None = None,
) -> NDArray[np.float64]:
    """The same of a recipe, from joint counts or N~. Costs are left out: with them there are no probabilities."""
    layout, recipe = layout.weighing(recipe.weight), with_prior(recipe, public)
    own = np.zeros_like(vector) if own is None else own
    vectors, priors = _counts(layout, recipe, vector[None], own[None])
    of_class = layout.class_counts(vectors[0]).astype(np.float64)
    prior = np.maximum(priors[0], 0.5) if priors.size else of_class
    if public:
        prior = np.array([float(share) for share in public.shares])
    return _real_scores(layout, vectors[0], codes, np.where(of_class > 0, prior, 0.0))


def _real_scores(layout: Layout, vector: Words, codes: Values, prior: NDArray[np.float64]) -> NDArray[np.float64]:
    """With a prior in proportion to these numbers."""
    smoothing = float(layout.smoothing)
    with np.errstate(divide="ignore", invalid="ignore"):
        total = np.repeat(np.log2(prior / (prior.sum() or 1.0))[:, None], codes.shape[1], axis=1)
    for (attribute, block), (_, cells) in zip(layout.blocks(vector), layout.cells(codes), strict=True):
        total += attribute.real_scores(block, cells, smoothing)
    return total
