"""A prior that everybody knows: on shares bit for bit the reference, and the reference what its definition says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.privacy.coins import Coins
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.bayes.noise import blurred_in_clear
from mixbayes.protocol.bayes.precision import precision_for
from mixbayes.protocol.bayes.public_prior import PublicPrior
from mixbayes.protocol.bayes.recipe import JOINT, Recipe, read_recipe
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model, fixed_scores, real_scores, recipe_scores
from mixbayes.protocol.bayes.training import run_training
from mixbayes.protocol.circuits.logarithm import FRACTION
from mixbayes.protocol.errors import Unsupported
from mixbayes.protocol.randomness import Randomness
from tests.protocol.bayes.test_personal_models import (
    COINS,
    LISTS,
    NOMINAL,
    NUMBERS,
    RECIPES,
    flat,
    layout_of,
    opened,
    some_codes,
    some_tables,
)
from tests.protocol.pairs import SEEDS, seed

THREE_SEEDS = seed(1), seed(2), seed(3)
NUMBERS_OF_A_PRIOR = st.lists(st.one_of(st.just(0.0), st.floats(1e-300, 1)), min_size=3, max_size=3).filter(any)


@pytest.mark.parametrize("coins", [None, COINS])
@pytest.mark.parametrize("text", RECIPES)
@given(number=SEEDS, prior=st.none() | NUMBERS_OF_A_PRIOR, asker=st.integers(0, 1), seen=st.integers(1, 3))
@settings(max_examples=2)
def test_training_in_memory_is_the_reference(
    coins: Coins | None, text: str, number: int, prior: list[float] | None, asker: int, seen: int
) -> None:
    layout, recipe, rng = layout_of([NOMINAL, NUMBERS], 3, coins), read_recipe(text), np.random.default_rng(number)
    tables = [some_tables(layout, rng, 20, classes)[0] for classes in (seen, 2)]
    public = None if prior is None else PublicPrior.of(prior)
    halves = (seed(number), seed(number + 1)) if coins else None
    joint = tables[0] + tables[1]
    if halves:
        joint = blurred_in_clear(layout, joint, *map(Randomness, halves))
    found = run_training(layout, tables, THREE_SEEDS, halves, recipe, asker, public)
    expected = fixed_model(layout, joint, recipe, tables[asker], public)
    assert flat(opened(*([model] for model in found))) == flat([expected])
    assert found[0].margin == expected.margin


@given(number=SEEDS, prior=NUMBERS_OF_A_PRIOR, text=st.sampled_from(RECIPES[:-1]), seen=st.integers(1, 3))
@settings(max_examples=60)
def test_scores_begin_with_the_logarithms_of_the_prior(number: int, prior: list[float], text: str, seen: int) -> None:
    rng, layout = np.random.default_rng(number), layout_of([NOMINAL, NUMBERS, LISTS], 3)
    own, other = some_tables(layout, rng, 25, 2)[0], some_tables(layout, rng, 60, seen)[0]
    recipe, public, codes = read_recipe(text), PublicPrior.of(prior), some_codes(layout, rng, 30)
    counts = own + other + np.uint64(recipe.weight) * own
    of_class = layout.class_counts(counts).astype(np.float64)
    possible = (of_class > 0) & (np.array(prior) > 0)
    model = fixed_model(layout, own + other, recipe, own, public)
    if possible.any():
        assert possible[fixed_labels(layout, model, codes)].all()
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.log2([float(share) for share in public.shares]) - np.log2(of_class / of_class.sum())
        expected = (real_scores(layout, counts, codes) + relative[:, None])[possible]
    precision = precision_for(layout, recipe, public)
    found = fixed_scores(layout, model, codes)[possible] / 2.0**precision.fraction
    in_clear = recipe_scores(layout, own + other, codes, recipe, own, public)
    if possible.any():
        assert np.abs((found - found[:1]) - (expected - expected[:1])).max() < 2 * precision.margin + 1e-9
        assert np.abs((in_clear[possible] - in_clear[possible][:1]) - (expected - expected[:1])).max() < 1e-9
    assert (in_clear[~possible] == -np.inf).all()


@given(number=SEEDS, text=st.sampled_from(RECIPES[:-1]))
@settings(max_examples=40)
def test_scores_of_a_recipe_are_those_of_its_model(number: int, text: str) -> None:
    rng, layout = np.random.default_rng(number), layout_of([NOMINAL, NUMBERS, LISTS], 3, COINS)
    own, recipe, codes = some_tables(layout, rng, 25, 2)[0], read_recipe(text), some_codes(layout, rng, 30)
    joint = own + some_tables(layout, rng, 60, 3)[0]
    noisy = blurred_in_clear(layout, joint, Randomness(seed(number)), Randomness(seed(number + 1)))
    precision = precision_for(layout, recipe)
    found = fixed_scores(layout, fixed_model(layout, noisy, recipe, own), codes) / 2.0**precision.fraction
    expected = recipe_scores(layout, noisy, codes, recipe, own)
    assert np.abs(found - (expected - expected[0])).max() < 2 * precision.margin


@pytest.mark.parametrize("least", [1e-300, 5e-324, 0.0])
def test_an_extreme_prior_fits_the_width(least: float) -> None:
    """The likely class wins over the unlikely one, this one over an impossible one, and no difference wraps around."""
    values = tuple(str(at) for at in range(1000))
    attributes = tuple(Nominal(name=f"a{at}", values=values) for at in range(100))
    dictionary = Dictionary(
        class_column="c", classes=("x", "y", "z"), attributes=attributes, max_rows=2**40, smoothing=Fraction(1, 1000)
    )
    layout, public = Layout(dictionary), PublicPrior.of([1.0, least, 0.0])
    vector = np.zeros(layout.size, np.uint64)
    rows = np.array([2**40 - 2, 1, 1], np.uint64)
    layout.class_counts(vector)[:] = rows
    for _, block in layout.blocks(vector):
        block[0] = rows * np.array([0, 0, 1], np.uint64)  # the last class alone has the value that is asked for
        block[1] = rows * np.array([1, 1, 0], np.uint64)
    scores = fixed_scores(layout, fixed_model(layout, vector, public=public), np.zeros((100, 1), np.int32))[:, 0]
    assert scores.argmax() == (0 if least == 0 else 1)
    precision = precision_for(layout, JOINT, public)
    assert scores[2] < 0
    assert np.ptp(scores) > 1 << (precision.width - 4)


def test_it_replaces_whatever_prior_the_recipe_has() -> None:
    layout, rng = layout_of([NOMINAL], 3), np.random.default_rng(0)
    own, public = some_tables(layout, rng, 9, 2)[0], PublicPrior.of([0.2, 0.3, 0.5])
    joint = own + some_tables(layout, rng, 30, 3)[0]
    models = [fixed_model(layout, joint, Recipe("personal", 3, prior), own, public) for prior in ("own", "joint")]
    assert flat(models[:1]) == flat(models[1:])


def test_a_class_without_patients_does_not_win_by_its_prior() -> None:
    layout = layout_of([NOMINAL])
    vector = count(layout, Codes(np.zeros((1, 2), np.int32), np.zeros(2, np.int32)))
    model = fixed_model(layout, vector, public=PublicPrior.of([1e-9, 1.0]))
    assert fixed_labels(layout, model, np.array([[0, 1, 2, 3]], np.int32)).tolist() == [0] * 4


def test_a_prior_is_in_proportion_and_exact() -> None:
    assert PublicPrior.of([0.5, 1.5]) == PublicPrior((Fraction(1, 4), Fraction(3, 4)))
    assert PublicPrior.of([1, 1, 0, 2]).logs.view(np.int64).tolist() == [
        -2 << FRACTION,
        -2 << FRACTION,
        0,
        -1 << FRACTION,
    ]
    for wrong in ([0.0, 0.0], [1.0, -0.1]):
        with pytest.raises(Unsupported, match="public prior"):
            PublicPrior.of(wrong)
