"""The four hospitals with recipes: each evaluates them by folds of its own, and takes what that gives it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mixbayes.research.joining.compared import RECIPES, Compared, compared
from mixbayes.research.joining.nested import Effort, nested
from mixbayes.research.joining.tables import Sites
from mixbayes.research.tasks import in_turn
from mixbayes.tables.columns import Columns

FEW = (10, 20, 50)
"""Patients that a hospital has when it begins."""


@dataclass(frozen=True)
class Situation:
    """How numbers are counted, the noise, and how many patients each hospital in turn has to learn from."""

    gaussian: bool
    """Else in five bins, as noise wants it."""
    epsilon: float | None = None
    few: int | None = None
    """None: all of its own."""


@dataclass(frozen=True)
class Recipes:
    """What came of one situation; all hospitals together stand last."""

    situation: Situation
    hospitals: list[Compared]


EXACT, BINNED, NOISY, NOISIER = Situation(True), Situation(False), Situation(False, 4.0), Situation(False, 1.0)
JOINED = (EXACT, BINNED, NOISY, NOISIER)
BEGUN = (*(Situation(True, None, few) for few in FEW), *(Situation(False, 4.0, few) for few in FEW))


def recipes(tables: Mapping[str, Columns], everybody: str, effort: Effort) -> Iterator[Recipes]:
    """Situation after situation."""
    forms = {gaussian: Sites.of(dict(tables), gaussian) for gaussian in (True, False)}
    tasks = ((forms[one.gaussian], one, everybody, effort) for one in (*JOINED, *BEGUN))
    return in_turn(_of, tasks)


def _of(sites: Sites, situation: Situation, everybody: str, effort: Effort) -> Recipes:
    found = nested(sites.patients, RECIPES, situation.epsilon, situation.few, effort)
    return Recipes(situation, compared(found, sites.names, everybody))


def of_situation(all_: Sequence[Recipes], situation: Situation) -> list[Compared]:
    """What came of it."""
    return next(one.hospitals for one in all_ if one.situation == situation)
