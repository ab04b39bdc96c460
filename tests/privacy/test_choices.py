"""Pure steps against their formulas, against draws of the exponential mechanism, and against dp-accounting."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from dp_accounting.pld.common import DifferentialPrivacyParameters
from dp_accounting.pld.pld_pmf import create_pmf_pessimistic_connect_dots
from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution, from_privacy_parameters
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.privacy.choices import Choice, Pure
from mixbayes.privacy.coins import Coins
from mixbayes.privacy.loss import Release, delta_of, epsilon_of
from tests.privacy.privately import hockey_stick
from tests.privacy.test_another_accounting import STEP, library


def delta_of_a_choice(parameter: float, epsilon: float) -> float:
    return (1 - math.exp((epsilon - parameter) / 2)) ** 2 / (1 - math.exp(-parameter)) if epsilon < parameter else 0.0


@pytest.mark.parametrize("parameter", [1e-3, 0.1, 1.0, 8.0])
def test_a_step_by_itself_is_what_its_formula_says(parameter: float) -> None:
    for epsilon in (0.0, 0.3 * parameter, 0.9 * parameter):
        pure = (math.exp(parameter) - math.exp(epsilon)) / (1 + math.exp(parameter))
        assert delta_of([Pure(parameter)], epsilon) == pytest.approx(pure, rel=1e-4)
        assert delta_of([Choice(parameter)], epsilon) == pytest.approx(
            delta_of_a_choice(parameter, epsilon), rel=1e-3, abs=1e-9
        )
    for step in (Pure(parameter), Choice(parameter)):
        assert delta_of([step], parameter * (1 + 1e-3) + 2e-4) < 1e-12


def choosing(scores: np.ndarray, parameter: float) -> np.ndarray:
    weights = np.exp(parameter * (scores - scores.max()) / 2)
    return weights / weights.sum()


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(-1, 1)), min_size=2, max_size=5),
    st.floats(0.05, 3),
    st.floats(0, 4),
)
@settings(max_examples=40, deadline=None)
def test_no_choice_tells_more_whatever_the_scores_are(
    moved: list[tuple[int, int]], parameter: float, epsilon: float
) -> None:
    """Twice, from the same scores: what two draws tell is at most what is accounted for."""
    scores = np.array(moved)
    p, q = choosing(scores.sum(axis=1), parameter), choosing(scores[:, 0], parameter)
    for times in (1, 2):
        first, second = (np.array([math.prod(draw) for draw in product(law, repeat=times)]) for law in (p, q))
        assert hockey_stick(first, second, epsilon) <= delta_of([Choice(parameter, times)], epsilon) + 1e-12


def test_the_worst_scores_reach_what_is_accounted_for() -> None:
    """At ε' the worst loss is t = (ε + ε')/2: few candidates gain a point, and all others lose one."""
    parameter, epsilon = 1.0, 0.2
    reached = 0.0
    for others in range(1, 40):
        before, after = np.zeros(others + 1), np.array([1] + others * [-1])
        reached = max(reached, hockey_stick(choosing(after, parameter), choosing(before, parameter), epsilon))
    assert reached == pytest.approx(delta_of([Choice(parameter)], epsilon), rel=0.02)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("parameter", "times"), [(0.05, 13), (0.4, 2)])
def test_steps_beside_noise_are_the_librarys_to_the_third_digit(parameter: float, times: int) -> None:
    coins = Coins((400,))
    noise = library(coins, 14)
    pure = from_privacy_parameters(DifferentialPrivacyParameters(parameter, 0), value_discretization_interval=STEP)
    places = np.arange(-round(parameter / STEP) - 1, round(parameter / STEP) + 2)
    deltas = [_delta_everywhere(parameter, place * STEP) for place in places]
    choice = PrivacyLossDistribution(create_pmf_pessimistic_connect_dots(STEP, places, np.array(deltas)))
    for step, other in ((Pure(parameter, times), pure), (Choice(parameter, times), choice)):
        both = noise.compose(other.self_compose(times))
        steps = [Release(coins, 14), step]
        assert delta_of(steps, 1.0) == pytest.approx(both.get_delta_for_epsilon(1.0), rel=1e-3)
        for delta in (1e-4, 1e-6, 1e-9):
            assert epsilon_of(steps, delta) == pytest.approx(both.get_epsilon_for_delta(delta), rel=1e-3)


def _delta_everywhere(parameter: float, epsilon: float) -> float:
    return 1 - math.exp(epsilon) if epsilon <= -parameter else delta_of_a_choice(parameter, epsilon)


def test_steps_that_are_alike_are_put_together() -> None:
    apart = [Choice(0.2), Release(Coins((40,)), 1), Choice(0.2, 2)]
    assert delta_of(apart, 0.5) == delta_of([Choice(0.2, 3), Release(Coins((40,)), 1)], 0.5)
    assert delta_of([Choice(0.2, 3)], 0.1) < delta_of([Pure(0.2, 3)], 0.1)
    assert Pure(0.2) != Choice(0.2)


@pytest.mark.parametrize(("parameter", "times"), [(0, 1), (math.inf, 1), (math.nan, 1), (1, 0)])
def test_what_is_no_step_is_refused(parameter: float, times: int) -> None:
    with pytest.raises(ValueError, match="ε above zero"):
        Pure(parameter, times)
