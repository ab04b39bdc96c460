"""Models of all recipes from counts, in floating point and many at once.

They are what `protocol/bayes/reference.py` makes of the same counts, up to the rounding of fixed point. Every model is
a number for each class, and a number for each sum and class (`research/noise/patients.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixbayes.protocol.bayes.recipe import Recipe
from mixbayes.research.noise.patients import Floats, Sums
from mixbayes.research.noise.rules import NEVER, PLAIN, PROTOCOL, Maker, Model


@dataclass(frozen=True, eq=False)
class Counted:
    """Class counts (..., K) and sums (..., S, K) of some patients, or of N~."""

    of_class: Floats
    sums: Floats

    def __add__(self, other: Counted) -> Counted:
        return Counted(self.of_class + other.of_class, self.sums + other.sums)

    def __sub__(self, other: Counted) -> Counted:
        return self + other.times(-1)

    def times(self, factor: float) -> Counted:
        return Counted(factor * self.of_class, factor * self.sums)

    def part(self, which: slice) -> Counted:
        """Of several, these."""
        return Counted(self.of_class[which], self.sums[which])

    def whole(self) -> Counted:
        """All of several together, as one."""
        return Counted(self.of_class.sum(0, keepdims=True), self.sums.sum(0, keepdims=True))


@dataclass(frozen=True, eq=False)
class Makers:
    """Makes models of the counts of one kind of table, where the noise on N~ has this standard deviation."""

    sums: Sums
    deviation: float = 0.0

    def models(self, recipes: Sequence[Recipe], joint: Counted, own: Counted) -> Model:
        """Of every recipe, in their order: (models, recipes, ...) from counts (models, ...)."""
        found = [self._model(recipe, joint, own) for recipe in recipes]
        return Model(np.stack([one.prior for one in found], 1), np.stack([one.words for one in found], 1))

    def _model(self, recipe: Recipe, joint: Counted, own: Counted) -> Model:
        if recipe.base == "own":
            return Maker(self.sums, PLAIN, 0.0).model(own.of_class, own.sums)
        mixed = joint + own.times(recipe.weight)
        model = self._of_joint(mixed)
        if not recipe.prior_apart:
            return model
        if recipe.prior == "joint":
            return Model(self._of_joint(joint).prior, model.words)
        prior = np.log(np.maximum(own.of_class, 0.5))
        return Model(np.where(model.prior > NEVER, prior, NEVER), model.words)

    def _of_joint(self, counted: Counted) -> Model:
        maker = Maker(self.sums, PROTOCOL if self.deviation else PLAIN, self.deviation)
        return maker.model(counted.of_class, counted.sums)
