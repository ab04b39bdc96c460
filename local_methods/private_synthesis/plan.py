"""Which steps are taken, and how much of ε and δ each is given: fixed before the table is looked at."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from mixbayes.privacy.choices import Choice
from mixbayes.privacy.choosing import SURE, coins_alone, normal_deviation
from mixbayes.privacy.coins import Coins
from mixbayes.privacy.loss import Release, Step, delta_of

FIRST = 0.02
"""The share of the counts of the classes, as variances share: steps of normal noise add up by their inverses."""
ONE_SIDED = 1e-3
"""The part of δ that is the probability that all their coins fall to one side, which discloses a row."""
CHOOSING = 1 / 3
"""The share of the choice of pairs in what is left; the paper's."""
FINE = 1 << 20
"""The ε of a choice is a multiple of one part in so many."""
ROUNDED = 1e-12
"""More than a double is away from the fraction that it stands for."""


@dataclass(frozen=True)
class BudgetPlan:
    """So many tables with noise of these coins, and so many pairs of columns drawn by the exponential mechanism."""

    classes: Coins
    """The noise on the counts of the classes."""
    tables: int
    coins: Coins
    choices: int = 0
    choice: Fraction = Fraction(0)
    """The ε of each choice."""

    @property
    def steps(self) -> list[Step]:
        """All that is given away by it."""
        drawn = [self.one_choice for _ in range(self.choices)]
        return [Release(self.classes, 1), Release(self.coins, self.tables), *drawn]

    @property
    def one_choice(self) -> Choice:
        """Rounded up."""
        return Choice(float(self.choice) * (1 + ROUNDED))


@dataclass(frozen=True)
class BudgetPlans:
    """Without pairs of attributes, or with them: which of the two is taken, the noisy number of rows decides.

    Each has half of δ. Every noisy number of rows leads to one of them. So δ is a sum over these numbers, of which one
    part is a part of what δ would be if the first plan were always taken, and the other part of that of the second.
    """

    without_pairs: BudgetPlan | None
    with_pairs: BudgetPlan

    def delta_at(self, epsilon: float) -> float:
        """What is promised, whichever is taken."""
        both = [self.with_pairs] if self.without_pairs is None else [self.without_pairs, self.with_pairs]
        return sum(delta_of(plan.steps, epsilon) for plan in both)


@lru_cache(maxsize=64)
def plans(epsilon: float, delta: float, columns: int, classed: bool) -> BudgetPlans:
    """For so many columns. Without classes there is only the tree of pairs."""
    unit = normal_deviation(epsilon, delta, 1.0)
    fewest = math.log2(1 / (ONE_SIDED * delta))
    classes = coins_alone(lambda coins: coins.deviation >= unit / math.sqrt(FIRST) and sum(coins.counts) >= fewest)
    chosen = _choice(unit, columns - 1)
    if not classed or columns == 1:
        return BudgetPlans(None, _plan(epsilon, delta, classes, 2 * columns - 1, columns - 1, chosen))
    without = _plan(epsilon, delta / 2, classes, columns, 0, Fraction(0))
    return BudgetPlans(without, _plan(epsilon, delta / 2, classes, 2 * columns - 1, columns - 1, chosen))


def _choice(unit: float, choices: int) -> Fraction:
    """Noise of this deviation promises what choices do whose squares of ε add up to four times its inverse square."""
    return Fraction(max(1, math.floor(FINE * 2 / unit * math.sqrt(CHOOSING / max(1, choices)))), FINE)


def _plan(epsilon: float, delta: float, classes: Coins, tables: int, choices: int, choice: Fraction) -> BudgetPlan:
    """With hardly more noise than is enough."""

    def enough(coins: Coins) -> bool:
        return delta_of(BudgetPlan(classes, tables, coins, choices, choice).steps, epsilon) <= delta * (1 - SURE)

    return BudgetPlan(classes, tables, coins_alone(enough), choices, choice)
