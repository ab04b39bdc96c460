"""The table θ of log-probabilities: what training makes of counts, in the clear or on shares.

Everything here is linear or a rearrangement, so the two computing parties and the clear-text reference run the same
code, each on its own numbers. Only two steps differ: the logarithms of what `log_arguments` gives, and how a kind of
attribute makes a table of its counts and logarithms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mixbayes.protocol.arrays import Bits, Values, Words, mask
from mixbayes.protocol.attributes.kind import Kind, Learned
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.precision import Precision
from mixbayes.protocol.bayes.public_prior import PublicPrior
from mixbayes.protocol.bayes.recipe import Recipe
from mixbayes.protocol.circuits.logarithm import FRACTION

Learner = Callable[[type[Kind], list[Learned]], list[Words]]
"""Makes the tables of all attributes of one kind."""


@dataclass(frozen=True, slots=True, repr=False)
class Model:
    """Shares of θ modulo 2^width, relative to the first class: what decides is a difference.

    `prior` is (K − 1,). `tables` has (words, K − 1) for each attribute: a word for every entry or feature that its kind
    asks about.
    """

    width: int
    prior: Words
    tables: tuple[Words, ...]
    margin: int | None = None
    """By how much the best score must lead, where the answer may be `unsure`."""

    @property
    def classes(self) -> int:
        return self.prior.size + 1

    @property
    def answers(self) -> int:
        """How many there are; `unsure` is the last one."""
        return self.classes + (self.margin is not None)


def weighed(layout: Layout, recipe: Recipe, joint: Words, own: Words) -> Words:
    """The counts behind a recipe's tables, N + w · own, not clamped; `own` as it stands in N."""
    return joint + np.uint64(recipe.weight) * own


def prior_counts(layout: Layout, recipe: Recipe, joint: Words, own: Words) -> Words:
    """The class counts of a prior that is not that of these tables, not clamped; without any, none."""
    if not recipe.prior_apart:
        return np.empty((*joint.shape[:-1], 0), np.uint64)
    return layout.class_counts(own if recipe.prior == "own" else joint)


def log_arguments(layout: Layout, vector: Words, prior: Words, one: int) -> list[Words]:
    """What is under the logarithms: n_c, those of the prior if they are apart, then what each attribute asks for.

    `one` is a share of the number one.
    """
    smoothing = layout.smoothing
    of_attributes = (attribute.log_arguments(block, smoothing, one) for attribute, block in layout.blocks(vector))
    return [layout.class_counts(vector), prior, *of_attributes]


def learned(
    layout: Layout, vector: Words, logs: Words, some: Bits, precision: Precision, sizes: Sequence[int]
) -> list[Learned]:
    """Every attribute's counts with its logarithms, brought to the fraction bits of a score."""
    ends = np.cumsum(sizes)[:-1]
    logs_of, some_of = np.split(logs << np.uint64(precision.fraction - FRACTION), ends)[2:], np.split(some, ends)[2:]
    parts = zip(layout.blocks(vector), logs_of, some_of, strict=True)
    return [Learned(attribute, block, its_logs, its_some) for (attribute, block), its_logs, its_some in parts]


@dataclass(frozen=True, slots=True, repr=False)
class Priors:
    """What makes the priors of several models, shaped (models, K), in the clear or on shares."""

    logs: Words
    """log2 of the class counts of the prior."""
    empty: Words
    """Which classes have no patient in the counts behind the tables."""
    unseen: Words
    """Which classes have none in the counts of the prior, where these are apart; else nothing."""
    one: int
    """A share of the number one."""

    def replaced(self, public: PublicPrior | None) -> Priors:
        """With the public prior, if there is one, for the counts'. A class without patients still never wins."""
        if public is None:
            return self
        logs = np.broadcast_to(public.logs * np.uint64(self.one), self.logs.shape)
        return replace(self, logs=logs, empty=np.where(public.impossible, np.uint64(self.one), self.empty))


def assemble(
    layout: Layout,
    precision: Precision,
    recipe: Recipe,
    priors: Priors,
    found: Sequence[Sequence[Learned]],
    learn: Learner,
) -> list[Model]:
    """θ of several models of one recipe, from their priors and from what was learned of their attributes."""
    tables: dict[tuple[int, int], Words] = {}
    for kind, positions in layout.by_kind():
        # All attributes of a kind at once: a circuit costs as many rounds for many as for one.
        places = [(model, i) for model in range(len(found)) for i in positions]
        tables |= zip(places, learn(kind, [found[model][i] for model, i in places]), strict=True)
    low, of_models = mask(precision.width), _relative(_prior(layout, precision, recipe, priors))
    ordered = [tuple(_relative(tables[model, i]) & low for i in range(len(found[0]))) for model in range(len(found))]
    margin = recipe.margin(precision.fraction)
    return [Model(precision.width, *parts, margin) for parts in zip(of_models & low, ordered, strict=True)]


def _prior(layout: Layout, precision: Precision, recipe: Recipe, priors: Priors) -> Words:
    """(models, K): the logarithm, less what keeps a class without patients from winning, plus the costs."""
    found = (priors.logs << np.uint64(precision.fraction - FRACTION)) - priors.empty * np.uint64(precision.empty)
    if priors.unseen.size:
        # log2 0 counts as 0 above; half a patient has the logarithm -1.
        found = found - (priors.unseen << np.uint64(precision.fraction))
    offsets = recipe.offsets(layout.dictionary.classes, precision.fraction)
    return found + np.array([offset % (1 << 64) for offset in offsets], np.uint64) * np.uint64(priors.one)


def _relative(cells: Words) -> Words:
    return np.ascontiguousarray(cells[..., 1:] - cells[..., :1])


def scores(layout: Layout, model: Model, codes: Values) -> Words:
    """Shares (K, n) of every class's score minus the first one's, for codes (columns, n) that this party knows."""
    total = np.zeros((model.classes, codes.shape[1]), np.uint64)
    total[1:] = model.prior[:, None]
    for (attribute, cells), table in zip(layout.cells(codes), model.tables, strict=True):
        attribute.asking.add_scores(total[1:], table, cells)
    return total & mask(model.width)
