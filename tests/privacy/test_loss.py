"""The accounting against enumeration, against itself in another order, and against figures found elsewhere."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.privacy.coins import Coins
from mixbayes.privacy.loss import (
    STEP,
    Composition,
    Grid,
    Losses,
    Release,
    Tilted,
    _convolved,
    delta_of,
    epsilon_of,
    keeps,
)
from tests.privacy.privately import any_coins, delta_by_enumeration, hockey_stick

SMALL = st.builds(
    lambda pairs, rest: Coins((2 * pairs, *rest)), st.integers(1, 2), st.lists(st.integers(0, 1), max_size=2)
)
COINS = st.builds(
    lambda pairs, rest: Coins((2 * pairs, *rest)), st.integers(1, 20), st.lists(st.integers(0, 20), max_size=3)
)
EPSILONS = st.floats(0, 8)
LOOSER = 1 + 1e-5
"""The grid rounds up by less than this part of δ, where δ is not far from one."""


@given(st.lists(SMALL, min_size=1, max_size=3), st.floats(0, 5))
@settings(max_examples=15, deadline=None)
def test_delta_is_that_of_every_outcome(coordinates: list[Coins], epsilon: float) -> None:
    found = delta_of([Release(coins, 1) for coins in coordinates], epsilon)
    exact = delta_by_enumeration(coordinates, epsilon)
    assert exact <= found <= exact + STEP / 4


def test_delta_at_zero_is_the_total_variation() -> None:
    coins = Coins((4, 1))
    assert delta_of([Release(coins, 2)], 0) == pytest.approx(delta_by_enumeration([coins] * 2, 0), rel=1e-4)


@pytest.mark.parametrize("removed", [False, True])
def test_adding_a_row_and_removing_one_promise_the_same(removed: bool) -> None:
    law = np.pad(Coins((6, 3, 2)).distribution(), 1)
    p, q = (law, np.roll(law, 1)) if removed else (np.roll(law, 1), law)
    assert delta_of([Release(Coins((6, 3, 2)), 1)], 0.5) == pytest.approx(hockey_stick(p, q, 0.5), rel=1e-6)


@given(COINS, st.sampled_from([1e-4, 1e-3, 0.1]))
@settings(max_examples=15, deadline=None)
def test_splitting_keeps_the_masses_under_both_laws(coins: Coins, step: float) -> None:
    exact = Losses.of(coins)
    grid = exact.on_grid(step)
    for power in (0, 1):
        before = math.fsum(exact.masses * np.exp(-power * exact.losses))
        assert math.fsum(grid.masses * np.exp(-power * grid.losses)) == pytest.approx(before, rel=1e-10)
    assert grid.infinite == exact.infinite


@given(COINS)
@settings(max_examples=15, deadline=None)
def test_atoms_are_the_laws_own(coins: Coins) -> None:
    exact = Losses.of(coins)
    assert math.fsum([exact.infinite, *exact.masses]) == pytest.approx(1, rel=1e-10)
    law = coins.distribution()
    seen, never = np.append(0.0, law), np.append(law, 0.0) == 0  # few small coins leave holes between large ones
    assert exact.infinite == pytest.approx(math.fsum(seen[never]), rel=1e-6, abs=1e-30)


@given(st.lists(COINS, min_size=2, max_size=3), EPSILONS, st.randoms(use_true_random=False))
@settings(max_examples=12, deadline=None)
def test_the_order_of_releases_does_not_matter(several: list[Coins], epsilon: float, random: object) -> None:
    releases = [Release(coins, 1 + at) for at, coins in enumerate(several)]
    assert delta_of(releases, epsilon) == pytest.approx(delta_of(releases[::-1], epsilon), rel=1e-6)


@given(COINS, st.integers(1, 50), EPSILONS)
@settings(max_examples=12, deadline=None)
def test_a_release_in_two_parts_is_the_same_release(coins: Coins, coordinates: int, epsilon: float) -> None:
    apart = [Release(coins, coordinates), Release(coins, 3)]
    assert delta_of(apart, epsilon) == delta_of([Release(coins, coordinates + 3)], epsilon)


@given(COINS, st.integers(1, 60), EPSILONS)
@settings(max_examples=12, deadline=None)
def test_more_coordinates_never_promise_more(coins: Coins, coordinates: int, epsilon: float) -> None:
    fewer, more = (delta_of([Release(coins, number)], epsilon) for number in (coordinates, coordinates + 1))
    assert fewer <= more * LOOSER + 1e-18


@given(COINS, st.integers(1, 60))
@settings(max_examples=12, deadline=None)
def test_a_larger_epsilon_has_a_smaller_delta(coins: Coins, coordinates: int) -> None:
    deltas = [delta_of([Release(coins, coordinates)], epsilon) for epsilon in (0, 0.01, 0.1, 1, 3, 10, 30)]
    assert all(after <= before * LOOSER for before, after in pairwise(deltas))


@given(COINS, st.integers(1, 60), st.floats(1e-3, 5))
@settings(max_examples=12, deadline=None)
def test_epsilon_is_the_inverse_of_delta(coins: Coins, coordinates: int, epsilon: float) -> None:
    releases = [Release(coins, coordinates)]
    delta = delta_of(releases, epsilon)
    least = epsilon_of(releases, delta * LOOSER)
    assert least <= epsilon * LOOSER
    assert delta_of(releases, least) <= delta * LOOSER**2


def test_no_epsilon_is_enough_for_less_than_the_mass_of_infinite_loss() -> None:
    releases = [Release(Coins((10,)), 1)]
    assert epsilon_of(releases, 0.99 * 2**-10) == math.inf
    assert epsilon_of(releases, 1.01 * 2**-10) < math.inf
    assert delta_of(releases, 100) == pytest.approx(2**-10)


def test_without_a_coin_of_weight_one_nothing_is_promised() -> None:
    assert delta_of([Release(any_coins(0, 20, 20), 1)], 8) == 1
    assert epsilon_of([Release(any_coins(0, 20, 20), 1)], 0.999) == math.inf


def test_nothing_released_gives_nothing_away() -> None:
    assert delta_of([], 0) == 0
    assert epsilon_of([], 0) == 0


@pytest.mark.parametrize(
    ("counts", "deviation", "delta"),
    [((1010,), 15.89, 9.03e-7), ((6, 6, 62), 15.98, 8.82e-7), ((3, 4, 10, 14), 16.39, 7.71e-7)],
)
def test_noise_for_one_and_a_millionth_over_14_coordinates(
    counts: tuple[int, ...], deviation: float, delta: float
) -> None:
    coins = any_coins(*counts)
    assert coins.deviation == pytest.approx(deviation, abs=0.005)
    assert delta_of([Release(coins, 14)], 1) == pytest.approx(delta, rel=1e-3)
    assert keeps([Release(coins, 14)], 1, 1e-6)
    assert not keeps([Release(coins, 17)], 1, 1e-6)


@pytest.mark.timeout(20)
def test_many_coordinates_and_many_rounds_take_no_time() -> None:
    ledger = [Release(Coins((6, 6, 40 + number)), 101) for number in range(10)]
    assert 0 < delta_of(ledger, 10) < 1
    assert epsilon_of(ledger, 1e-6) > epsilon_of(ledger[1:], 1e-6)
    assert delta_of([Release(Coins((2, 2, 2, 2, 2, 2, 2, 2, 4, 4, 36, 9)), 5000)], 0.1) == pytest.approx(
        7.8e-13, rel=0.02
    )


def tilted_laws() -> tuple[Composition, float, list[Fraction]]:
    """Some losses, a tilt, and exactly the tilted law of their sum, modulo the points of the transform."""
    parts = [Losses.of(Coins(counts)).on_grid(0.05) for counts in ((4, 3), (8,))]
    together, theta = Composition(tuple(parts), (3, 2)), 1.5
    exact = [Fraction(0)] * POINTS
    exact[0] = Fraction(1)
    for grid, times in zip(parts, together.times, strict=True):
        law = list(zip(grid.places.tolist(), map(Fraction, grid.tilted(theta).tolist()), strict=True))
        for _ in range(times):
            before, exact = exact, [Fraction(0)] * POINTS
            for at, mass in enumerate(before):
                for place, more in law:
                    exact[(at + place) % POINTS] += mass * more
    return together, theta, exact


POINTS = 128


def test_the_transform_is_wrong_by_no_more_than_is_said() -> None:
    together, theta, exact = tilted_laws()
    masses, wrong = _convolved(together, theta, POINTS)
    errors = [abs(Fraction(mass) - right) for mass, right in zip(masses.tolist(), exact, strict=True)]
    assert 0 < max(errors) <= wrong < 1e-11


@pytest.mark.parametrize("times", [1, 50, 4000])
def test_the_transform_of_many_is_wrong_by_no_more_than_is_said(times: int) -> None:
    """A power is less exact the higher it is: fair coins, whose sums are known in integers."""
    coin = Grid(np.array([0, 1]), np.array([0.5, 0.5]), 0.0, 1.0)
    points = 2 << times.bit_length()
    masses, wrong = _convolved(Composition((coin,), (times,)), 0.0, points)
    exact = [Fraction(math.comb(times, heads), 2**times) if heads <= times else Fraction(0) for heads in range(points)]
    assert max(abs(Fraction(mass) - right) for mass, right in zip(masses.tolist(), exact, strict=True)) <= wrong < 1e-10


def test_what_the_transform_may_be_wrong_by_is_added_to_delta() -> None:
    """In full, at every loss above ε, as if no mass had been found there."""
    together, theta, _ = tilted_laws()
    found = Tilted.of(together, theta)
    points = 1 << (found.losses.size - 1).bit_length()
    assert found.wrong == _convolved(together, theta, points)[1] > 0
    for epsilon in (0.2, 1.0, 2.0):
        above = found.losses[found.losses > epsilon]
        hidden = math.exp(found.log_moment) * np.exp(-theta * above) @ -np.expm1(epsilon - above)
        for wrong in (found.wrong, 1e-3):
            more = replace(found, masses=0 * found.masses, wrong=wrong).delta_at(epsilon)
            assert more >= wrong * hidden * (1 - 1e-12)


@pytest.mark.parametrize("moved", [0, 1, 3, 4])
def test_a_number_with_several_bits_is_as_safe_as_one_coordinate(moved: int) -> None:
    """Noise 4 · G + U, U uniform on 0 to 3, on a number that moves by at most 4."""
    coins = Coins((4, 2, 1))
    law = np.repeat(coins.distribution(), 4) / 4
    q, p = np.pad(law, (0, 8)), np.roll(np.pad(law, (0, 8)), moved)
    for epsilon in (0, 0.3, 1, 2):
        both = hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon)
        whole = delta_of([Release(coins, 1)], epsilon)
        assert max(both) <= whole
        assert moved < 4 or max(both) == pytest.approx(whole, rel=1e-6)


def test_a_release_has_a_coordinate() -> None:
    with pytest.raises(ValueError, match="at least one coordinate"):
        Release(Coins((2,)), 0)


@pytest.mark.parametrize("epsilon", [-1, math.nan])
def test_epsilon_is_a_number_from_zero_on(epsilon: float) -> None:
    with pytest.raises(ValueError, match="at least zero"):
        delta_of([Release(Coins((2,)), 1)], epsilon)
