"""What a simulation is asked to do with recipes: what is compared, what is agreed on, and what does not go together."""

from __future__ import annotations

import re
from typing import Any

import pytest

from mixbayes.agreement.agreement import MOST_PERSONAL
from mixbayes.evaluation.recommendation import COMPARED
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.bayes.recipe import read_recipe
from mixbayes.protocol.errors import DictionaryTooLarge, Unsupported
from mixbayes.simulation.wishes import USUAL, USUAL_FOLDS, Wishes, wishes

PERSONAL = "personal:weight=3:prior=own"
COSTLY = "personal:weight=10:prior=own:costs=yes=5"
OWN_PRIOR, TENFOLD = COMPARED[1:]


def texts(wished: Wishes) -> list[str]:
    return list(map(str, wished.compared))


def test_usually_nobody_judges_and_nothing_is_agreed() -> None:
    assert wishes() == USUAL
    assert (USUAL.evaluate, USUAL.everybody_asks, USUAL.agreed, USUAL.folds) == (False, False, (), 1)


def test_an_evaluation_compares_what_mixbayes_evaluate_does() -> None:
    wished = wishes(evaluate=True)
    assert texts(wished) == list(COMPARED)
    assert wished.folds == USUAL_FOLDS
    assert wished.agreed == (OWN_PRIOR, TENFOLD)
    assert wished.everybody_asks
    assert wished.recipe == ""
    assert wishes(evaluate=True, folds=3, test_share=0.25) == Wishes(3, 0.25, wished.compared)


def test_best_is_what_an_evaluation_finds() -> None:
    assert wishes(recipe="best") == Wishes(USUAL_FOLDS, compared=wishes(evaluate=True).compared, recipe="best")


def test_without_noise_all_that_is_used_is_agreed_on_and_no_more_than_may_be() -> None:
    assert wishes(recipe=PERSONAL).agreed == (PERSONAL,)
    assert wishes(recipe="joint").agreed == wishes(recipe="own").agreed == ()
    wished = wishes(evaluate=True, recipe=PERSONAL)
    assert texts(wished) == ["joint", OWN_PRIOR, PERSONAL]
    assert len(wished.agreed) == MOST_PERSONAL


def test_costs_make_no_other_personal_recipe() -> None:
    wished = wishes(evaluate=True, recipe=COSTLY)
    assert texts(wished) == [*COMPARED, COSTLY]
    assert wished.agreed == (OWN_PRIOR, TENFOLD, COSTLY)


def test_with_noise_only_costs_and_margins_are_agreed_on() -> None:
    wished = wishes(evaluate=True, recipe=PERSONAL, compare=[], noise=True)
    assert texts(wished) == [*COMPARED, PERSONAL]
    assert wished.agreed == ()
    assert wishes(recipe=COSTLY, noise=True).agreed == (COSTLY,)
    assert wishes(recipe="joint:unsure=1", noise=True).agreed == ("joint:unsure=1",)


def test_named_recipes_are_compared_in_place_of_the_usual_ones() -> None:
    wished = wishes(evaluate=True, compare=["personal:weight=3", "own", "joint", PERSONAL], recipe="joint")
    assert texts(wished) == [PERSONAL, "joint"]
    assert texts(wishes(evaluate=True, compare=["own:costs=yes=5"])) == ["own:costs=yes=5"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"evaluate": True, "protocol": "paillier"}, "--evaluate judges classifiers on shares"),
        ({"recipe": "best", "protocol": "paillier"}, "--recipe best judges classifiers on shares"),
        ({"recipe": f"{PERSONAL}:unsure=1", "protocol": "paillier"}, "the Paillier protocol has no unsure answers"),
        ({"evaluate": True, "folds": 1}, "--evaluate with --folds 1: patients are dealt into 2 to 20 folds"),
        ({"evaluate": True, "folds": 21}, "--folds 21"),
        ({"recipe": "best", "folds": 0}, "--recipe best with --folds 0"),
        ({"folds": 5}, "--folds is about evaluations, and nobody evaluates"),
        ({"recipe": PERSONAL, "compare": ["joint"]}, "--compare is about evaluations"),
        ({"test_share": 0.6}, "--test-share 0.6: a share from 0 to 0.5"),
        ({"recipe": "better"}, "'better' is no recipe"),
        ({"evaluate": True, "compare": ["personal:weight=101"]}, "is no recipe"),
        ({"evaluate": True, "compare": [PERSONAL, *COMPARED]}, "at most 2 personal recipes can be agreed on"),
    ],
)
def test_what_does_not_go_together(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(Unsupported, match=re.escape(said)):
        wishes(**asked)


def test_what_goes_together_all_the_same() -> None:
    """The exact protocol answers by all recipes that are sure."""
    assert wishes(recipe=COSTLY, protocol="paillier").agreed == (COSTLY,)
    assert wishes(recipe="own:unsure=1", protocol="paillier").asked == read_recipe("own:unsure=1")
    assert len(wishes(evaluate=True, compare=[PERSONAL, *COMPARED], noise=True).compared) == 4


def layout(attributes: int = 1) -> Layout:
    columns = tuple(Nominal(name=f"x{at}", values=("1", "2")) for at in range(attributes))
    return Layout(Dictionary(class_column="c", classes=("no", "yes"), attributes=columns))


@pytest.mark.parametrize("protocol", ["shares", "paillier"])
def test_a_cost_of_a_class_that_there_is_not(protocol: str) -> None:
    wishes(recipe=COSTLY).refuse_unfit(layout(), protocol)
    with pytest.raises(Unsupported, match="has a cost for 'maybe'; the classes are no, yes"):
        wishes(recipe="own:costs=maybe=5").refuse_unfit(layout(), protocol)


def test_numbers_that_do_not_fit_a_key() -> None:
    """Of the plain joint classifier they do."""
    many = layout(attributes=62)
    wishes(recipe="joint").refuse_unfit(many, "paillier")
    with pytest.raises(DictionaryTooLarge, match="needs a key of"):
        wishes(recipe="personal:weight=100").refuse_unfit(many, "paillier")
    wishes(recipe="personal:weight=100").refuse_unfit(many, "shares")
