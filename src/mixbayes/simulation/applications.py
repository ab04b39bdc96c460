"""What the hospitals' applications have done in a simulation, each by its hospital's own node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial

import numpy as np

from mixbayes.agreement.agreement import Federation
from mixbayes.evaluation.document import Evaluation, Table, document
from mixbayes.evaluation.opened import of_totals
from mixbayes.node.identity import Identity
from mixbayes.node.log import logger
from mixbayes.parties.applications import BEST
from mixbayes.parties.desk import AtOwnNode, at_own_node
from mixbayes.protocol.bayes.recipe import JOINT, Recipe, read_recipe
from mixbayes.simulation.by_recipe import Asked, Labels
from mixbayes.simulation.prepared import Prepared, Progress
from mixbayes.simulation.stage import Stage

JUDGED, CLASSIFIED = "classifiers judged", "rows classified"
Desks = Mapping[str, AtOwnNode]
"""By what the user calls the hospitals. The first hospital's is the first one."""


@contextmanager
def applications(set_up: Stage, hospitals: Sequence[str]) -> Iterator[Desks]:
    """One of each of these hospitals."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(application(set_up, set_up.names[name])) for name in hospitals}


@contextmanager
def application(set_up: Stage, node: str) -> Iterator[AtOwnNode]:
    """It asks its hospital's node on loopback, with the hospital's own keys."""
    identity = Identity(set_up.keys(node), node, logger("simulation"))
    with at_own_node(set_up.federation, identity, set_up.keys(node)) as desk:
        yield desk


def evaluated(
    federation: Federation, desks: Desks, recipes: Sequence[Recipe], progress: Progress
) -> dict[str, Evaluation]:
    """Every hospital judges these recipes by its own patients, and remembers the best one."""
    dictionary = federation.dictionary
    table = Table(dictionary.classes, dictionary.class_column, dictionary.names, federation.policy.folds)
    found, done, total = {}, 0, len(desks) * (len(recipes) + 1)
    progress(JUDGED, 0, total)
    for name, desk in desks.items():
        opened = []
        for recipe, totals, _ in desk.evaluate(recipes):
            opened.append(of_totals(str(recipe), totals))
            progress(JUDGED, done := done + 1, total)
        found[name] = document(name, table, opened[0], opened[1:])
        desk.remember_best(read_recipe(found[name].recommendation.best))
    return found


def all_by_the_first(desks: Desks, prepared: Prepared, private: bool, progress: Progress) -> Labels:
    """The first hospital asks about all rows, by the joint classifier."""
    rows = prepared.questions.rows
    return next(iter(desks.values())).labels(
        prepared.codes,
        prepared.questions,
        private=private,
        progress=lambda done: progress(CLASSIFIED, done, rows),
    )


def each_by_recipe(
    desks: Desks, prepared: Prepared, recipe: str, private: bool, progress: Progress
) -> dict[str, Asked]:
    """Every hospital asks about its own rows by the recipe, and by the joint classifier, to compare."""
    rows, before = 2 * prepared.questions.rows, 0
    found = {}
    for name, part in prepared.parts.items():
        own = _Question(prepared, part, private)
        found[name] = own.asked(desks[name], recipe, partial(_told, progress, before, rows))
        before += 2 * own.rows.rows
    return found


def _told(progress: Progress, before: int, total: int, done: int) -> None:
    progress(CLASSIFIED, before + done, total)


class _Question:
    """One hospital's own rows."""

    def __init__(self, prepared: Prepared, part: slice, private: bool) -> None:
        self.rows = prepared.questions.take(np.arange(part.start, part.stop))
        self._codes = prepared.codes[:, part]
        self._private = private

    def asked(self, desk: AtOwnNode, recipe: str, told: Callable[[int], None]) -> Asked:
        named = read_recipe(desk.best() if recipe == BEST else recipe)
        labels = self._labels(desk, recipe, told)
        joint = labels
        if named != JOINT:
            joint = self._labels(desk, str(JOINT), lambda done: told(self.rows.rows + done))
        told(2 * self.rows.rows)
        return Asked(named, labels, joint)

    def _labels(self, desk: AtOwnNode, recipe: str, told: Callable[[int], None]) -> Labels:
        return desk.labels(self._codes, self.rows, private=self._private, progress=told, recipe=recipe)
