"""Which recipe a hospital is told to use, and which one it uses if it leaves the choice to its node.

*Recommended* is a recipe only where it is better than the hospital's own classifier by more than chance: the exact
McNemar test at 5 %, divided by the number of recipes that were compared. A few hundred patients seldom show that, so
nothing is recommended most of the time.

*Best* is what the node takes then. Nothing has to be proved for it, but it must not do harm: the hospital's own
classifier, unless another recipe is really better with odds of three to one. These odds take it as known that real
gains are small: before any patient is seen, a gain is a normal number around zero with a standard deviation of two
points. Both numbers were chosen on tables that `docs/joining.md` names, and judged on others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from mixbayes.evaluation.intervals import mcnemar
from mixbayes.evaluation.opened import Opened

OWN = "own"
CHANCE = 0.05
USUAL_GAIN = 0.02
"""The standard deviation of gains in accuracy, of recipes at hospitals."""
SURE_ENOUGH = 0.75
COMPARED = ("joint", "personal:weight=0:prior=own", "personal:weight=10:prior=own")
"""What is compared with the own classifier unless somebody asks for other recipes; the rule was measured with these."""


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
    def gain(self) -> float:
        """Of accuracy."""
        return (self.only_this_right - self.only_own_right) / self.rows if self.rows else 0.0

    @property
    def points(self) -> float:
        return 100 * self.gain

    @property
    def p(self) -> float:
        """How probable so large a difference is by chance."""
        return mcnemar(self.only_own_right, self.only_this_right)

    @property
    def error(self) -> float:
        """The standard error of the gain. Of those who make a difference one more is counted, so it is never zero."""
        differ = self.only_own_right + self.only_this_right + 1
        return sqrt(differ - self.rows * self.gain**2) / self.rows

    @property
    def shrunk(self) -> float:
        """The gain that is to be expected of new patients."""
        return self.gain * self._weight if self.rows else 0.0

    @property
    def sure(self) -> float:
        """How probable it is that the recipe is really better."""
        if not self.rows:
            return 0.5
        return NormalDist().cdf(self.shrunk / (self.error * sqrt(self._weight)))

    @property
    def _weight(self) -> float:
        """Of what these patients show, against what is usual."""
        return USUAL_GAIN**2 / (USUAL_GAIN**2 + self.error**2)


@dataclass(frozen=True)
class Recommendation:
    """What a hospital is told."""

    recipe: str | None
    """None where these patients show no difference that is more than chance."""
    best: str
    """What the node takes if it is to choose."""
    why: str


def recommend(recipes: Sequence[Opened]) -> Recommendation:
    """From the counts of all recipes that were compared with the own classifier."""
    found = [Difference.of(one) for one in recipes if one.recipe != OWN]
    shown = [one for one in found if one.p * len(found) < CHANCE]
    better = [one for one in shown if one.gain > 0]
    if better:
        best = max(better, key=lambda one: one.gain)
        return Recommendation(best.recipe, best.recipe, f"{_counted(best)} Chance alone would hardly do that.")
    if found and len(shown) == len(found):
        return Recommendation(OWN, OWN, f"{_counted(max(found, key=lambda one: one.gain))} {_ALL_WORSE}")
    likely = [one for one in found if one.sure >= SURE_ENOUGH]
    if likely:
        best = max(likely, key=lambda one: one.shrunk)
        return Recommendation(None, best.recipe, f"{_counted(best)} {_LIKELY}")
    return Recommendation(None, OWN, _NOTHING)


_ALL_WORSE = "The own classifier is better than each of the others by more than chance."
_LIKELY = (
    "That can be chance, so nothing is recommended; `best` takes it, because it is more likely to help than to harm."
)
_NOTHING = (
    "No recipe is better than the own classifier by more than chance: joining brings nothing for these patients that "
    "they can show. `best` keeps the own classifier."
)


def _counted(one: Difference) -> str:
    return (
        f"Of {one.rows} patients {one.recipe} labels {one.only_this_right} rightly whom the own classifier labels "
        f"wrongly, and the own classifier {one.only_own_right} whom {one.recipe} does not label rightly."
    )
