"""Classifiers of one hospital: on shares bit for bit the reference, and the reference what its definition says."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mixbayes.privacy.coins import Coins
from mixbayes.protocol.arrays import Values, Words, mask
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.attributes.several import Several
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.bayes.label import decided
from mixbayes.protocol.bayes.model import Model, scores
from mixbayes.protocol.bayes.noise import as_in_noisy, blurred_in_clear
from mixbayes.protocol.bayes.precision import precision_for
from mixbayes.protocol.bayes.recipe import JOINT, Recipe, read_recipe
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model, fixed_models, real_scores
from mixbayes.protocol.bayes.training import train_each
from mixbayes.protocol.computing_party import ComputingParty
from mixbayes.protocol.errors import DictionaryTooLarge
from mixbayes.protocol.randomness import Randomness
from tests.protocol.pairs import SEEDS, both, seed

NOMINAL = Nominal(name="n", values=("x", "y", "z"))
LISTS = Several(name="s", values=("p", "q", "r", "t"), most=2)
NUMBERS = Gaussian(name="g", low=0.0, high=1.0)
KINDS = [[NOMINAL], [LISTS], [NUMBERS], [NUMBERS, LISTS, NOMINAL]]
COINS = Coins((4, 2, 3))
RECIPES = [
    "joint",
    "personal:weight=0:prior=own",
    "personal:weight=3:prior=joint",
    "personal:weight=100:prior=own",
    "personal:weight=7:prior=mixed:costs=c0=5,c1=0.2:unsure=0.75",
]


def layout_of(attributes: Sequence[Attribute], classes: int = 2, coins: Coins | None = None) -> Layout:
    named = [attribute.model_copy(update={"name": f"a{at}"}) for at, attribute in enumerate(attributes)]
    labels = tuple(f"c{at}" for at in range(classes))
    dictionary = Dictionary(class_column="class", classes=labels, attributes=tuple(named), max_rows=2**12)
    return Layout(dictionary, Terms(hospitals=2, coins=coins))


def some_codes(layout: Layout, rng: np.random.Generator, rows: int) -> Values:
    codes = [rng.integers(0, attribute.codes, (attribute.columns, rows)) for attribute in layout.dictionary.attributes]
    return np.concatenate(codes).astype(np.int32)


def some_tables(layout: Layout, rng: np.random.Generator, rows: int, seen: int, folds: int = 1) -> Words:
    """Counts of tables in which only the first classes occur."""
    labels = [rng.integers(0, seen, rows).astype(np.int32) for _ in range(folds)]
    return np.stack([count(layout, Codes(some_codes(layout, rng, rows), own)) for own in labels])


def shares_of(words: Words, number: int) -> tuple[Words, Words]:
    pad = Randomness(seed(number)).words(words.size).reshape(words.shape)
    return pad, words - pad


def opened(of_a: Sequence[Model], of_b: Sequence[Model]) -> list[Model]:
    """The models that two parties hold shares of."""
    return [
        Model(
            a.width,
            (a.prior + b.prior) & mask(a.width),
            tuple((mine + theirs) & mask(a.width) for mine, theirs in zip(a.tables, b.tables, strict=True)),
            a.margin,
        )
        for a, b in zip(of_a, of_b, strict=True)
    ]


def flat(models: Sequence[Model]) -> list[list[int]]:
    return [np.concatenate([model.prior, *(table.reshape(-1) for table in model.tables)]).tolist() for model in models]


@pytest.mark.parametrize("coins", [None, COINS])
@pytest.mark.parametrize("text", RECIPES)
@given(number=SEEDS, kinds=st.sampled_from(KINDS), rows=st.sampled_from([0, 1, 30]), seen=st.integers(1, 3))
@settings(max_examples=3)
def test_models_on_shares_are_those_of_the_reference(
    coins: Coins | None, text: str, number: int, kinds: list[Attribute], rows: int, seen: int
) -> None:
    layout, recipe, rng = layout_of(kinds, 3, coins), read_recipe(text), np.random.default_rng(number)
    folds = some_tables(layout, rng, rows, seen, folds=2)
    joint = folds.sum(axis=0, dtype=np.uint64) + some_tables(layout, rng, 40, 2)[0]
    if coins:
        joint = blurred_in_clear(layout, joint, Randomness(seed(number)), Randomness(seed(number + 1)))
    # Without each of the two folds: of the joint counts, and of the hospital's own ones.
    rest, own = joint - as_in_noisy(layout, folds), folds[::-1]
    parts = list(zip(shares_of(rest, number), shares_of(own, number + 1), strict=True))
    found = both(lambda me: train_each(me, layout, recipe, *parts[me.role]), ())
    assert flat(opened(*found)) == flat(fixed_models(layout, recipe, rest, own))


@given(number=SEEDS, weight=st.integers(0, 100), prior=st.sampled_from(["joint", "own", "mixed"]))
@settings(max_examples=40)
def test_the_reference_scores_as_the_definition_says(number: int, weight: int, prior: str) -> None:
    if weight == 0 and prior != "own":
        weight = 1
    rng, layout = np.random.default_rng(number), layout_of([NOMINAL, NUMBERS, LISTS], 3)
    own, other = some_tables(layout, rng, 25, 2)[0], some_tables(layout, rng, 60, 3)[0]
    joint, recipe = own + other, Recipe("personal", weight, prior)  # type: ignore[arg-type]
    codes = some_codes(layout, rng, 50)
    model = fixed_model(layout, joint, recipe, own)
    of_prior = {"joint": joint, "own": own, "mixed": joint + np.uint64(weight) * own}[prior]
    counts = layout.class_counts(of_prior).astype(np.float64)
    counts[counts == 0] = 0.5
    with_own = joint + np.uint64(weight) * own
    expected = real_scores(layout, with_own, codes)
    expected += np.log2(counts)[:, None] - np.log2(layout.class_counts(with_own).astype(np.float64))[:, None]
    precision = precision_for(layout, recipe)
    top = np.uint64(64 - model.width)
    found = (scores(layout, model, codes) << top).view(np.int64) / 2.0 ** (precision.fraction + int(top))
    assert np.abs(found - (expected - expected[0])).max() < 2 * precision.margin


def test_a_class_that_the_hospital_never_saw_can_win_and_one_that_nobody_saw_cannot() -> None:
    layout = layout_of([NOMINAL], 3)
    own = count(layout, Codes(np.zeros((1, 2), np.int32), np.zeros(2, np.int32)))
    other = count(layout, Codes(np.ones((1, 9), np.int32), np.ones(9, np.int32)))
    model = fixed_model(layout, own + other, Recipe("personal", 0, "own"), own)
    assert fixed_labels(layout, model, np.array([[0, 1, 2, 3]], np.int32)).tolist() == [0, 1, 0, 0]


def test_costs_and_margin_change_answers_as_they_say() -> None:
    layout = layout_of([NOMINAL])
    table = Codes(np.array([[0, 0, 0, 1, 1, 1, 2, 2]], np.int32), np.array([0, 0, 0, 1, 1, 1, 0, 1], np.int32))
    vector, codes = count(layout, table), np.array([[0, 1, 2]], np.int32)

    def answers(text: str) -> list[int]:
        return fixed_labels(layout, fixed_model(layout, vector, read_recipe(text)), codes).tolist()

    # The likelihoods of x and of y are 4 to 1 and 1 to 4, that of z is 1 to 1.
    assert answers("joint") == [0, 1, 0]
    assert answers("joint:costs=c1=1.01") == [0, 1, 1]
    assert answers("joint:costs=c1=3.9") == [0, 1, 1]
    assert answers("joint:costs=c1=4.1") == [1, 1, 1]
    assert answers("joint:unsure=2") == [0, 1, 2]
    assert answers("joint:unsure=2.001") == [2, 2, 2]
    assert answers("joint:unsure=2:costs=c1=2") == [2, 1, 2]


@given(number=SEEDS, classes=st.integers(2, 5), margin=st.integers(1, 40), width=st.integers(12, 63))
@settings(max_examples=25)
def test_unsure_is_decided_on_shares_as_in_the_clear(number: int, classes: int, margin: int, width: int) -> None:
    rng = np.random.default_rng(number)
    real = rng.integers(-40, 41, (classes, 30))
    real[:, :5] = real[:1, :5]  # all equal
    words = real.astype(np.uint64) & mask(width)
    first = Randomness(seed(number)).words(words.size).reshape(words.shape) & mask(width)
    parts, model = (first, (words - first) & mask(width)), Model(width, np.zeros(classes - 1, np.uint64), (), margin)

    def party(me: ComputingParty) -> Words:
        return decided(me, parts[me.role], model)

    of_a, of_b = both(party, ())
    assert _answers(of_a ^ of_b) == _expected(real, margin)


def _answers(hot: Words) -> list[int]:
    assert all(int(word).bit_count() == 1 for word in hot)
    return [int(word).bit_length() - 1 for word in hot]


def _expected(real: NDArray[np.int64], margin: int) -> list[int]:
    best, second = np.sort(real, axis=0)[-1:-3:-1]
    return np.where(best - second < margin, len(real), real.argmax(axis=0)).tolist()


def test_a_weight_that_makes_counts_too_large_is_refused() -> None:
    dictionary = Dictionary(class_column="c", classes=("a", "b"), attributes=(NUMBERS,), max_rows=2**37)
    layout = Layout(dictionary, Terms(hospitals=1))
    precision_for(layout)
    with pytest.raises(DictionaryTooLarge, match="at most 274877906944"):
        precision_for(layout, Recipe("personal", 100, "own"))


def test_the_joint_recipe_is_the_joint_model() -> None:
    layout = layout_of([NOMINAL, NUMBERS], 3)
    vector = some_tables(layout, np.random.default_rng(1), 30, 3)[0]
    assert flat([fixed_model(layout, vector)]) == flat([fixed_model(layout, vector, JOINT, vector)])
