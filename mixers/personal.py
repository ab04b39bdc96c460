"""What a mixer has of the hospital that asks: shares of its counts, and the models of its recipes, once trained."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mixbayes.node.model_codec import model_bytes, model_from
from mixbayes.node.questions import Question
from mixbayes.node.rounds.rounds import Rounds
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.model import Model


class Personal:
    """For one hospital. `share` reads this mixer's share of its contribution to a round, fold after fold."""

    def __init__(self, rounds: Rounds, layout: Layout, hospital: str, share: Callable[[int], Words]) -> None:
        self._rounds = rounds
        self._layout = layout
        self._hospital = hospital
        self._share = share

    def kept(self, question: Question) -> tuple[bytes, Model] | None:
        """Which training this mixer's model of the recipe comes from, and the model, if there is one."""
        found = self._rounds.recipe_model(question.round, self._hospital, str(question.recipe))
        return found and (found[0], model_from(found[1]))

    def keep(self, question: Question, run: bytes, model: Model) -> None:
        raw = model_bytes(self._layout, model)
        self._rounds.keep_recipe_model(question.round, self._hospital, str(question.recipe), run, raw)

    def joint(self, number: int) -> Words:
        """This mixer's share of the joint counts of a round, with their noise where it is agreed."""
        return np.frombuffer(self._rounds.counts(number), "<u8").astype(np.uint64)

    def folds(self, number: int) -> Words:
        """This mixer's share of each fold of what the hospital contributed."""
        return self._share(number).reshape(self._layout.terms.folds, self._layout.size)
