"""Over a hundred thousand draws the noise has the distribution that the accounting assumes, for every kind of number.

`complaints` looks for what broken noise would show. Each broken variant here is found by it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

from mixbayes.privacy import checking
from mixbayes.privacy.coins import Coins
from mixbayes.protocol.arrays import Bits
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.gaussian_noise import UNITS
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.attributes.several import Several
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes import noise
from mixbayes.protocol.bayes.noise import blurred, clamped_in_clear
from mixbayes.protocol.bayes.tossing import Draw
from mixbayes.protocol.randomness import Randomness
from tests.protocol.pairs import both, random_for, seed

COINS = Coins((2, 3, 4))
DRAWS = 100_000
CLASSES = 50
LIKELY = 1e-7
"""A test of good noise complains less often than this."""
Noise = NDArray[np.int64]


@pytest.fixture(autouse=True)
def every_coin_is_dealt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are opened say nothing about the noise."""
    monkeypatch.setattr(checking, "TIMES", 1)


def layout_of(*attributes: Attribute, coins: Coins = COINS) -> Layout:
    classes = tuple(f"class {label}" for label in range(CLASSES))
    return Layout(Dictionary(class_column="class", classes=classes, attributes=attributes), Terms(coins=coins))


def nominal(cells: int) -> Layout:
    return layout_of(Nominal(name="n", values=tuple(f"v{value}" for value in range(cells // CLASSES))))


def complaints(found: Noise, coins: Coins, of_a: Noise | None = None) -> list[str]:
    """What is wrong with noise on counts; `of_a` is what A's own coins alone would have given."""
    return [
        *(["distribution"] if not fits(found + coins.bound, coins.distribution()) else []),
        *(["tails"] if np.abs(found).max() > coins.bound or np.abs(found).max() < 0.8 * coins.bound else []),
        *(["lowest bits"] if not fits(found % 4, folded(coins, 4)) else []),
        *(["neighbours"] if related(found[1:], found[:-1]) else []),
        *(["known to A"] if of_a is not None and related(found, of_a) else []),
    ]


def fits(found: Noise, law: NDArray[np.float64]) -> bool:
    """Chi-square, of outcomes that are expected five times or more; the others together count as one."""
    if found.min() < 0 or found.max() >= len(law):
        return False
    expected, seen = law * len(found), np.bincount(found, minlength=len(law))
    usual = expected >= 5
    rest = [~usual] if (~usual).any() else []
    expected = np.append(expected[usual], [expected[part].sum() for part in rest])
    seen = np.append(seen[usual], [seen[part].sum() for part in rest])
    some = expected > 0
    distance = ((seen[some] - expected[some]) ** 2 / expected[some]).sum()
    return bool(seen[~some].sum() == 0 and chi2.sf(distance, some.sum() - 1) > LIKELY)


def folded(coins: Coins, modulus: int) -> NDArray[np.float64]:
    values = np.arange(-coins.bound, coins.bound + 1)
    return np.bincount(values % modulus, coins.distribution(), modulus).astype(np.float64)


def related(one: Noise, other: Noise) -> bool:
    """Further from no correlation than six standard deviations."""
    return bool(abs(np.corrcoef(one, other)[0, 1]) > 6 / np.sqrt(len(one)))


def of_shares(layout: Layout) -> Noise:
    """The noise on counts of nobody, drawn on shares."""
    nothing = np.zeros(layout.size, np.uint64)
    of_a, of_b = both(lambda me: blurred(me, layout, nothing, Draw(seed(1 + me.role))), ())
    return np.asarray((of_a + of_b).view(np.int64))


def in_clear(layout: Layout, number: int = 1) -> Noise:
    found = noise.blurred_in_clear(
        layout, np.zeros(layout.size, np.uint64), Randomness(seed(number)), Randomness(seed(number + 1))
    )
    return np.asarray(found.view(np.int64))


class NoCoins(Randomness):
    """A party whose every coin is the same."""

    def __init__(self) -> None:
        super().__init__(seed(0))

    def bits(self, *shape: int) -> Bits:
        return np.zeros(shape, np.uint8)


def of_a_alone(layout: Layout) -> Noise:
    found = noise.blurred_in_clear(layout, np.zeros(layout.size, np.uint64), random_for(1), NoCoins())
    return np.asarray(found.view(np.int64))


def used(layout: Layout, found: Noise) -> Noise:
    """Without the cells for missing values, which have no noise."""
    return np.concatenate([layout.class_counts(found), *(block[:-1].ravel() for _, block in layout.blocks(found))])


def test_noise_on_shares_has_its_distribution_and_a_does_not_know_it() -> None:
    layout = nominal(DRAWS)
    found, alone = used(layout, of_shares(layout)), used(layout, of_a_alone(layout))
    assert len(found) >= DRAWS
    assert complaints(found, COINS, alone) == []


def test_noise_on_lists_has_its_distribution() -> None:
    values = tuple(f"v{value}" for value in range(1000))
    lists = [Several(name=f"s{at}", values=values) for at in range(2)]
    layout = layout_of(*lists)
    assert complaints(used(layout, in_clear(layout)), COINS) == []


def test_noise_on_moments_has_its_distribution_down_to_the_lowest_bit() -> None:
    layout = layout_of(*(Gaussian(name=f"g{at}", low=0.0, high=1.0) for at in range(DRAWS // CLASSES)))
    blocks = np.stack([block for _, block in layout.blocks(in_clear(layout))])
    of_count, of_sum, of_squares = blocks[:, 0], blocks[:, 1], blocks[:, 3]
    # Back to the sums that have units of their own.
    of_sum = of_sum - (of_count << 23)
    of_squares = of_squares - of_sum - (of_count << 23) + (of_count << 21)
    assert not blocks[:, [2, 4]].any()
    for found, unit in zip((of_count, of_sum, of_squares), UNITS, strict=True):
        # Two uniform parts below the unit carry one into it as often as not.
        moved = found.ravel() + (1 << unit if unit else 0)
        law = np.convolve(COINS.distribution(), [0.5, 0.5]) if unit else COINS.distribution()
        assert fits((moved >> unit) + COINS.bound, law), unit
        if unit:
            below = moved & ((1 << unit) - 1)
            assert fits(below >> unit - 8, np.full(256, 1 / 256)), unit
            assert fits(below & 255, np.full(256, 1 / 256)), unit
    assert not related(of_count.ravel(), of_sum.ravel())
    assert not related(of_sum.ravel(), of_squares.ravel())


def without_the_lowest_coins(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> Noise:
    monkeypatch.setattr(Coins, "__post_init__", lambda coins: None)
    coarse = Layout(layout.dictionary, Terms(coins=Coins((0, 4, 4))))
    return in_clear(coarse)


BROKEN: dict[str, Callable[[Layout, pytest.MonkeyPatch], Noise]] = {
    "B's coins are constant": lambda layout, patch: of_a_alone(layout),
    "no coin of weight one": without_the_lowest_coins,
    "clamped before it is used": lambda layout, patch: np.maximum(in_clear(layout), 0),
    "the same noise in every second cell": lambda layout, patch: np.repeat(in_clear(layout)[::2], 2)[: layout.size],
    "never taken away": lambda layout, patch: in_clear(layout) + COINS.bound,
    "one coin too few": lambda layout, patch: in_clear(Layout(layout.dictionary, Terms(coins=Coins((2, 3, 3))))),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_broken_noise_is_noticed(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = nominal(DRAWS)
    alone = used(layout, of_a_alone(layout))
    found = used(layout, BROKEN[broken](layout, monkeypatch))
    assert complaints(found, COINS, alone) != []


def test_the_noise_is_not_clamped_in_what_is_kept() -> None:
    """N~ of nobody is negative in half of the cells; what training takes of it is not."""
    layout = nominal(5000)
    found = in_clear(layout)
    assert 0.3 < (used(layout, found) < 0).mean() < 0.6
    assert clamped_in_clear(layout, found.view(np.uint64)).view(np.int64).min() == 0
