"""Chosen coins keep the promise, are hardly more than the least noise, and as few as figures found elsewhere."""

from __future__ import annotations

import math

import pytest

from mixbayes.privacy.choosing import DEARER, coins_for, least_deviation, normal_delta, normal_deviation
from mixbayes.privacy.coins import Coins
from mixbayes.privacy.loss import Release, delta_of


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("epsilon", "delta", "coordinates", "most"),
    [
        (1.0, 1e-6, 14, 32),
        (4.0, 1e-6, 14, 30),
        (8.0, 1e-6, 14, 30),
        (20.0, 1e-5, 2, 18),
        (20.0, 1e-12, 2, 44),
        (2.0, 1e-9, 101, 60),
    ],
)
def test_chosen_coins_keep_the_promise_and_are_few(epsilon: float, delta: float, coordinates: int, most: int) -> None:
    coins = coins_for(epsilon, delta, coordinates)
    assert delta_of([Release(coins, coordinates)], epsilon) <= delta
    assert coins.deviation <= DEARER * least_deviation(epsilon, delta, coordinates) + 1e-9
    assert sum(coins.counts) <= most


def test_the_same_coins_are_chosen_again() -> None:
    assert coins_for(4, 1e-6, 14) == coins_for(4, 1e-6, 14)


def test_the_least_noise_of_coins_of_weight_one() -> None:
    count = round(4 * least_deviation(1, 1e-6, 14) ** 2)
    enough, fewer = (delta_of([Release(Coins((number,)), 14)], 1) for number in (count, count - 2))
    assert enough <= 1e-6 < fewer * (1 + 1e-5)


def test_normal_noise_is_that_of_balle_and_wang() -> None:
    assert normal_deviation(1, 1e-6, math.sqrt(14)) == pytest.approx(15.81, abs=0.005)
    assert normal_delta(1, normal_deviation(1, 1e-6, 3) / 3) == pytest.approx(1e-6, rel=1e-6)


@pytest.mark.parametrize("asked", [(0, 1e-6, 1), (1, 0, 1), (1, 1, 1), (1, 1e-6, 0), (math.inf, 1e-6, 1)])
def test_what_has_no_meaning_is_refused(asked: tuple[float, float, int]) -> None:
    with pytest.raises(ValueError, match="above zero"):
        coins_for(*asked)


def test_what_no_coins_can_keep_is_refused() -> None:
    with pytest.raises(ValueError, match="no noise of 12 weights"):
        coins_for(1e-4, 1e-12, 5000)
