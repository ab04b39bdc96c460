"""A recipe is recommended only where it is better by more than chance, and chosen only where it is likely to help."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.evaluation.opened import Opened
from mixbayes.evaluation.recommendation import CHANCE, OWN, Difference, recommend

SOME = st.integers(0, 40)


def beside_own(better: int, worse: int, recipe: str = "joint", both: int = 200, neither: int = 40) -> Opened:
    """One class; patients whom the recipe alone is right about, and the own classifier alone."""
    counts = np.zeros((4, 2), np.int64)
    counts[0], counts[1] = [better, neither], [both, worse]
    return Opened(recipe, counts)


@pytest.mark.parametrize(("better", "worse"), [(10, 1), (30, 10)])
def test_more_than_chance_is_recommended(better: int, worse: int) -> None:
    found = recommend([beside_own(better, worse)])
    assert (found.recipe, found.best) == ("joint", "joint")
    assert f"labels {better} rightly" in found.why


@pytest.mark.parametrize(("better", "worse"), [(0, 0), (5, 5), (4, 3), (2, 8), (0, 4)])
def test_nothing_to_show(better: int, worse: int) -> None:
    found = recommend([beside_own(better, worse)])
    assert (found.recipe, found.best) == (None, OWN)
    assert "joining brings nothing" in found.why


def test_likely_but_not_shown() -> None:
    found = recommend([beside_own(8, 3)])
    assert (found.recipe, found.best) == (None, "joint")
    assert "can be chance" in found.why


def test_own_where_all_others_are_worse() -> None:
    worse, much = beside_own(2, 20, "joint"), beside_own(0, 30, "personal:weight=10:prior=own")
    assert recommend([worse, much]).recipe == OWN
    assert recommend([worse, beside_own(3, 3, "personal:weight=10:prior=own")]).recipe is None


def test_the_largest_gain_wins() -> None:
    small, large = beside_own(12, 1, "personal:weight=10:prior=own"), beside_own(20, 1)
    assert recommend([small, large]).recipe == recommend([large, small]).recipe == "joint"


def test_nothing_was_compared() -> None:
    assert recommend([]).recipe is None
    assert recommend([beside_own(0, 30, OWN)]).best == OWN


def test_more_recipes_need_more_proof() -> None:
    """What one of many shows by luck is no proof."""
    lucky = beside_own(9, 1)
    assert Difference.of(lucky).p < CHANCE
    assert recommend([lucky]).recipe == "joint"
    assert recommend([lucky, *(beside_own(3, 3, f"personal:weight={w}:prior=own") for w in range(3))]).recipe is None


@given(st.integers(0, 2**32 - 1))
def test_a_gain_counts_the_more_the_more_patients_show_it(seed: int) -> None:
    better, worse = sorted(np.random.default_rng(seed).integers(0, 20, 2).tolist(), reverse=True)
    few = Difference("joint", 200, worse, better)
    many = Difference("joint", 2000, 10 * worse, 10 * better)
    assert few.gain == many.gain
    assert abs(few.shrunk) <= abs(many.shrunk) <= abs(many.gain)
    assert few.sure <= many.sure + 1e-12


@given(SOME, SOME)
def test_better_and_worse_are_treated_alike(better: int, worse: int) -> None:
    one, other = Difference("joint", 300, worse, better), Difference("joint", 300, better, worse)
    assert one.sure == pytest.approx(1 - other.sure)
    assert one.shrunk == pytest.approx(-other.shrunk)


def test_chance_alone_is_seldom_recommended() -> None:
    """Three equally good recipes, a thousand times: no more than one evaluation in forty."""
    random = np.random.default_rng(0)
    found = []
    for _ in range(1000):
        heads = random.binomial(20, 0.5, 3).tolist()
        one = recommend([beside_own(h, 20 - h, f"personal:weight={at}:prior=own") for at, h in enumerate(heads)])
        found.append(one.recipe not in (None, OWN))
    assert np.mean(found) <= CHANCE / 2
