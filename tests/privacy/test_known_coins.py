"""What is promised where one of the two who toss knows some coins of every number: a mixture, exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.privacy.checking import escaping
from mixbayes.privacy.coins import MOST_KNOWN, Coins, unknown
from mixbayes.privacy.loss import STEP, Losses, Release, delta_of, epsilon_of
from tests.privacy.privately import any_coins

NUMBERS = 5000
"""So many that hardly anybody escapes."""
SMALL = st.builds(
    lambda pairs, rest: (2 * pairs, *rest), st.integers(1, 2), st.lists(st.integers(0, 2), max_size=2)
).filter(lambda counts: 3 <= sum(counts) <= 6)


def losses_by_enumeration(counts: tuple[int, ...], known: int) -> dict[Fraction | float, Fraction]:
    """The masses under P by the ratio of P to Q: of every set of known coins, and of every outcome of the others."""
    weights = any_coins(*counts).weights
    sets = list(combinations(range(len(weights)), known))
    found: dict[Fraction | float, Fraction] = {}
    for some in sets:
        others = [weight for at, weight in enumerate(weights) if at not in some]
        law: dict[int, Fraction] = {}
        for heads in product((0, 1), repeat=len(others)):
            value = sum(weight for weight, head in zip(others, heads, strict=True) if head)
            law[value] = law.get(value, Fraction(0)) + Fraction(1, 2 ** len(others))
        for value, mass in law.items():
            ratio = mass / law[value + 1] if value + 1 in law else math.inf
            found[ratio] = found.get(ratio, Fraction(0)) + mass / len(sets)
    return found


def delta_by_enumeration(counts: tuple[int, ...], known: int, coordinates: int, epsilon: float) -> float:
    once, factor = losses_by_enumeration(counts, known), math.exp(epsilon)
    found = 0.0
    for atoms in product(once.items(), repeat=coordinates):
        ratio, mass = (math.prod(float(part) for part in parts) for parts in zip(*atoms, strict=True))
        found += mass * max(0.0, 1 - factor / ratio)
    return found


@given(SMALL, st.integers(0, 2))
@settings(max_examples=40, deadline=None)
def test_the_losses_are_those_of_every_set_of_known_coins(counts: tuple[int, ...], known: int) -> None:
    exact, found = losses_by_enumeration(counts, known), Losses.of(Coins(counts, known))
    assert found.infinite == pytest.approx(float(exact.pop(math.inf, 0)), rel=1e-12, abs=1e-300)
    assert found.infinite >= 0
    for ratio, mass in exact.items():
        near = np.abs(found.losses - math.log(ratio)) < 1e-9
        assert found.masses[near].sum() == pytest.approx(float(mass), rel=1e-12)
    assert found.masses.sum() + found.infinite == pytest.approx(1, rel=1e-12)


@given(SMALL, st.integers(1, 2), st.integers(1, 2), st.floats(0, 3))
@settings(max_examples=20, deadline=None)
def test_delta_is_that_of_every_set_and_outcome(
    counts: tuple[int, ...], known: int, coordinates: int, epsilon: float
) -> None:
    coins = Coins(counts, known)
    found = delta_of([Release(coins, coordinates, NUMBERS)], epsilon)
    exact = delta_by_enumeration(counts, known, coordinates, epsilon)
    assert exact <= found <= exact + escaping(coins, NUMBERS) + STEP / 2


@given(st.lists(st.integers(0, 5), min_size=1, max_size=4).filter(lambda counts: sum(counts) > 3), st.integers(0, 3))
def test_what_may_be_left_is_multivariate_hypergeometric(counts: list[int], known: int) -> None:
    parts = list(unknown(tuple(counts), known))
    assert sum(share for share, _ in parts) == 1
    assert len({left for _, left in parts}) == len(parts)
    for share, left in parts:
        assert sum(left) == sum(counts) - known
        ways = math.prod(math.comb(count, rest) for count, rest in zip(counts, left, strict=True))
        assert share == Fraction(ways, math.comb(sum(counts), known))


def test_if_no_coin_of_weight_one_may_be_left_that_discloses_the_row() -> None:
    """Two of eight are known: with 1/28 it is the two of weight one, and the lowest bit stays as it is."""
    assert Losses.of(Coins((2, 6), 2)).infinite >= 1 / 28
    assert delta_of([Release(Coins((2, 6), 2), 1, NUMBERS)], 50) >= 1 / 28


@pytest.mark.parametrize("counts", [(4, 4, 10), (20,), (6, 3, 2, 8)])
def test_whoever_knows_more_is_promised_less(counts: tuple[int, ...]) -> None:
    ways = [Coins(counts, known) for known in range(MOST_KNOWN + 1)]
    deltas = [delta_of([Release(coins, 3, NUMBERS)], 1) - (coins.known and escaping(coins, NUMBERS)) for coins in ways]
    assert all(fewer < more for fewer, more in pairwise(deltas))


@given(st.integers(1, 6), st.integers(0, 8), st.integers(0, 12), st.sampled_from([0, 1]), st.floats(0, 4))
@settings(max_examples=25, deadline=None)
def test_one_more_coin_never_promises_less(pairs: int, twos: int, fours: int, place: int, epsilon: float) -> None:
    """Losses alone: how many escape depends on the number of coins."""
    counts = (2 * pairs, twos, fours)
    if sum(counts) <= 3:
        return
    more = (counts[0] + 2, twos, fours) if place == 0 else (counts[0], twos + 1, fours)
    before, after = (mean_excess(Losses.of(Coins(one, 3)), epsilon) for one in (counts, more))
    assert after <= before * (1 + 1e-12) + 1e-15


def mean_excess(losses: Losses, epsilon: float) -> float:
    """δ of one coordinate."""
    above = losses.losses > epsilon
    return losses.infinite + float(losses.masses[above] @ -np.expm1(epsilon - losses.losses[above]))


def test_many_atoms_are_merged_and_promise_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    coins = Coins((4, 4, 4, 4, 20), 3)
    apart = Losses.of(coins)
    monkeypatch.setattr("mixbayes.privacy.loss.MOST_ATOMS", 4000)
    monkeypatch.setattr("mixbayes.privacy.loss.FINEST", 128)
    merged = Losses.of(coins)
    assert len(merged.losses) < len(apart.losses) / 2
    for power in (0, 1):
        masses = [math.fsum(one.masses * np.exp(-power * one.losses)) for one in (apart, merged)]
        assert masses[0] == pytest.approx(masses[1], rel=1e-10)
    for epsilon in (0, 0.03, 0.1, 0.3):
        fewer, more = mean_excess(apart, epsilon), mean_excess(merged, epsilon)
        assert fewer * (1 - 1e-12) <= more <= fewer * 1.001


def test_an_escape_is_infinite_loss_once_in_a_release() -> None:
    release = Release(Coins((6, 6, 10, 15), 3), 14, 106)
    exact = escaping(release.coins, 106)
    assert exact <= -math.expm1(14 * math.log1p(-release.escaping)) <= exact * (1 + 1e-9)
    ends = sum(share * Fraction(1, 2 ** sum(left)) for share, left in unknown(release.coins.counts, 3))
    at_all = delta_of([release], 90)
    assert at_all == pytest.approx(exact + 14 * float(ends), rel=1e-3)
    assert delta_of([release.again(5)], 90) == pytest.approx(5 * at_all, rel=1e-3)
    assert delta_of([release] * 5, 90) == delta_of([release.again(5)], 90)
    assert epsilon_of([release], 0.99 * exact) == math.inf


def test_numbers_count_where_coins_may_be_known() -> None:
    some, many = (delta_of([Release(Coins((40,), 2), 3, numbers)], 20) for numbers in (500, 50_000))
    assert some > many
    alike = [delta_of([Release(Coins((40,)), 3, numbers)], 1) for numbers in (0, 500)]
    assert alike[0] == alike[1]


@pytest.mark.parametrize("known", [-1, 7, 4])
def test_not_all_coins_and_not_many_may_be_known(known: int) -> None:
    with pytest.raises(ValueError, match="may be known"):
        Coins((2, 2), known)


@pytest.mark.parametrize("release", [(Coins((4, 4), 1), 3, 2), (Coins((4, 4), 1), 3), (Coins((4, 4), 1), 3, 5, 0)])
def test_releases_that_make_no_sense(release: tuple[Coins, int]) -> None:
    with pytest.raises(ValueError, match="a release"):
        Release(*release)
