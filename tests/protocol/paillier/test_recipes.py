"""Recipes in the Paillier protocol: the labels are those of exact arithmetic, and no comparison wraps around."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes.precision import precision_for
from mixbayes.protocol.bayes.recipe import PRIORS, Recipe, read_recipe
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model, fixed_scores
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.errors import DictionaryTooLarge, Unsupported
from mixbayes.protocol.paillier import exact
from mixbayes.protocol.paillier.classification import _products, winners
from mixbayes.protocol.paillier.training import Group, train_exactly
from tests.protocol.paillier.test_classification import opened, seat_of
from tests.protocol.paillier.test_key import small_key
from tests.protocol.pairs import SEEDS, both, layout_of, random_codes, random_counts

COSTS = [(), (("c0", Fraction(5)),), (("c0", Fraction("0.125")), ("c1", Fraction("3.3")))]
ROWS = 50
"""Of each hospital, at most."""


@st.composite
def recipes(draw: st.DrawFn) -> Recipe:
    costs = draw(st.sampled_from(COSTS))
    if draw(st.integers(0, 4)) == 0:
        return Recipe("joint", costs=costs)
    prior = draw(st.sampled_from(PRIORS))
    return Recipe("personal", draw(st.sampled_from([prior != "own", 1, 10, 100])), prior, costs)


@dataclass
class Problem:
    """Two hospitals' counts, of which the asking one's may lack a class, and rows to classify."""

    layout: Layout
    recipe: Recipe
    own: Words
    other: Words
    codes: Values

    @property
    def joint(self) -> Words:
        return self.own + self.other

    @property
    def expected(self) -> list[int]:
        labels: list[int] = exact.labels(self.layout, self.joint, self.codes, self.recipe, self.own).tolist()
        return labels


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    classes, smoothing = draw(st.integers(2, 4)), draw(st.sampled_from(["1", "1/2", "0.3"]))
    layout = pair_of(layout_of(classes, sizes, max_rows=ROWS, smoothing=smoothing))
    rng = np.random.default_rng(draw(SEEDS))
    own, other = (random_counts(layout, rng, draw(st.sampled_from([0, 3, ROWS])), empty=0.3) for _ in range(2))
    return Problem(layout, draw(recipes()), own, other, random_codes(layout, rng, draw(st.integers(1, 8))))


def pair_of(layout: Layout) -> Layout:
    dictionary = layout.dictionary.model_copy(update={"classes": tuple(f"c{at}" for at in range(layout.classes))})
    return Layout(dictionary, Terms(hospitals=2))


def probability(p: Problem, row: list[int], c: int) -> Fraction:
    """The prior of the recipe, times its cost, times Π P(v|c) over N + w · own, in numbers as texts write them."""
    weight, alpha = p.recipe.weight, p.layout.dictionary.smoothing
    own, joint = (int(p.layout.class_counts(vector)[c]) for vector in (p.own, p.joint))
    if joint == 0:
        return Fraction(0)
    prior = {"joint": Fraction(joint), "own": own or Fraction(1, 2), "mixed": Fraction(joint + weight * own)}
    result = prior[p.recipe.prior] * dict(p.recipe.costs).get(f"c{c}", 1)
    for a, value in enumerate(row):
        mine, all_of = (p.layout.block(vector, a)[:-1, c].tolist() for vector in (p.own, p.joint))
        counts = [n + weight * m for n, m in zip(all_of, mine, strict=True)]
        if value < len(counts):
            result *= (counts[value] + alpha) / (sum(counts) + alpha * len(counts))
    return Fraction(result)


@given(problems())
@settings(max_examples=60)
def test_the_reference_is_what_the_recipe_says(p: Problem) -> None:
    for row, label in zip(p.codes.T.tolist(), p.expected, strict=True):
        chances = [probability(p, row, c) for c in range(p.layout.classes)]
        assert chances[label] == max(chances)
        assert max(chances) not in chances[:label]


@given(problems())
@settings(max_examples=40)
def test_the_shares_protocol_agrees_beyond_its_bound(p: Problem) -> None:
    if not p.layout.class_counts(p.joint).any():
        return
    precision, model = precision_for(p.layout, p.recipe), fixed_model(p.layout, p.joint, p.recipe, p.own)
    best = np.sort(fixed_scores(p.layout, model, p.codes), axis=0)[-2:] / 2.0**precision.fraction
    clear = best[1] - best[0] > 2 * precision.margin
    assert (fixed_labels(p.layout, model, p.codes) == np.array(p.expected))[clear].all()


@pytest.mark.parametrize("asker", [A, B], ids=["A asks", "B asks"])
@given(p=problems(), bits=st.sampled_from([256, 700]))
@settings(max_examples=20)
def test_from_counts_to_labels(asker: int, p: Problem, bits: int) -> None:
    key = small_key(bits)

    def classify(me: ComputingParty) -> Words:
        vector, own = (p.own, p.own) if me.role == asker else (p.other, None)
        model = train_exactly(me, Group.of(p.layout, key.public, p.recipe), p.layout, vector, p.recipe, own)
        return winners(me, seat_of(me, key), model, _products(model, p.codes))

    assert [word.bit_length() - 1 for word in opened(both(classify, ()))] == p.expected


@given(recipes(), st.integers(2, 4), st.sampled_from(["1", "3/7"]), SEEDS)
@settings(max_examples=60)
def test_both_sides_of_every_comparison_stay_below_the_bound(
    recipe: Recipe, classes: int, smoothing: str, number: int
) -> None:
    """Where both have as many rows as they may, all of the asking hospital's alike."""
    layout, rng = (
        pair_of(layout_of(classes, [2, 5, 1], max_rows=ROWS, smoothing=smoothing)),
        np.random.default_rng(number),
    )
    own = np.zeros(layout.size, np.uint64)
    layout.class_counts(own)[0] = ROWS
    for a in range(len(layout.rows)):
        layout.block(own, a)[0, 0] = ROWS
    for other in (own, random_counts(layout, rng, ROWS, empty=0)):
        of_asker, of_other = exact.cells(layout, own, 1, recipe, own), exact.cells(layout, other, 0, recipe)
        prior = int(max(of_asker.prior + of_other.prior + 1 * (recipe.prior == "own")))
        numerators = [a + b for a, b in zip(of_asker.numerators, of_other.numerators, strict=True)]
        most = prior * prod(int(cells.max()) * int(cells.sum(axis=0).max()) for cells in numerators)
        assert most < 1 << exact.comparison_bits(layout, recipe)
        assert max(prior, *(int(cells.sum(axis=0).max()) for cells in numerators)) < 1 << exact.cell_bits(
            layout, recipe
        )


def test_the_own_prior_of_a_class_that_nobody_has_does_not_win() -> None:
    """It enters as a number that is not zero, and a shared bit says that it loses."""
    layout = pair_of(layout_of(3, [2], max_rows=ROWS))
    own, other = (np.array([0, n, m, 0, n, m, 0, 0, 0, 0, 0, 0], np.uint64) for n, m in ((2, 0), (0, 9)))
    recipe = read_recipe("personal:weight=1:prior=own:costs=c0=1000")
    codes = np.array([[0, 1, 2]], np.int32)
    assert Problem(layout, recipe, own, other, codes).expected == [1, 1, 1]
    assert 2 in Problem(layout, replace(recipe, prior="joint"), own, other, codes).expected


def test_what_is_not_possible_is_refused() -> None:
    layout = pair_of(layout_of(2, [3] * 5, max_rows=1000))
    with pytest.raises(Unsupported, match="no unsure answers"):
        exact.fitting_bits(layout, 3072, read_recipe("joint:unsure=1"))
    bits = exact.fitting_bits(layout, 3072, read_recipe("joint"))
    weighted = read_recipe("personal:weight=100:prior=mixed")
    assert exact.comparison_bits(layout, weighted) > bits + 10 * 6  # a factor of 51 in the prior and in every cell
    with pytest.raises(DictionaryTooLarge, match="102000 rows"):
        exact.fitting_bits(layout, bits + 43, weighted)


def test_an_own_prior_is_in_half_patients_and_the_other_hospital_adds_nothing() -> None:
    layout = pair_of(layout_of(3, [2], max_rows=ROWS))
    own, other = (np.array([n, 0, 7, n, 0, 7, 0, 0, 0, 0, 0, 0], np.uint64) for n in (5, 9))
    recipe = read_recipe("personal:weight=1:prior=own:costs=c0=0.5")
    assert exact.cells(layout, own, 1, recipe, own).prior.tolist() == [10 * 1, 1 * 2, 14 * 2]
    assert exact.cells(layout, other, 0, recipe).prior.tolist() == [0, 0, 0]
