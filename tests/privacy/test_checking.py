"""How often a liar escapes: never more often than the bound says, in the exact game and in one that is played."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise
from math import comb

import numpy as np
import pytest

from mixbayes.privacy.checking import FEWEST, TIMES, escape_of, escape_of_most, escaping, tosses
from mixbayes.privacy.coins import Coins


def escapes(bad: int, slots: int, numbers: int, tossed: int, known: int) -> Fraction:
    """Exactly, by every set of places where bad coins can lie: it passes with 1/2 for each that is opened."""
    found = Fraction(0)
    for places in combinations(range(tossed), bad):
        of_number = [place // slots for place in places]
        if any(of_number.count(number) > known for number in range(numbers)):
            found += Fraction(1, 2 ** sum(number >= numbers for number in of_number))
    return found / comb(tossed, bad)


@pytest.mark.parametrize(
    ("slots", "numbers", "tossed", "known"), [(3, 1, 12, 1), (2, 2, 16, 1), (3, 2, 13, 2), (4, 2, 14, 2), (2, 3, 9, 1)]
)
def test_no_number_of_bad_coins_escapes_more_often_than_the_bound(
    slots: int, numbers: int, tossed: int, known: int
) -> None:
    most = escape_of_most(slots, numbers, tossed, known)
    for bad in range(min(tossed, 8) + 1):
        bound = escape_of(bad, slots, numbers, tossed, known)
        assert escapes(bad, slots, numbers, tossed, known) <= bound <= most


def test_the_bound_is_tight_where_no_bad_coin_too_many_is_tossed() -> None:
    """All bad coins must then fall into one number, and only these sets are counted."""
    assert escapes(3, 4, 2, 13, 2) == escape_of(3, 4, 2, 13, 2) == 2 * Fraction(comb(4, 3), comb(13, 3))


@pytest.mark.parametrize(
    ("slots", "numbers", "known"), [(40, 212, 3), (40, 5000, 2), (30, 4, 3), (60, 26, 4), (1, 1, 0)]
)
def test_the_bound_is_largest_where_it_is_said_to_be(slots: int, numbers: int, known: int) -> None:
    tossed = max(TIMES * slots * numbers, FEWEST)
    bounds = [escape_of(bad, slots, numbers, tossed, known) for bad in range(60)]
    assert max(bounds) == escape_of_most(slots, numbers, tossed, known)


def test_the_bound_in_floats_is_not_below() -> None:
    for known in range(7):
        coins = Coins((6, 6, 10, 15), known)
        for numbers in (26, 106, 212, 5000):
            bound = min(Fraction(1), escape_of_most(37, numbers, tosses(coins, numbers), known))
            assert bound <= escaping(coins, numbers) <= bound * (1 + Fraction(1, 10**15))
    assert escaping(Coins((4,), known=1), 10**9) <= 1


def test_coins_are_tossed_for_many_numbers_and_for_few() -> None:
    coins = Coins((4, 4, 24), known=3)
    assert tosses(coins, 1) == tosses(coins, 512) == 1 << 15
    assert tosses(coins, 1000) == 64_000


def test_one_more_that_may_be_known_lets_fewer_escape() -> None:
    bounds = [escaping(Coins((6, 6, 10, 15), known), 212) for known in range(7)]
    assert all(0 < after < before / 50 for before, after in pairwise(bounds[1:]))
    assert bounds[3] == pytest.approx(3.5e-9, rel=0.1)


def played(bad: int, slots: int, numbers: int, tossed: int, known: int, games: int) -> float:
    """The share of games in which a liar escapes: a permutation, guesses of the honest bits, a count."""
    random, won = np.random.default_rng(7), 0
    for _ in range(games):
        order = random.permutation(tossed)
        is_bad = order < bad
        kept = is_bad[: slots * numbers].reshape(numbers, slots).sum(axis=1)
        opened = int(is_bad[slots * numbers :].sum())
        guessed, bits = random.integers(0, 2, (2, opened))
        won += bool((guessed == bits).all() and kept.max() > known)
    return won / games


@pytest.mark.parametrize(("slots", "numbers", "tossed", "known"), [(6, 5, 120, 1), (8, 3, 96, 2)])
def test_liars_of_the_best_number_of_bad_coins_stay_below_the_bound(
    slots: int, numbers: int, tossed: int, known: int
) -> None:
    bounds = {bad: escape_of(bad, slots, numbers, tossed, known) for bad in range(known + 1, 20)}
    best = max(bounds, key=lambda bad: bounds[bad])
    share = played(best, slots, numbers, tossed, known, 20_000)
    assert 0.5 * bounds[best] < share < bounds[best]  # the bound is not far above either
