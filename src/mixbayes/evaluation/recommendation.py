"""Which recipe a hospital is told to use, and which one it uses if it leaves the choice to its node.

*Recommended* is a recipe only where it is better than the hospital's own classifier by more than chance: the exact
McNemar test at 5 %, divided by the number of recipes that were compared. A few hundred patients seldom show that, so
nothing is recommended most of the time.

*Best* is what the node takes then. Nothing has to be proved for it, but it must not do harm: it is the hospital's own
classifier, unless another recipe is really better with odds of three to one. These odds weigh what the patients show
against what is usual (`Usual`). Its numbers were chosen on tables that `docs/joining.md` names, and judged on others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from mixbayes.evaluation.intervals import mcnemar
from mixbayes.evaluation.opened import Opened
from mixbayes.protocol.bayes.recipe import read_recipe

OWN = "own"
CHANCE = 0.05
SURE_ENOUGH = 0.75
_TWO_SIDED = NormalDist().inv_cdf(0.975)
COMPARED = ("joint", "personal:weight=0:prior=own", "personal:weight=10:prior=own")
"""What is compared with the own classifier unless somebody asks for other recipes; the rule was measured with these."""


@dataclass(frozen=True)
class Usual:
    """Gains in accuracy before any patient is seen: a normal distribution."""

    deviation: float = 0.02
    """Gains are small: of one or two points."""
    patients: float = 0.25
    """A hospital with few patients has a weak classifier of its own. On average others' patients are worth so many
    right labels to it, however few of its own it has; but only with a prior of its own, because joint priors mislead
    the more the fewer patients it has to tell it so."""

    def gain(self, recipe: str, rows: int) -> NormalDist:
        read = read_recipe(recipe)
        head_start = self.patients / rows if rows and read.personal and read.prior == "own" else 0.0
        return NormalDist(head_start, self.deviation)


USUAL = Usual()


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

    def expected(self, usual: Usual = USUAL) -> NormalDist:
        """The real gain, by what these patients show and what is usual."""
        before = usual.gain(self.recipe, self.rows)
        if not self.rows:
            return before
        weight = before.variance / (before.variance + self.error**2)
        return NormalDist(weight * self.gain + (1 - weight) * before.mean, self.error * sqrt(weight))

    def odds(self, usual: Usual = USUAL) -> float:
        """The probability that the recipe is really better than the own classifier."""
        return 1 - self.expected(usual).cdf(0)

    @property
    def interval(self) -> tuple[float, float]:
        """Of the gain in points, 95 %: paired (Agresti and Min 2005), one patient added to either side of each pair."""
        rows = self.rows + 2
        up, down = (self.only_this_right + 0.5) / rows, (self.only_own_right + 0.5) / rows
        reach = _TWO_SIDED * sqrt((up + down - (up - down) ** 2) / rows)
        return 100 * max(-1.0, up - down - reach), 100 * min(1.0, up - down + reach)


@dataclass(frozen=True)
class Recommendation:
    """What a hospital is told."""

    recipe: str | None
    """None where these patients show no difference that is more than chance."""
    best: str
    """What the node takes if it is to choose."""
    why: str


def recommend(recipes: Sequence[Difference]) -> Recommendation:
    """From all recipes that were compared with the own classifier."""
    found = [one for one in recipes if one.recipe != OWN]
    shown = [one for one in found if one.p * len(found) < CHANCE]
    better = [one for one in shown if one.gain > 0]
    if better:
        best = max(better, key=lambda one: one.gain)
        return Recommendation(
            best.recipe, best.recipe, f"{_counted(best)} That is more than chance (p = {best.p:.2g})."
        )
    if found and len(shown) == len(found):
        return Recommendation(OWN, OWN, f"{_counted(max(found, key=lambda one: one.gain))} {_ALL_WORSE}")
    if probable := likely(found):
        return Recommendation(None, probable.recipe, f"{_counted(probable)} {_likely(probable)}")
    return Recommendation(None, OWN, _NOTHING)


def likely(found: Sequence[Difference], sure: float = SURE_ENOUGH, usual: Usual = USUAL) -> Difference | None:
    """Of the recipes that are so surely better than the own classifier, the one that promises most."""
    enough = [one for one in found if one.odds(usual) >= sure]
    return max(enough, key=lambda one: one.expected(usual).mean, default=None)


_ALL_WORSE = "The own classifier is better than each of the others by more than chance."
_NOTHING = (
    "No recipe is better than the own classifier by more than chance. With so many patients a gain, or a loss, may "
    "stay unseen. `best` is the own classifier."
)


def _likely(one: Difference) -> str:
    return (
        f"That may be chance, so nothing is recommended. `best` is this recipe: with a probability of {one.odds():.0%} "
        "it is better than the own classifier. This estimate takes these patients together with what was found on "
        "other tables; with few patients it rests mainly on those."
    )


def _counted(one: Difference) -> str:
    return (
        f"Of {one.rows} patients {one.only_this_right} are labelled rightly by {one.recipe} alone, and "
        f"{one.only_own_right} by the own classifier alone."
    )
