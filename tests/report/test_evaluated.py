"""The page of an evaluation: well-formed for any document, with every number of it, and whole names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixbayes.report.calibration_chart import Calibrated, calibration_chart
from mixbayes.report.confusion import answers, confusions
from mixbayes.report.drawing import NARROW, WIDE, Picture
from mixbayes.report.evaluated import evaluated
from mixbayes.report.evaluated_words import breakable, meaning, points, probability
from mixbayes.report.evaluation_document import Bin, read_evaluated
from mixbayes.report.roc_chart import Curve, line_of, roc_chart
from mixbayes.report.whiskers import Group, Kind, Whisker, whiskers
from tests.report.pages import EVIL, document, evaluation
from tests.report.test_markup import read
from tests.report.test_pictures import drawn, unbroken

LONG = "no evidence of disease, follow-up within 12 months"
RECIPES = ["joint", "personal:weight=10:prior=own", "personal:weight=3:prior=mixed:costs=sick=5:unsure=1"]
NAMES = st.text(min_size=1, max_size=30)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Of any size and with any names."""
    classes = draw(st.lists(NAMES, min_size=2, max_size=10, unique=True))
    recipes = draw(st.lists(st.sampled_from([*RECIPES, EVIL]) | NAMES, max_size=4, unique=True))
    return document(
        draw(NAMES),
        classes,
        recipes,
        seed=draw(st.integers(0, 1000)),
        rows=draw(st.integers(0, 80)),
        columns=draw(st.lists(NAMES, max_size=5)),
        unsure=draw(st.booleans()),
    )


def values(page: str) -> set[float]:
    return {float(value) for value in re.findall(r'<data value="([^"]*)"', page)}


def numbers(found: object) -> Iterator[float]:
    """Every number of a document but the folds, which are told in words; counts of nobody may be left out."""
    if isinstance(found, dict):
        for name, value in found.items():
            if name != "folds":
                yield from numbers(value)
    elif isinstance(found, list):
        for value in found:
            yield from numbers(value)
    elif isinstance(found, int | float) and not isinstance(found, bool) and found:
        yield found


def tree(page: str) -> ElementTree.Element:
    return ElementTree.fromstring(page.removeprefix("<!DOCTYPE html>"))


@settings(max_examples=40, deadline=None)
@given(st.lists(documents(), min_size=1, max_size=3))
def test_any_document_is_a_page_with_all_its_numbers(several: list[dict[str, Any]]) -> None:
    page = evaluation(*several)
    root = tree(page)
    names = {element.tag for element in root.iter()}
    assert not {"script", "img", "iframe", "object"} & names
    assert not [name for element in root.iter() for name in element.attrib if name.startswith("on")]
    assert set(numbers(several)) <= values(page)


@settings(max_examples=25, deadline=None)
@given(documents())
def test_any_document_survives_json(found: dict[str, Any]) -> None:
    assert evaluation(json.loads(json.dumps(found, allow_nan=False))) == evaluation(found)


def first_lines(page: str) -> str:
    return " ".join("".join(each.itertext()) for each in tree(page).iter("p") if each.get("class") == "lead")


def found(recommended: str | None, **changed: Any) -> dict[str, Any]:
    return document("north", [LONG, "sick"], RECIPES) | {"recommended": recommended, "why": "So it is."} | changed


def test_the_first_lines_recommend_with_the_difference_and_its_chance() -> None:
    told = found(RECIPES[1])
    beside = told["recipes"][1]["difference_from_own"]
    said = first_lines(evaluation(told))
    assert said.startswith(f"north: joining is worth it by accuracy. The recommended recipe is {RECIPES[1]}.")
    assert f"{points(beside['points'])} percentage points" in said
    assert f"p {'= ' * (beside['p'] >= 0.0001)}{probability(beside['p'])}" in said
    one, other = beside["only_this_right"], beside["only_own_right"]
    assert f"the recipe alone labels {one} patients rightly, the own classifier alone {other}." in said
    assert f"95% interval {points(beside['interval'][0])} to {points(beside['interval'][1])}" in said
    assert f"exact test on these {one + other} patients" in said
    assert f"The predicted column is outcome (“{LONG}”, “sick”), from 2 columns: age, sex." in said
    assert f"Whoever always answered “{told['commonest_class']['class']}”" in said
    right = told["recipes"][1]["confusion"][1][1]
    patients = sum(told["own"]["confusion"][1])
    own = told["own"]["confusion"][1][1]
    assert f"{right} of the {patients} patients of class “sick” (own classifier: {own})" in said


@pytest.mark.parametrize(
    ("recommended", "said"),
    [
        ("own", "joining is not worth it here. The own classifier is recommended."),
        ("own:costs=sick=5", "joining is not worth it here"),
        (None, "these patients do not show that joining is worth it. No recipe is recommended; `best` is"),
        ("joint", "joining is worth it by accuracy. The recommended recipe is joint."),
    ],
)
def test_each_recommendation_in_words(recommended: str | None, said: str) -> None:
    page = evaluation(found(recommended))
    assert f"north: {said}" in first_lines(page)
    assert "So it is." in read(page).text


def test_without_a_recommendation_the_best_recipe_is_compared() -> None:
    told = found(None, best="own")
    best = max(told["recipes"], key=lambda one: one["accuracy"])
    assert f"{best['recipe']} labels {best['accuracy']:.2%} (95% interval" in first_lines(evaluation(told))
    assert "It labels" not in first_lines(evaluation(told))
    own_alone = first_lines(evaluation(found(None, recipes=[])))
    assert "The own classifier labels" in own_alone


def test_what_the_node_takes_is_told_where_nothing_is_recommended() -> None:
    taken = found(None, best="joint")
    assert "`best` is joint, which is probably better, but not shown to be." in first_lines(evaluation(taken))
    share = taken["recipes"][0]["accuracy"]
    assert f"The recipe joint labels {share:.2%}" in first_lines(evaluation(taken))
    assert "`best` is the own classifier." in first_lines(evaluation(found(None, best="own")))
    without = {key: value for key, value in taken.items() if key != "best"}
    assert "No recipe is recommended. " in first_lines(evaluation(without))


def test_it_says_what_was_opened() -> None:
    text = read(evaluation(found("joint"))).text
    assert "Only totals were opened" in text
    assert "No label of a patient left the computation" in text
    assert "opened to that hospital alone" in text
    assert "between two public thresholds" in text
    page = evaluated([found("joint")], joint=True, notes=["A note."])
    assert "sums over all hospitals" in page.gives_away[0]
    assert page.gives_away[-1] == "A note."
    assert "thresholds" not in evaluated([document("a", ["x", "y", "z"], ["joint"])]).gives_away[0]


def test_two_classes_have_curves_and_more_have_none() -> None:
    two, three = (read(evaluation(document("a", list(classes), ["joint"]))).text for classes in ("xy", "xyz"))
    for said in ("ROC curves", "right at their word", "area under ROC"):
        assert said in two
        assert said not in three


def test_several_hospitals_are_summed_up_first() -> None:
    page = evaluation(*(document(name, ["x", "y"], ["joint"]) for name in ("north", "south")))
    heads = [element.text for element in tree(page).iter() if element.tag in ("h2", "h3")]
    assert heads[:3] == ["All hospitals", "north", "How often the labels are right"]
    assert "All hospitals" not in evaluation(document("north", ["x", "y"], ["joint"]))
    assert read(page).text.count("Wilson's") == 1


def test_patients_kept_aside_are_not_told_as_folds() -> None:
    assert "dealt into 5 folds" in read(evaluation(found("joint"))).text
    aside = read(evaluation(found("joint", folds=1))).text
    assert "kept aside" in aside
    assert "folds" not in aside


def test_who_got_no_label_has_a_column() -> None:
    told = read_evaluated(document("a", ["x", "y"], ["joint", "joint:unsure=1"]))
    assert [len(answers(told.classes, one.confusion)) for one in told.results] == [2, 2, 3]
    page = read(evaluation(document("a", ["x", "y"], ["joint", "joint:unsure=1"]))).text
    assert "Unsure does not count as right." in page
    assert "unsure where the best score leads by less than 1 bit" in page


def test_a_recipe_in_words() -> None:
    assert meaning("own") == "the hospital's own classifier, from its own patients alone"
    assert "with the own patients counted 3 times more" in meaning("personal:weight=3:prior=mixed")
    assert meaning("personal:weight=0").startswith("the counts of all hospitals; prior: how common")
    assert "missing sick counts 5 times" in meaning("joint:costs=sick=5")
    assert "does not know" in meaning(EVIL)


@given(st.text(alphabet=st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"])))
def test_the_text_of_a_recipe_stays_whole(recipe: str) -> None:
    assert read(breakable(recipe)).text == recipe


def many_pictures(name: str) -> Iterator[Picture]:
    rows = [Whisker(name, 0.5, (0.4, 0.6), "50%", kind) for kind in Kind]
    yield whiskers([Group(name, rows, 0.55)], "alt", "share of the commonest class")
    yield confusions([name, "b"], [(name, [[5, 1, 1], [2, 3, 0]]), ("joint", [[1, 2], [3, 4]])], "alt")
    yield roc_chart([Curve(name, [(0, 0), (0.2, 0.8), (1, 1)], name)], name, name, "alt")
    yield calibration_chart([Calibrated(name, [Bin(0, 0.5, 3, 1 / 3), Bin(0.5, 1, 0, None)])], name, name, "alt")


@pytest.mark.parametrize("width", [NARROW, WIDE])
@pytest.mark.parametrize("name", [LONG, EVIL, "W" * 80, "医" * 60, RECIPES[2]])
def test_long_names_are_whole(name: str, width: float) -> None:
    for picture in many_pictures(name):
        assert unbroken(name) in [unbroken(words).removeprefix("1:") for words in texts(picture, width)]


def texts(picture: Picture, width: float) -> list[str]:
    return ["".join(text.itertext()) for text in drawn(picture, width).iter("text")]


@given(st.lists(st.integers(0, 40), min_size=1, max_size=12))
def test_patients_are_whole_on_the_axis(rows: list[int]) -> None:
    edges = [at / len(rows) for at in range(len(rows) + 1)]
    bins = [
        Bin(low, high, count, 0.5 if count else None) for (low, high), count in zip(pairwise(edges), rows, strict=True)
    ]
    picture = calibration_chart([Calibrated("a", bins)], "across", "up", "alt")
    ticks = [
        (int(text.text or ""), float(text.get("y", 0)))
        for text in drawn(picture).iter("text")
        if (text.text or "").isdigit()
    ]
    assert len({value for value, _ in ticks}) == len(ticks)
    for (low, below), (high, above) in pairwise(ticks):
        assert (below - above) / (high - low) == pytest.approx(56 / max(*rows, 1), rel=0.05)


def test_curves_differ_in_colour_or_dashes() -> None:
    assert len({line_of(at) for at in range(20)}) == 20


def test_marks_stand_where_their_values_are() -> None:
    rows = [Whisker("a", 0.5, (0.4, 0.6), "", Kind.OWN), Whisker("b", 0.7, (0.6, 0.8), "")]
    root = drawn(whiskers([Group("", rows)], "alt"))
    ring, disc = (float(one.get("cx", 0)) for one in list(root.iter("circle"))[-2:])
    thick = [one for one in root.iter("line") if one.get("stroke-width") == "3"]
    for middle, line in zip((ring, disc), thick, strict=True):
        ends = [float(line.get(end, 0)) for end in ("x1", "x2")]
        assert sum(ends) / 2 == pytest.approx(middle, abs=0.02)
    assert disc - ring == pytest.approx(2 * (float(thick[0].get("x2", 0)) - ring), abs=0.05)
