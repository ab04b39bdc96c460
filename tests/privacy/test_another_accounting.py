"""The accounting against Google's library dp-accounting, which knows only the law of one coordinate from us."""

from __future__ import annotations

import math

import numpy as np
import pytest
from dp_accounting.pld.pld_pmf import create_pmf_pessimistic_connect_dots
from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

from mixbayes.privacy.choosing import normal_deviation
from mixbayes.privacy.coins import Coins
from mixbayes.privacy.loss import Release, delta_of, epsilon_of
from tests.privacy.privately import hockey_stick

STEP = 1e-4


def library(coins: Coins, coordinates: int) -> PrivacyLossDistribution:
    """One coordinate by its δ at every point of a grid, composed."""
    law = coins.distribution()
    p, q = np.pad(law, (1, 0)), np.pad(law, (0, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        losses = np.log(p) - np.log(q)
    common = np.abs(losses[(p > 1e-40) & (q > 1e-40)]).max()
    places = np.arange(-int(common / STEP) - 2, int(common / STEP) + 3)
    deltas = np.array([hockey_stick(p, q, epsilon) for epsilon in places * STEP])
    one = create_pmf_pessimistic_connect_dots(STEP, places, np.minimum.accumulate(deltas))
    return PrivacyLossDistribution(one).self_compose(coordinates)


EPSILONS = [0.5, 1.0, 2.0, 4.0, 8.0]
DELTAS = [1e-5, 1e-6, 1e-7, 1e-8, 1e-9]


def coins_about(epsilon: float, coordinates: int) -> Coins:
    """Coins of about the right deviation, of weights 1, 2 and 4 where those of weight 1 would be many."""
    coins = round(4 * normal_deviation(epsilon, 1e-6, math.sqrt(coordinates)) ** 2)
    return Coins((2 * (coins // 2 + 1),)) if coins < 200 else Coins((8, 8, coins // 16 + 1))


@pytest.mark.timeout(60)
@pytest.mark.parametrize("coordinates", [1, 14, 100])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_delta_and_epsilon_are_the_librarys_to_the_third_digit(epsilon: float, coordinates: int) -> None:
    coins = coins_about(epsilon, coordinates)
    other, releases = library(coins, coordinates), [Release(coins, coordinates)]
    expected = other.get_delta_for_epsilon(epsilon)
    assert delta_of(releases, epsilon) == pytest.approx(expected, rel=5e-4, abs=1e-12)
    for delta in DELTAS:
        assert epsilon_of(releases, delta) == pytest.approx(other.get_epsilon_for_delta(delta), rel=5e-4)
