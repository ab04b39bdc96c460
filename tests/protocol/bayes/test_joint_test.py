"""The figures of all hospitals are the sums of what each would count in the clear, and noise is that of the coins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import nbinom

from mixbayes.privacy.coins import Coins
from mixbayes.protocol import memory
from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.several import Several
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes.aside import MOST_ASIDE, asked, changed
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.bayes.evaluation import MOST_ROWS, PADDING, Integers, blinded, packed, send_totals, totals_of
from mixbayes.protocol.bayes.joint_test import (
    figures_in_clear,
    joint_sheet,
    receive_figures,
    run_joint_test,
)
from mixbayes.protocol.bayes.reference import fixed_model
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.errors import OutOfRange
from mixbayes.protocol.randomness import Randomness
from tests.protocol.pairs import SEEDS, seed

HOSPITALS = 3
COINS = Coins((8, 6, 4))


def layout_of(classes: int, coins: Coins | None = None) -> Layout:
    attributes = Nominal(name="n", values=("x", "y", "z")), Several(name="s", values=("p", "q"), most=2)
    names = tuple(f"c{at}" for at in range(classes))
    dictionary = Dictionary(class_column="class", classes=names, attributes=attributes, max_rows=2**10)
    return Layout(dictionary, Terms(hospitals=HOSPITALS, coins=coins))


def some(layout: Layout, rng: np.random.Generator, rows: int) -> tuple[Values, Integers]:
    labels = rng.integers(0, layout.classes, rows)
    codes = [rng.integers(0, a.codes, (a.columns, rows)) for a in layout.dictionary.attributes]
    codes[0][0] = np.where(rng.integers(0, 3, rows) > 0, labels % 3, codes[0][0])
    return np.concatenate(codes).astype(np.int32), labels


def counted(layout: Layout, rng: np.random.Generator) -> tuple[Words, tuple[Words, Words]]:
    codes, labels = some(layout, rng, 60)
    joint = count(layout, Codes(codes, labels.astype(np.int32)))
    share = Randomness(seed(9)).words(joint.size)
    return joint, (share, joint - share)


@pytest.mark.parametrize(("classes", "coins"), [(2, None), (2, COINS), (5, COINS)])
@given(number=SEEDS, sizes=st.lists(st.sampled_from([1, 4, 20]), min_size=HOSPITALS, max_size=HOSPITALS))
@settings(max_examples=3)
def test_figures_are_the_sums_of_all_hospitals_with_the_noise_of_both(
    classes: int, coins: Coins | None, number: int, sizes: list[int]
) -> None:
    layout = layout_of(classes)
    rng = np.random.default_rng(number)
    joint, shares = counted(layout, rng)
    rows = [some(layout, rng, size) for size in sizes]
    padded = [(codes, np.where(rng.integers(0, 4, len(classes)) == 0, PADDING, classes)) for codes, classes in rows]
    halves = seed(number + 1), seed(number + 2)
    found = run_joint_test(layout, shares, padded, coins, halves, (seed(1), seed(2), seed(3)))
    noise = [Randomness(half) for half in halves]
    assert found.tolist() == figures_in_clear(layout, fixed_model(layout, joint), padded, coins, *noise).tolist()
    truth = figures_in_clear(layout, fixed_model(layout, joint), padded, None)
    assert truth.sum() == sum((one >= 0).sum() for _, one in padded)
    assert np.abs(found - truth).max() <= (coins.bound if coins else 0)
    if coins:
        assert (found != truth).any()


def test_noise_of_the_same_halves_is_the_same_and_of_others_another() -> None:
    layout, rng = layout_of(2), np.random.default_rng(1)
    _, shares = counted(layout, rng)
    rows = [some(layout, rng, 5) for _ in range(HOSPITALS)]

    def figures(halves: tuple[bytes, bytes], number: int) -> list[list[int]]:
        seeds = seed(number), seed(number + 1), seed(number + 2)
        return run_joint_test(layout, shares, rows, COINS, halves, seeds).tolist()  # type: ignore[no-any-return]

    assert figures((seed(1), seed(2)), 10) == figures((seed(1), seed(2)), 20)
    assert figures((seed(1), seed(2)), 10) != figures((seed(1), seed(3)), 10)


@given(data=st.data(), classes=st.integers(2, 12))
def test_packed_totals_come_back(data: st.DataObject, classes: int) -> None:
    sheet = joint_sheet(layout_of(classes), 1, COINS)
    totals = st.lists(st.integers(0, sheet.largest), min_size=classes, max_size=classes)
    numbers = np.array(data.draw(st.lists(totals, min_size=classes, max_size=classes)), np.int64)
    assert totals_of(sheet, packed(sheet, numbers.astype(np.uint64))).answers.tolist() == numbers.tolist()


@pytest.mark.parametrize("wrong", [1 << 63, (1 << 15) - 1])
def test_sums_that_cannot_be_are_refused(wrong: int) -> None:
    sheet = joint_sheet(layout_of(2), 1, None)
    (to_a, a), (to_b, b) = memory.channels("party", "mixer a"), memory.channels("party", "mixer b")
    share = np.zeros(sheet.size, np.uint64)
    for role, channel, words in ((A, a, share), (B, b, share + np.uint64(wrong))):
        me = ComputingParty(role, channel, None, Randomness(seed(1)))  # type: ignore[arg-type]
        send_totals(channel, blinded(me, words, Randomness(seed(2))))
    with pytest.raises(OutOfRange, match="no sums of that many rows"):
        receive_figures((to_a, to_b), sheet, None)


@pytest.mark.parametrize(
    ("most", "share"), [(1, 0.5), (8, 0.5), (100, 0.5), (1000, 0.01), (1000, 0.2), (20_000, 0.2), (1 << 20, 0.005)]
)
def test_no_hospital_has_more_rows_aside_than_it_asks_about(most: int, share: float) -> None:
    assert nbinom.sf(asked(most, share), most + 1, 1 - share) < 1e-12
    assert asked(most, share) <= MOST_ASIDE
    assert changed(most, share) == 1


def test_where_rows_are_left_out_one_row_changes_two_sums() -> None:
    assert asked(1 << 20, 0.2) == MOST_ASIDE == MOST_ROWS
    assert changed(1 << 20, 0.2) == 2
