"""What one machine draws has the law that the accounting knows."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from scipy.stats import chisquare

from mixbayes.privacy.choosing import coins_alone
from mixbayes.privacy.coins import Coins
from mixbayes.privacy.drawing import draw_choice, draw_noise
from mixbayes.privacy.loss import Release, delta_of

UNLIKELY = 1e-4
"""A test with a seed passes or does not; another seed would fail this often."""


@pytest.mark.parametrize("coins", [Coins((2,)), Coins((4, 1)), Coins((2, 3, 1)), Coins((130,)), Coins((4, 70))])
def test_noise_has_the_law_of_its_coins(coins: Coins) -> None:
    drawn = draw_noise(coins, 40_000, Random(1)) + coins.bound
    law = coins.distribution() * len(drawn)
    counts = np.bincount(drawn, minlength=len(law))
    common = law >= 20
    found, expected = np.append(counts[common], counts[~common].sum()), np.append(law[common], law[~common].sum())
    kept = expected > 0
    assert chisquare(found[kept], expected[kept] * found.sum() / expected.sum()).pvalue > UNLIKELY


def test_draws_do_not_hang_together() -> None:
    noise = draw_noise(Coins((100,)), 40_000, Random(1)).astype(float)
    assert abs(np.corrcoef(noise[:-1], noise[1:])[0, 1]) < 4 / math.sqrt(len(noise))


def test_a_seed_draws_the_same_again_and_the_system_does_not() -> None:
    coins = Coins((4, 4, 90))
    assert np.array_equal(draw_noise(coins, 50, Random(3)), draw_noise(coins, 50, Random(3)))
    assert not np.array_equal(draw_noise(coins, 50, Random(3)), draw_noise(coins, 50, Random(4)))


@pytest.mark.parametrize("epsilon", [Fraction(1, 4), Fraction(3, 2)])
def test_a_choice_has_the_probabilities_of_the_exponential_mechanism(epsilon: Fraction) -> None:
    scores, random = [7, 3, 6, 7, 0], Random(5)
    drawn = np.bincount([draw_choice(scores, epsilon, random) for _ in range(8_000)], minlength=len(scores))
    weights = np.exp(float(epsilon) / 2 * np.array(scores))
    assert chisquare(drawn, weights / weights.sum() * drawn.sum()).pvalue > UNLIKELY


def test_a_score_far_below_is_never_drawn_and_takes_no_time() -> None:
    assert {draw_choice([10**9, 0], Fraction(1, 2), Random(seed)) for seed in range(40)} == {0}


@pytest.mark.parametrize("epsilon", [0.02, 1.0, 4.0])
def test_coins_of_one_machine_are_enough_and_hardly_more(epsilon: float) -> None:
    def enough(coins: Coins) -> bool:
        return delta_of([Release(coins, 14)], epsilon) <= 1e-6

    coins = coins_alone(enough)
    assert enough(coins)
    assert not enough(Coins((*coins.counts[:-1], coins.counts[-1] - 2)))


def test_what_no_coins_are_enough_for_is_refused() -> None:
    with pytest.raises(ValueError, match="no noise of 12 weights"):
        coins_alone(lambda coins: False)
