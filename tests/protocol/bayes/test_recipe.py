"""Recipes as texts: what they say, what they may not say, and that text and recipe are one to one."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.protocol.bayes.recipe import JOINT, LONGEST, OWN, PRIORS, Recipe, read_recipe
from mixbayes.protocol.circuits.logarithm import FRACTION
from mixbayes.protocol.errors import Unsupported

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8)
AMOUNTS = st.integers(1, 9999).map(lambda parts: Fraction(parts, 1000)).filter(lambda amount: amount != 1)
COSTS = st.dictionaries(NAMES, AMOUNTS, max_size=4).map(lambda costs: tuple(sorted(costs.items())))
PERSONAL = st.tuples(st.integers(0, 100), st.sampled_from(PRIORS)).filter(
    lambda given: given[0] > 0 or given[1] == "own"
)
RECIPES = st.one_of(
    st.builds(Recipe, st.sampled_from(["own", "joint"]), costs=COSTS, unsure=st.none() | AMOUNTS),
    st.builds(
        lambda given, costs, unsure: Recipe("personal", given[0], given[1], costs, unsure),
        PERSONAL,
        COSTS,
        st.none() | AMOUNTS,
    ),
)


@given(RECIPES)
def test_the_text_of_a_recipe_is_that_recipe(recipe: Recipe) -> None:
    assert read_recipe(str(recipe)) == recipe


@pytest.mark.parametrize(
    ("text", "recipe"),
    [
        ("own", OWN),
        ("joint", JOINT),
        ("personal", Recipe("personal", 10, "own")),
        ("personal:prior=mixed:weight=3", Recipe("personal", 3, "mixed")),
        ("personal:weight=0", Recipe("personal", 0, "own")),
        ("joint:costs=sick=5", Recipe("joint", costs=(("sick", Fraction(5)),))),
        ("joint:costs=>50K=2,<=50K=1", Recipe("joint", costs=((">50K", Fraction(2)),))),
        (
            'own:costs="a:b,""c"=0.5:unsure=1.5',
            Recipe("own", costs=(('a:b,"c', Fraction(1, 2)),), unsure=Fraction(3, 2)),
        ),
    ],
)
def test_recipes_as_people_write_them(text: str, recipe: Recipe) -> None:
    assert read_recipe(text) == recipe


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "nothing is called ''"),
        ("mine", "nothing is called 'mine'"),
        ("joint:weight=3", "only personal"),
        ("personal:weight=101", "0 to 100"),
        ("personal:weight=-1", "0 to 100"),
        ("personal:weight=²", "0 to 100"),
        ("personal:weight=1:weight=2", "twice"),
        ("personal:weight", "no value"),
        ("personal:prior=his", "a prior is one of"),
        ("personal:weight=0:prior=joint", "it is `joint`"),
        ("personal:cost=sick=5", "nobody knows 'cost'"),
        ("joint:costs=sick", "CLASS=5"),
        ("joint:costs=", "CLASS=5"),
        ("joint:costs=sick=0", "0.001 to 1000"),
        ("joint:costs=sick=1001", "0.001 to 1000"),
        ("joint:costs=sick=2,sick=3", "two costs"),
        ('joint:costs="sick=2', "a quote has no end"),
        ("joint:costs=" + '"' * 301 + "=2", "a quote has no end"),
        ("joint:unsure=33", "0.001 to 32"),
        ("joint:unsure=nan", "0.001 to 32"),
        ("joint:unsure=0.0001", "0.001 to 32"),
        ("joint:" + "x" * LONGEST, "longer than"),
    ],
)
def test_what_is_no_recipe_is_refused_with_the_reason(text: str, said: str) -> None:
    with pytest.raises(Unsupported, match="is no recipe") as caught:
        read_recipe(text)
    assert said in str(caught.value)


def test_many_quotes_are_read_in_one_way() -> None:
    """A pattern that could split them in several ways would try all of these for ever."""
    assert read_recipe("joint:costs=" + '"' * 300 + "=2").costs == (('"' * 149, Fraction(2)),)


@given(st.text(max_size=30))
def test_any_text_is_a_recipe_or_refused(text: str) -> None:
    try:
        recipe = read_recipe(text)
    except Unsupported:
        return
    assert read_recipe(str(recipe)) == recipe


def test_costs_are_logarithms_and_name_classes_that_there_are() -> None:
    recipe = read_recipe("joint:costs=sick=8,well=0.5")
    assert recipe.offsets(["well", "sick", "other"], FRACTION) == [-1 << FRACTION, 3 << FRACTION, 0]
    recipe.refuse_unknown_classes(["well", "sick"])
    with pytest.raises(Unsupported, match="a cost for 'sick'"):
        recipe.refuse_unknown_classes(["well", "ill"])


@pytest.mark.parametrize("text", ["joint", "joint:costs=a=1000", "joint:costs=a=1000,b=0.001", "joint:costs=a=3,b=2"])
def test_no_cost_moves_two_scores_further_apart_than_is_said(text: str) -> None:
    recipe = read_recipe(text)
    offsets = recipe.offsets(["a", "b", "c"], FRACTION)
    assert max(offsets) - min(offsets) <= recipe.offset_bits << FRACTION


def test_unsure_cannot_be_a_class_too() -> None:
    read_recipe("joint").refuse_unknown_classes(["sure", "unsure"])
    with pytest.raises(Unsupported, match="which is a class already"):
        read_recipe("joint:unsure=1").refuse_unknown_classes(["sure", "unsure"])


def test_unsure_needs_room_beside_the_classes() -> None:
    classes = [f"c{at}" for at in range(64)]
    read_recipe("joint").refuse_unknown_classes(classes)
    read_recipe("joint:unsure=1").refuse_unknown_classes(classes[:63])
    with pytest.raises(Unsupported, match="beside 64 classes"):
        read_recipe("joint:unsure=1").refuse_unknown_classes(classes)
