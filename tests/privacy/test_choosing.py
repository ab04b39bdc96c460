"""Chosen coins keep the promise against one who lies, are few, and need hardly more noise than there must be."""

from __future__ import annotations

import math
from functools import partial

import pytest

from mixbayes.privacy.checking import escaping
from mixbayes.privacy.choosing import coins_alone, coins_for, normal_delta, normal_deviation
from mixbayes.privacy.coins import Coins
from mixbayes.privacy.loss import Losses, Release, delta_of


def is_enough(epsilon: float, delta: float, coordinates: int, coins: Coins) -> bool:
    """If nobody knows a coin."""
    return delta_of([Release(coins, coordinates)], epsilon) <= delta


@pytest.mark.parametrize(
    ("epsilon", "delta", "coordinates", "numbers", "most", "dearer"),
    [
        (0.5, 1e-6, 14, 106, 72, 1.08),
        (1.0, 1e-6, 14, 106, 38, 1.08),
        (2.0, 1e-6, 14, 106, 34, 1.1),
        (4.0, 1e-6, 14, 106, 32, 1.1),
        (8.0, 1e-6, 14, 106, 30, 1.08),
        (20.0, 1e-5, 2, 4, 24, 1.1),
        (20.0, 1e-12, 2, 9, 50, 1.1),
        (2.0, 1e-9, 101, 5000, 50, 1.1),
    ],
)
def test_chosen_coins_keep_the_promise_and_are_few(
    epsilon: float, delta: float, coordinates: int, numbers: int, most: int, dearer: float
) -> None:
    coins = coins_for(epsilon, delta, coordinates, numbers)
    assert delta_of([Release(coins, coordinates, numbers)], epsilon) <= delta
    assert sum(coins.counts) <= most
    least = coins_alone(partial(is_enough, epsilon, delta, coordinates)).deviation
    assert least < coins.deviation <= dearer * least


@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 4, 8, 20, 30, 50, 70, 80, 95, 100])
@pytest.mark.parametrize(("coordinates", "numbers"), [(1, 4), (20, 102), (40, 400), (60, 244), (1000, 5000)])
def test_there_is_noise_for_every_epsilon_and_number_of_coordinates(
    epsilon: float, coordinates: int, numbers: int
) -> None:
    coins = coins_for(epsilon, 1e-6, coordinates, numbers)
    assert escaping(coins, numbers) <= 0.2e-6
    assert sum(coins.counts) <= 90
    assert delta_of([Release(coins, coordinates, numbers)], epsilon) <= 1e-6


@pytest.mark.parametrize("delta", [1e-3, 1e-9, 1e-12])
@pytest.mark.parametrize(("epsilon", "coordinates", "numbers"), [(1, 14, 106), (2, 5000, 30_000), (30, 20, 42)])
def test_and_for_every_delta(delta: float, epsilon: float, coordinates: int, numbers: int) -> None:
    coins = coins_for(epsilon, delta, coordinates, numbers)
    assert delta_of([Release(coins, coordinates, numbers)], epsilon) <= delta


@pytest.mark.parametrize(("epsilon", "coordinates", "numbers"), [(1, 14, 106), (2, 40, 500)])
def test_no_coin_can_be_taken_away(epsilon: float, coordinates: int, numbers: int) -> None:
    coins = coins_for(epsilon, 1e-6, coordinates, numbers)
    for place, count in enumerate(coins.counts):
        fewer = list(coins.counts)
        fewer[place] = count - (1 if place else 2)
        without = Release(Coins(tuple(fewer), coins.known), coordinates, numbers)
        assert delta_of([without], epsilon) > 0.99e-6


def test_what_the_search_overlooks_is_found_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Losses, "roughly", lambda coins, _: Losses.of(Coins(coins.counts)))
    coins = coins_for(1, 1e-6, 14, 106)
    assert coins.known > 0
    assert delta_of([Release(coins, 14, 106)], 1) <= 1e-6


def test_the_same_coins_are_chosen_again() -> None:
    assert coins_for(4, 1e-6, 14, 106) == coins_for(4, 1e-6, 14, 106)


def test_the_least_noise_of_coins_of_weight_one() -> None:
    (count,) = coins_alone(partial(is_enough, 1, 1e-6, 14)).counts
    enough, fewer = (delta_of([Release(Coins((number,)), 14)], 1) for number in (count, count - 2))
    assert enough <= 1e-6 < fewer * (1 + 1e-5)


def test_normal_noise_is_that_of_balle_and_wang() -> None:
    assert normal_deviation(1, 1e-6, math.sqrt(14)) == pytest.approx(15.81, abs=0.005)
    assert normal_delta(1, normal_deviation(1, 1e-6, 3) / 3) == pytest.approx(1e-6, rel=1e-6)


@pytest.mark.parametrize(
    "asked", [(0, 1e-6, 1, 2), (1, 0, 1, 2), (1, 1, 1, 2), (1, 1e-6, 0, 2), (math.inf, 1e-6, 1, 2), (1, 1e-6, 3, 2)]
)
def test_what_has_no_meaning_is_refused(asked: tuple[float, float, int, int]) -> None:
    with pytest.raises(ValueError, match="above zero"):
        coins_for(*asked)


@pytest.mark.parametrize("asked", [(1e-5, 1e-12, 5000, 10_000), (1, 1e-19, 10, 20)])
def test_what_no_coins_can_keep_is_refused(asked: tuple[float, float, int, int]) -> None:
    with pytest.raises(ValueError, match="no noise of 12 weights"):
        coins_for(*asked)
