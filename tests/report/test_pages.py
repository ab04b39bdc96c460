"""Pages: they hold the numbers they were made of, escape every name, and need nothing else."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import pytest

from mixbayes.local_methods.measures.kept_utility import KeptUtility
from mixbayes.report.page import built
from mixbayes.report.simulated import simulated
from mixbayes.report.tuned import Point
from mixbayes.simulation.outcome import Accuracy
from tests.report.pages import EVIL, RUN, document, evaluation, outcome, release, simulation, tuning
from tests.report.test_markup import read

POINTS = Point("10", 0.9375, 0.125, 10), Point("20", 0.875, 0.5, 20, chosen=True), Point("30", 0.5, None, 30)
PAGES = {
    "simulation": simulation([f"{EVIL} {i}" for i in range(3)], [EVIL, "b"], EVIL),
    "tuning": tuning(*(replace(point, name=EVIL) for point in POINTS), setting=EVIL, method=EVIL),
    "release": release([EVIL, "b"]),
    "evaluation": evaluation(document(EVIL, [EVIL, "b"], ["joint", EVIL]), document("south", [EVIL, "b"], ["joint"])),
    "both": built(
        simulated(
            outcome(["a", "b"], [EVIL, "y"]), columns=[EVIL], evaluation=[document(EVIL, [EVIL, "y"], ["joint"])]
        ),
        RUN,
    ),
}


def values(page: str) -> set[float]:
    return {float(value) for value in re.findall(r'<data value="([^"]*)"', page)}


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_no_name_becomes_markup(page: str) -> None:
    reader = read(page)
    assert not {"script", "img", "iframe", "object"} & set(reader.tags)
    assert not [name for name, _ in reader.attributes if name.startswith("on")]
    assert EVIL in reader.text


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_nothing_comes_from_elsewhere(page: str) -> None:
    assert "http:" not in page
    assert "https:" not in page
    assert "@import" not in page
    assert set(re.findall(r"url\(([^)]*)\)", page)) <= {"#striped", "#dotted", "#crossed"}


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_it_can_be_read_without_eyes(page: str) -> None:
    assert '<html lang="en">' in page
    headings = [int(tag[1]) for tag in read(page).tags if re.fullmatch("h[1-6]", tag)]
    assert headings[0] == 1
    assert all(2 <= lower <= upper + 1 for upper, lower in pairwise(headings))
    pictures = re.findall(r"<svg[^>]*viewBox[^>]*>", page)
    assert pictures
    assert all('role="img"' in one and re.search(r'aria-label="[^"]{20,}"', one) for one in pictures)
    figures = page.count("<figure>")
    assert len(pictures) == 2 * figures  # for a phone and for a desk
    assert len(re.findall("</figure>(?:<details><summary>.*?</summary>)?<table[ >]", page)) == figures


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_it_says_when_and_how_it_was_made_and_what_it_gives_away(page: str) -> None:
    text = read(page).text
    assert "2026-03-01 08:30:00 +00:00" in text
    assert RUN.line in text
    assert "0.1.0" in text
    assert "What this page gives away" in text


def test_a_simulation_has_every_number_of_its_outcome() -> None:
    found = outcome(["north", "south"], ["no", "yes"], "condensation:k=5")
    accuracy, took = found.accuracy, found.seconds
    shares = {accuracy.joint, accuracy.pooled, accuracy.pooled_unprotected, *accuracy.alone.values()}
    counts = {*(flow.bytes for flow in found.flows), *(each.rows for each in found.hospitals), 501, 62, 10, 7}
    seconds = {took.setup, took.contribute, took.train, took.classify}
    page = built(simulated(found), RUN)
    assert shares | counts | seconds <= values(page)
    assert {"81.25%", "98.76%"} <= set(re.findall(r"[\d.]+%", read(page).text))
    assert "condensation:k=5: kept" in page


def test_a_page_promises_of_a_method_what_was_verified_and_no_more() -> None:
    some, none = simulation(["a", "b"], ["x", "y"], "sap:p=1"), simulation(["a", "b"], ["x", "y"])
    assert "2 of 2 hospitals did; what each method promises stands below." in some
    assert "Here no hospital did." in none
    assert not [page for page in (some, none) if "nobody in particular" in page]


def test_a_simulation_names_what_is_predicted_and_from_what() -> None:
    text = read(PAGES["both"]).text
    assert f"The predicted column is outcome (“{EVIL}”, “y”), from 1 column: {EVIL}." in text
    assert "The predicted column is outcome (“x”, “y”)." in read(simulation(["a", "b"], ["x", "y"])).text


def test_pooling_without_protection_is_only_shown_where_there_is_some() -> None:
    assert "pooled without protection" not in simulation(["a", "b"], ["x", "y"])
    assert "pooled without protection" in simulation(["a", "b"], ["x", "y"], "sap:p=1")


def test_a_simulation_without_known_classes_says_so() -> None:
    found = outcome(["a", "b"], ["x", "y"])
    unknown = replace(
        found, accuracy=Accuracy(None, None, None, {"a": None, "b": None}), confusion=None, agreement_with_pooled=None
    )
    text = read(built(simulated(unknown), RUN)).text
    assert "carries a known class" in text
    assert "No true class is known" in text
    assert "rightly" not in text


def test_noise_is_told_with_its_numbers_and_what_it_does_not_cover() -> None:
    noise = {"coins": [4, 5, 27], "standard_deviation": 10.677}
    privacy = {"epsilon": 1.25, "delta": 1e-6, "unit": "one row", "noise": noise, "spent": 1.21}
    found = replace(outcome(["a", "b"], ["x", "y"]), privacy=privacy, about_noise=["one promise", "some coins"])
    page = built(simulated(found), RUN)
    assert {1.25, 1e-6, 1.21, 10.677, 4, 5, 27} <= values(page)
    text = read(page).text
    for said in (
        "Promised is one promise.",
        "some coins",
        "It does not cover the classes",
        "labels of pooling without",
    ):
        assert said in text
    assert "No noise is added" not in text
    exact = read(built(simulated(replace(outcome(["a", "b"], ["x", "y"]), about_noise=["They leak."])), RUN)).text
    assert "They leak." in exact
    assert "No noise is added" in exact


def test_two_hospitals_alone_send_mixers_nothing() -> None:
    found = outcome(["a", "b"], ["x", "y"])
    alone = replace(found, bytes=replace(found.bytes, hospitals_to_mixers=0), flows=[])
    text = read(built(simulated(alone), RUN)).text
    assert "The two hospitals compute with each other" in text
    assert "mixer a" not in text


def test_of_many_hospitals_the_picture_shows_some_and_the_table_all() -> None:
    page = simulation([f"hospital-{i}" for i in range(40)], ["x", "y"])
    assert "33 others" in page
    assert page.count("hospital-39") > 2
    assert "hospital-39 → mixer b" in page


def test_a_tuning_has_every_setting_and_marks_the_one_found() -> None:
    page = tuning(*POINTS)
    assert {0.9375, 0.875, 0.5, 0.125} <= values(page)
    assert page.count('class="chosen"') == 2  # by size, and by privacy
    assert "none" in read(page).text  # the privacy of the third


def test_a_front_has_no_axis_of_settings() -> None:
    front = [Point(f"k = {k}", 1 / k, float(k)) for k in (2, 3, 5)]
    page = tuning(*front, setting="")
    assert page.count("<figure>") == 1
    assert "The diamond" not in page
    assert 'class="chosen"' not in page


def test_a_tuning_without_privacy_shows_accuracy_alone() -> None:
    page = tuning(*(replace(point, privacy=None) for point in POINTS))
    assert page.count("<figure>") == 1
    assert "What privacy costs" not in page


def test_a_release_has_every_measure_before_and_after() -> None:
    shown = values(release(["a", "b"]))
    assert {0.25, 0.0625, 9.125, 0.03125, 0.5, 0.75, 0.0533, 0.8042} <= shown
    assert {1, 5, 0.6969, 0.0479, 0.9666, 0.2697, 0.96, 0.9533, 0.9667} <= shown
    assert {2, 1.75, 0.1875, 0.6875} <= shown  # l and t
    assert {0.0125, -0.25} <= shown  # ΔR
    assert {0.7551, 0.6552, 0.5553, 0.4554, 0.7541, 0.5543, 0.4544} <= shown  # of each class
    assert {0.0077, 0.9921} <= shown  # clusters of the original with another seed


def test_folds_have_a_chart_with_a_verdict_and_their_quartiles() -> None:
    page = release(["a", "b"])
    text = read(page).text
    assert "From fold to fold: naive Bayes" in text
    assert "worse (p = " not in text
    assert "better (p = " in text
    assert text.count("found (pd), median") == 1
    once = read(release(["a"], folds=None, why_not={"quartiles": "once"})).text
    assert "From fold to fold" not in once


def test_utility_is_kept_by_the_three_of_the_paper() -> None:
    text = read(release(["a"])).text
    assert "ΔR must not be below 0. It is not known here." in text
    assert "Here it is not kept." in read(release(["a"], kept_utility=kept(-0.1))).text
    assert "Here it is kept." in read(release(["a"], kept_utility=kept(0.0))).text


def kept(tree: float) -> KeptUtility:
    return KeptUtility(0.02, {"nearest-neighbour": 0.1, "tree": tree, "svm": 0.2})


def test_of_many_classes_the_tables_remain() -> None:
    page = release([f"kind {at}" for at in range(30)])
    assert "Share of the class that is found" not in page
    assert "kind 29: found (pd)" in page


def test_notes_on_a_release_stand_under_a_heading_of_their_own() -> None:
    assert "<h2>What the figures are about</h2><p>Notes on a.</p></section>" in release(["a"])


def test_the_name_of_no_measure_is_cut() -> None:
    assert "…" not in release(["a", "b"])


def test_a_release_says_why_a_measure_is_missing() -> None:
    text = read(release(["a"], rp=None, utility=None, why_not={"rp": "no number", "utility": "no class"})).text
    assert "no number" in text
    assert "No classifier was tried: no class." in text
    gone = {"l_diversity": "nothing sensitive", "detection": "no class here", "clusterings": "no pairs"}
    text = read(release(["a"], detection=None, clusterings=None, clustering=None, why_not=gone)).text
    assert "This has no value: nothing sensitive." in text
    assert "No classifier was tried: no class here." in text
    assert "Clusters were not compared: no pairs." in text
