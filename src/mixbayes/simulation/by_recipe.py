"""How good the answers were that every hospital got by its recipe, and by which pooled classifier they are checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.recipe import Recipe
from mixbayes.protocol.bayes.reference import real_scores

Labels = NDArray[np.int64]
Truth = NDArray[np.int32]
"""Positions of classes; one beyond the last where none or an unknown one is given."""
OWN, JOINT, RECIPE = "own", "joint", "recipe"
_HALF = 0.5
"""Patients that a hospital's own prior counts where it has none of a class."""


@dataclass(frozen=True)
class Answered:
    """The answers about some rows by a recipe, beside those of the own classifier and of the joint one."""

    recipe: str
    """What answered, or `best` where that differs from hospital to hospital."""
    rows: int
    accuracy: dict[str, float | None]
    """Of `own`, `joint` and `recipe`; None where no true class is known. An unsure answer is not right."""
    confusion: dict[str, list[list[int]] | None]
    """By true class and by answer; where `recipe` may be unsure, unsure is its last answer."""
    unsure: int | None
    """How many answers of `recipe` are unsure; None where it never is."""


@dataclass(frozen=True)
class WithRecipe(Answered):
    """Of all hospitals together, each with its own classifier and its own recipe, and of each by itself."""

    hospitals: dict[str, Answered] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """What a hospital asked: by which recipe, and what it was answered; by the joint classifier, too."""

    recipe: Recipe
    labels: Labels
    joint: Labels


def pooled_by(layout: Layout, recipe: Recipe, pooled: Words, own: Words, codes: Values) -> Labels:
    """The labels that the textbook classifier of a recipe gives in float64, from counts that are pooled.

    One past the last class is unsure.
    """
    if recipe.base == "own":
        layout, counts = alone(layout), own
    else:
        counts = pooled + np.uint64(recipe.weight) * own
    scores = real_scores(layout, counts, codes) + _moved(layout, recipe, counts, pooled, own)[:, None]
    winners = scores.argmax(axis=0).astype(np.int64)
    if recipe.unsure is None:
        return winners
    best, second = np.sort(scores, axis=0)[-1:-3:-1]
    return np.where(best - second < float(recipe.unsure), layout.classes, winners)


def alone(layout: Layout) -> Layout:
    """Of a hospital's own classifier: there is no noise, and values are smoothed as the dictionary says."""
    return Layout(layout.dictionary)


def _moved(layout: Layout, recipe: Recipe, counts: Words, pooled: Words, own: Words) -> NDArray[np.float64]:
    """What a recipe's own prior and its costs add to the score of every class."""
    costs = dict(recipe.costs)
    moved = np.log2([float(costs.get(name, 1)) for name in layout.dictionary.classes])
    if recipe.prior_apart:
        before = layout.class_counts(counts).astype(np.float64)
        prior = layout.class_counts(own if recipe.prior == "own" else pooled).astype(np.float64)
        seen = before > 0  # a class that nobody has never wins
        moved[seen] += np.log2(np.maximum(prior[seen], _HALF)) - np.log2(before[seen])
    return moved


def with_recipe(
    layout: Layout,
    recipe: str,
    asked: Mapping[str, Asked],
    truths: Mapping[str, Truth | None],
    own: Mapping[str, Labels],
) -> WithRecipe:
    """All answers together, and those of each hospital; `own` are the labels of its own classifier."""
    hospitals = {
        name: _answered(layout, str(one.recipe), one.recipe.unsure is not None, truths[name], own[name], one)
        for name, one in asked.items()
    }
    everything = Asked(
        next(iter(asked.values())).recipe,
        np.concatenate([one.labels for one in asked.values()]),
        np.concatenate([one.joint for one in asked.values()]),
    )
    known = [truth for truth in truths.values() if truth is not None]
    together = _answered(
        layout,
        recipe,
        any(one.recipe.unsure is not None for one in asked.values()),
        np.concatenate(known) if len(known) == len(truths) else None,
        np.concatenate([own[name] for name in asked]),
        everything,
    )
    return WithRecipe(**vars(together), hospitals=hospitals)


def _answered(
    layout: Layout, recipe: str, may_be_unsure: bool, truth: Truth | None, own: Labels, asked: Asked
) -> Answered:
    answers = {OWN: own, JOINT: asked.joint, RECIPE: asked.labels}
    return Answered(
        recipe,
        len(asked.labels),
        {name: share_right(truth, labels, layout.classes) for name, labels in answers.items()},
        {
            name: confusion_of(truth, labels, layout.classes, may_be_unsure and name == RECIPE)
            for name, labels in answers.items()
        },
        int(np.count_nonzero(asked.labels == layout.classes)) if may_be_unsure else None,
    )


def share_right(truth: Truth | None, labels: Labels, classes: int) -> float | None:
    """Of the rows whose class is known; None if there are none."""
    if truth is None:
        return None
    known = truth < classes
    return float(np.mean(truth[known] == labels[known])) if known.any() else None


def confusion_of(
    truth: Truth | None, labels: Labels, classes: int, may_be_unsure: bool = False
) -> list[list[int]] | None:
    """Rows by true class and by answer; None where no true class is known."""
    if truth is None or not (known := truth < classes).any():
        return None
    answers = classes + may_be_unsure
    counts = np.bincount(truth[known] * answers + labels[known], minlength=classes * answers)
    return [list(map(int, row)) for row in counts.reshape(classes, answers)]
