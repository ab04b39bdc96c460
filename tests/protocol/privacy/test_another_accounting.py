"""The accounting against Google's library dp-accounting, which knows only the law of one coordinate from us."""

from __future__ import annotations

import numpy as np
import pytest
from dp_accounting.pld.pld_pmf import create_pmf_pessimistic_connect_dots
from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

from mixbayes.protocol.privacy.coins import Coins
from mixbayes.protocol.privacy.loss import Release, delta_of, epsilon_of
from tests.protocol.privacy.privately import hockey_stick

STEP = 1e-4


def library(coins: Coins, coordinates: int) -> PrivacyLossDistribution:
    """One coordinate by its δ at every point of a grid, composed."""
    law = coins.distribution()
    p, q = np.pad(law, (1, 0)), np.pad(law, (0, 1))
    with np.errstate(divide="ignore"):
        losses = np.log(p) - np.log(q)
    common = np.abs(losses[(p > 1e-40) & (q > 1e-40)]).max()
    places = np.arange(-int(common / STEP) - 2, int(common / STEP) + 3)
    deltas = np.array([hockey_stick(p, q, epsilon) for epsilon in places * STEP])
    one = create_pmf_pessimistic_connect_dots(STEP, places, np.minimum.accumulate(deltas))
    return PrivacyLossDistribution(one).self_compose(coordinates)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("epsilon", "delta", "coordinates", "counts"),
    [
        (0.5, 1e-5, 1, (6, 6, 40)),
        (0.5, 1e-9, 14, (8, 8, 10, 20, 20)),
        (1.0, 1e-6, 14, (2, 3, 10, 14)),
        (1.0, 1e-7, 100, (6, 6, 8, 20, 20)),
        (2.0, 1e-8, 100, (6, 6, 20, 20)),
        (4.0, 1e-5, 14, (10, 19)),
        (4.0, 1e-9, 1, (40,)),
        (8.0, 1e-9, 100, (10, 20, 20)),
    ],
)
def test_delta_and_epsilon_are_the_librarys_to_the_third_digit(
    epsilon: float, delta: float, coordinates: int, counts: tuple[int, ...]
) -> None:
    coins = Coins(counts)
    other = library(coins, coordinates)
    releases = [Release(coins, coordinates)]
    expected = other.get_delta_for_epsilon(epsilon)
    assert delta_of(releases, epsilon) == pytest.approx(expected, rel=5e-4, abs=1e-12)
    assert epsilon_of(releases, delta) == pytest.approx(other.get_epsilon_for_delta(delta), rel=5e-4)
