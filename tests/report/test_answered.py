"""The page of a simulation whose hospitals ask by recipes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mixbayes.report.page import built
from mixbayes.report.simulated import simulated
from mixbayes.simulation.by_recipe import Answered, WithRecipe
from tests.report.browser import browser, opened
from tests.report.pages import EVIL, RUN, document, outcome
from tests.report.test_markup import read
from tests.report.test_pages import values

LONG = "personal:weight=3:prior=mixed:costs=sick=5,well=0.25:unsure=1"
JOINT = [[7, 1], [2, 6]]
NORTH = Answered(
    "personal:weight=10:prior=own:unsure=1",
    16,
    {"own": 0.5625, "joint": 0.8125, "recipe": 0.4375},
    {"own": [[5, 3], [4, 4]], "joint": JOINT, "recipe": [[4, 2, 2], [3, 3, 2]]},
    4,
)
SOUTH = Answered("own", 8, {"own": 0.25, "joint": 0.375, "recipe": 0.25}, {key: [[2]] for key in NORTH.confusion}, None)


def asked(*hospitals: Answered, recipe: str = "best") -> WithRecipe:
    named = {f"{EVIL} {at}": one for at, one in enumerate(hospitals)}
    return WithRecipe(**(vars(NORTH) | {"recipe": recipe, "rows": 24}), hospitals=named)


def page(found: WithRecipe) -> str:
    return built(simulated(replace(outcome(["a", "b"], ["no", "yes"]), recipe=found)), RUN)


def test_every_hospital_has_its_own_joint_and_asked_shares() -> None:
    shown = page(asked(NORTH, SOUTH))
    assert ">all hospitals<" in shown
    assert {0.5625, 0.8125, 0.4375, 0.25, 0.375, 16, 8, 24, 4} <= values(shown)
    text = read(shown).text
    for said in (
        "2 hospitals asked about 24 rows by best: each by the recipe that did best in its own evaluation.",
        "Of the answers 4 are unsure. An unsure answer does not count as right.",
        "of the labels that were asked for by best are those that the same recipe gives on pooled counts",
        EVIL,
    ):
        assert said in text


def test_one_recipe_for_all_is_explained() -> None:
    shown = page(asked(SOUTH, recipe="own"))
    assert "1 hospital asked about 24 rows by own: the hospital's own classifier" in read(shown).text
    assert ">all hospitals<" not in shown


def test_where_no_class_is_known_nothing_is_drawn() -> None:
    shares: dict[str, float | None] = dict.fromkeys(NORTH.accuracy)
    counts: dict[str, list[list[int]] | None] = dict.fromkeys(NORTH.confusion)
    unknown = Answered("joint", 3, shares, counts, None)
    found = replace(asked(unknown, recipe="joint"), accuracy=shares, confusion=counts, unsure=None)
    text = read(page(found)).text
    assert "No row carries a known class, so nothing tells right from wrong." in text
    assert "An unsure answer" not in text


def test_what_an_evaluation_cost_is_on_the_page() -> None:
    plain = outcome(["a", "b"], ["no", "yes"])
    judged = replace(
        plain,
        seconds=replace(plain.seconds, evaluate=77.125),
        bytes=replace(plain.bytes, evaluation=8_765_432),
        rounds=replace(plain.rounds, evaluation=4321),
    )
    shown = built(simulated(judged, columns=["x"], evaluation=[document("a", ["no", "yes"], ["joint"])]), RUN)
    assert {77.125, 8_765_432, 4321} <= values(shown)
    assert f"{77.125 + sum(v for v in vars(plain.seconds).values() if v):.2f} s" in read(shown).text
    assert "evaluation" not in read(built(simulated(plain), RUN)).text


@pytest.mark.parametrize("width", [360, 1280])
def test_any_name_and_any_recipe_fits(width: int) -> None:
    browser()
    named = {"W" * 80: replace(NORTH, recipe=LONG), EVIL: NORTH, "south": SOUTH}
    seen = opened(page(replace(asked(NORTH, recipe=LONG), hospitals=named)), width)
    assert seen.width == width  # no scrolling sideways
    assert seen.outside == []
    assert not seen.hacked
    assert all(wide > 250 and high > 40 for wide, high in seen.pictures)
