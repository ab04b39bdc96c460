"""Which recipe a hospital is told to use: one that is better than its own classifier by more than chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mixbayes.evaluation.intervals import mcnemar
from mixbayes.evaluation.opened import Opened

OWN = "own"
CHANCE = 0.05


@dataclass(frozen=True)
class Difference:
    """A recipe beside the own classifier, on the same patients."""

    recipe: str
    rows: int
    only_own_right: int
    only_this_right: int

    @classmethod
    def of(cls, one: Opened) -> Difference:
        this_alone, both = one.right.tolist()
        own_alone = int(one.by_own[:, 1].sum()) - both
        return cls(one.recipe, int(one.counts.sum()), own_alone, this_alone)

    @property
    def points(self) -> float:
        """Of accuracy."""
        return 100 * (self.only_this_right - self.only_own_right) / self.rows if self.rows else 0.0

    @property
    def p(self) -> float:
        """How probable so large a difference is by chance."""
        return mcnemar(self.only_own_right, self.only_this_right)


@dataclass(frozen=True)
class Recommendation:
    """A recipe, or None where these patients can show no difference; and why."""

    recipe: str | None
    why: str


def recommend(recipes: Sequence[Opened]) -> Recommendation:
    """Among those that are better by more than chance the one that gains most."""
    found = [Difference.of(one) for one in recipes]
    shown = [one for one in found if one.p < CHANCE]
    best = max(shown, key=lambda one: one.points, default=None)
    if best and best.points > 0:
        return Recommendation(best.recipe, f"{_said(best)}; chance alone seldom does that.")
    if found and len(shown) == len(found):
        return Recommendation(OWN, "Every other recipe is behind the own classifier by more than chance.")
    return Recommendation(
        None, "These patients show no recipe that is better than the own classifier by more than chance."
    )


def _said(one: Difference) -> str:
    return (
        f"Of {one.rows} patients {one.recipe} labels {one.only_this_right} rightly whom the own classifier does not, "
        f"and {one.only_own_right} wrongly whom it does not"
    )
