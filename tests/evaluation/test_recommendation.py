"""A recipe is recommended only where it is better by more than chance, and chosen only where it is likely to help."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.evaluation.recommendation import CHANCE, OWN, Difference, recommend

SOME = st.integers(0, 40)
PERSONAL = "personal:weight=10:prior=own"


def beside_own(better: int, worse: int, recipe: str = "joint", same: int = 240) -> Difference:
    """Patients whom the recipe alone is right about, whom the own classifier alone, and about whom both are alike."""
    return Difference(recipe, better + worse + same, worse, better)


@pytest.mark.parametrize(("better", "worse"), [(10, 1), (30, 10)])
def test_more_than_chance_is_recommended(better: int, worse: int) -> None:
    found = recommend([beside_own(better, worse)])
    assert (found.recipe, found.best) == ("joint", "joint")
    assert f"{better} are labelled rightly by joint alone, and {worse} by the own classifier alone" in found.why


@pytest.mark.parametrize(("better", "worse"), [(0, 0), (5, 5), (4, 3), (2, 8), (0, 4)])
def test_nothing_to_show(better: int, worse: int) -> None:
    found = recommend([beside_own(better, worse)])
    assert (found.recipe, found.best) == (None, OWN)
    assert "may stay unseen" in found.why


def test_likely_but_not_shown() -> None:
    found = recommend([beside_own(8, 3)])
    assert (found.recipe, found.best) == (None, "joint")
    assert "may be chance" in found.why
    assert f"{beside_own(8, 3).odds():.0%}" in found.why


@pytest.mark.parametrize(("better", "worse"), [(0, 0), (8, 3), (3, 8), (40, 10), (125, 0)])
def test_the_interval_of_a_difference_holds_it_and_is_that_of_agresti_and_min(better: int, worse: int) -> None:
    one = beside_own(better, worse)
    low, high = one.interval
    assert -100 <= low <= one.points <= high <= 100
    rows = one.rows + 2
    up, down = (better + 0.5) / rows, (worse + 0.5) / rows
    reach = 1.959964 * (((up + down) - (up - down) ** 2) / rows) ** 0.5
    assert (low, high) == pytest.approx((100 * (up - down - reach), 100 * (up - down + reach)))
    turned = beside_own(worse, better).interval
    assert (low, high) == pytest.approx((-turned[1], -turned[0]))


def test_own_where_all_others_are_worse() -> None:
    worse, much = beside_own(2, 20, "joint"), beside_own(0, 30, PERSONAL)
    assert recommend([worse, much]).recipe == OWN
    assert recommend([worse, beside_own(3, 3, PERSONAL)]).recipe is None


def test_the_largest_gain_wins() -> None:
    small, large = beside_own(12, 1, PERSONAL), beside_own(20, 1)
    assert recommend([small, large]).recipe == recommend([large, small]).recipe == "joint"


def test_nothing_was_compared() -> None:
    assert recommend([]).recipe is None
    assert recommend([beside_own(0, 30, OWN)]).best == OWN


def test_more_recipes_need_more_proof() -> None:
    """What one of many shows by luck is no proof."""
    lucky = beside_own(9, 1)
    assert lucky.p < CHANCE
    assert recommend([lucky]).recipe == "joint"
    assert recommend([lucky, *(beside_own(3, 3, f"personal:weight={w}:prior=own") for w in range(3))]).recipe is None


@given(SOME, SOME)
def test_a_gain_counts_the_more_the_more_patients_show_it(better: int, worse: int) -> None:
    few, many = Difference("joint", 200, worse, better), Difference("joint", 2000, 10 * worse, 10 * better)
    assert few.gain == many.gain
    assert abs(few.expected().mean) <= abs(many.expected().mean) <= abs(many.gain)
    assert few.expected().stdev > many.expected().stdev


@given(SOME, SOME)
def test_better_and_worse_are_treated_alike(better: int, worse: int) -> None:
    one, other = Difference("joint", 300, worse, better).expected(), Difference("joint", 300, better, worse).expected()
    assert one.mean == pytest.approx(-other.mean)
    assert one.stdev == pytest.approx(other.stdev)


@pytest.mark.parametrize(("rows", "best"), [(10, PERSONAL), (300, OWN)])
def test_a_hospital_with_few_patients_joins_on_trust(rows: int, best: str) -> None:
    """If it has too few to show anything."""
    assert recommend([Difference(name, rows, 0, 0) for name in ("joint", PERSONAL)]).best == best


def test_nobody_trusts_a_joint_prior() -> None:
    assert recommend([Difference("joint", 10, 0, 0)]).best == OWN
    assert recommend([Difference("personal:weight=10:prior=mixed", 10, 0, 0)]).best == OWN


def test_no_patients() -> None:
    assert recommend([Difference(name, 0, 0, 0) for name in ("joint", PERSONAL)]).best == OWN


def test_chance_alone_is_seldom_recommended() -> None:
    """Three equally good recipes, a thousand times: no more than one evaluation in forty."""
    random = np.random.default_rng(0)
    found = []
    for _ in range(1000):
        heads = random.binomial(20, 0.5, 3).tolist()
        one = recommend([beside_own(h, 20 - h, f"personal:weight={at}:prior=own") for at, h in enumerate(heads)])
        found.append(one.recipe not in (None, OWN))
    assert np.mean(found) <= CHANCE / 2
