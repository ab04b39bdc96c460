"""Noise on shares is that of the same coins in the clear, and what is trained of it the reference, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.privacy.coins import Coins
from mixbayes.protocol.arrays import Words, mask
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.gaussian_moments import NUMERIC_BITS, whole_moments
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.attributes.several import Several
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes import noise, tossing
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.bayes.noise import blurred, blurred_in_clear, clamped, clamped_in_clear
from mixbayes.protocol.bayes.reference import fixed_model
from mixbayes.protocol.bayes.tossing import Draw
from mixbayes.protocol.bayes.training import run_training, train
from mixbayes.protocol.computing_party import ComputingParty
from mixbayes.protocol.errors import LocalError
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.shares import split
from tests.protocol.pairs import SEEDS, both, seed

COINS = Coins((4, 2, 3))
NOMINAL = Nominal(name="n", values=("x", "y", "z"))
LISTS = Several(name="s", values=("p", "q", "r", "t"), most=2)
NUMBERS = Gaussian(name="g", low=0.0, high=1.0)
KINDS = [[NOMINAL], [LISTS], [NUMBERS], [NUMBERS, LISTS, NOMINAL, NUMBERS, LISTS]]


def noisy(attributes: Sequence[Attribute], classes: int = 2, coins: Coins | None = COINS) -> Layout:
    named = [attribute.model_copy(update={"name": f"a{at}"}) for at, attribute in enumerate(attributes)]
    labels = tuple(f"class {label}" for label in range(classes))
    dictionary = Dictionary(class_column="class", classes=labels, attributes=tuple(named), max_rows=2**14)
    return Layout(dictionary, Terms(hospitals=2, coins=coins))


def some_table(layout: Layout, rng: np.random.Generator, rows: int) -> Words:
    codes = [rng.integers(0, attribute.codes, (attribute.columns, rows)) for attribute in layout.dictionary.attributes]
    labels = rng.integers(0, layout.classes, rows)
    return count(layout, Codes(np.concatenate(codes).astype(np.int32), labels.astype(np.int32)))


def blurred_together(layout: Layout, vector: Words, number: int) -> Words:
    """N~ of two parties, opened."""
    share = split(vector, seed(number))
    parts = share.for_a(), share.for_b()

    def party(me: ComputingParty) -> Words:
        return blurred(me, layout, parts[me.role], Draw(seed(number + 1 + me.role)))

    of_a, of_b = both(party, ())
    return of_a + of_b


@pytest.mark.parametrize("attributes", KINDS)
@given(number=SEEDS, classes=st.integers(2, 4), rows=st.integers(0, 300))
@settings(max_examples=5)
def test_shares_of_noise_add_up_to_that_of_the_same_coins(
    attributes: list[Attribute], number: int, classes: int, rows: int
) -> None:
    layout = noisy(attributes, classes)
    vector = some_table(layout, np.random.default_rng(number), rows)
    clear = blurred_in_clear(layout, vector, Randomness(seed(number + 1)), Randomness(seed(number + 2)))
    assert blurred_together(layout, vector, number).tolist() == clear.tolist()


@pytest.mark.parametrize("attributes", KINDS)
@given(number=SEEDS, rows=st.sampled_from([0, 1, 5, 40, 5000]))
@settings(max_examples=6)
def test_what_is_trained_is_the_reference_of_the_same_noise(
    attributes: list[Attribute], number: int, rows: int
) -> None:
    layout = noisy(attributes)
    tables = [some_table(layout, np.random.default_rng([number, at]), rows) for at in range(2)]
    coins = seed(number), seed(number + 1)
    of_a, of_b = run_training(layout, tables, (seed(1), seed(2), seed(3)), coins)
    joint = fixed_model(layout, blurred_in_clear(layout, tables[0] + tables[1], *map(Randomness, coins)))
    low = mask(joint.width)
    assert ((of_a.prior + of_b.prior) & low).tolist() == joint.prior.tolist()
    for part_a, part_b, table in zip(of_a.tables, of_b.tables, joint.tables, strict=True):
        assert ((part_a + part_b) & low).tolist() == table.tolist()


def extremes(layout: Layout, number: int) -> Words:
    """Noise as large as can be, up or down, on few patients or many: what clamping must be ready for."""
    rng = np.random.default_rng(number)
    vector = some_table(layout, rng, int(rng.choice([0, 1, 30])))

    def all_or_none(coins: Coins, numbers: int, *halves: Randomness) -> Words:
        return (2 * coins.bound * rng.integers(0, 2, numbers)).astype(np.uint64)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(noise, "toss_in_clear", all_or_none)
        return blurred_in_clear(layout, vector, Randomness(seed(1)), Randomness(seed(2)))


@given(SEEDS)
def test_clamped_counts_are_those_of_a_table_or_nearly(number: int) -> None:
    layout = noisy(KINDS[-1])
    found = clamped_in_clear(layout, extremes(layout, number))
    signed = found.view(np.int64)
    assert signed.min() >= 0
    for attribute, block in layout.blocks(found):
        if isinstance(attribute, Several):
            assert (block[:-2] <= block[-2]).all()
        if isinstance(attribute, Gaussian):
            for label in range(layout.classes):
                n, s1, s2 = whole_moments(block, label)
                assert layout.spread < n <= layout.most
                assert s2 <= s1 << NUMERIC_BITS <= n << 2 * NUMERIC_BITS


@given(SEEDS)
@settings(max_examples=10)
def test_the_largest_noise_is_clamped_and_trained_on_shares_as_in_the_clear(number: int) -> None:
    layout = noisy(KINDS[-1])
    vector = extremes(layout, number)
    share = split(vector, seed(number))
    parts = share.for_a(), share.for_b()
    of_a, of_b = both(lambda me: clamped(me, layout, parts[me.role]), ())
    assert (of_a + of_b).tolist() == clamped_in_clear(layout, vector).tolist()
    model_a, model_b = both(lambda me: train(me, layout, parts[me.role]), ())
    joint = fixed_model(layout, vector)
    for part_a, part_b, table in zip(model_a.tables, model_b.tables, joint.tables, strict=True):
        assert ((part_a + part_b) & mask(joint.width)).tolist() == table.tolist()


def test_clamping_adds_imagined_patients_to_counts_of_a_table_and_changes_nothing_else() -> None:
    layout = noisy(KINDS[-1])
    vector = some_table(layout, np.random.default_rng(3), 1000)
    nothing = np.zeros(sum(len(a.units) for a in layout.dictionary.attributes) * 2 + 2, np.uint64)
    as_it_is = noise._spread(layout, vector, nothing)
    added = clamped_in_clear(layout, as_it_is) - as_it_is
    spread = layout.spread
    assert layout.class_counts(added).tolist() == [4 * spread] * 2
    for attribute, block in layout.blocks(added):
        evenly = [6 * spread, 3 * spread << NUMERIC_BITS, 0, 2 * spread << NUMERIC_BITS, 0]
        assert block.T.tolist() == [evenly if isinstance(attribute, Gaussian) else [0] * len(block)] * 2


@pytest.mark.parametrize(
    ("counts", "spread"), [((2,), 1), ((4,), 1), ((6,), 2), ((16,), 2), ((18,), 3), ((2, 3, 10, 14), 17)]
)
def test_the_deviation_is_rounded_up_in_integers(counts: tuple[int, ...], spread: int) -> None:
    coins = Coins(counts)
    assert coins.spread == spread
    assert coins.spread - 1 < coins.deviation <= coins.spread


def test_noise_asks_for_more_smoothing_than_was_agreed() -> None:
    assert noisy([NOMINAL], coins=Coins((18,))).smoothing == 1
    assert noisy([NOMINAL], coins=Coins((2, 3, 10, 14))).smoothing == 5
    assert noisy([NOMINAL], coins=None).smoothing == 1


def test_in_parts_it_is_the_same_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noise, "_AT_ONCE", 5)
    monkeypatch.setattr(tossing, "_AT_ONCE", 999)
    layout = noisy(KINDS[-1], classes=3)
    vector = some_table(layout, np.random.default_rng(5), 100)
    clear = blurred_in_clear(layout, vector, Randomness(seed(8)), Randomness(seed(9)))
    assert blurred_together(layout, vector, 7).tolist() == clear.tolist()
    assert len(clamped_in_clear(layout, clear)) == layout.size


def test_no_noise_without_coins() -> None:
    layout = noisy([NOMINAL], coins=None)
    with pytest.raises(LocalError, match="coins"):
        blurred_in_clear(layout, some_table(layout, np.random.default_rng(1), 9), *[Randomness(seed(1))] * 2)


@pytest.mark.parametrize("counts", [(), (1, 5), (0, 4), (3,), (2, -1), (2,) * 13, (5000,)])
def test_coins_that_would_give_low_bits_away_are_refused(counts: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="coins"):
        Coins(counts)
