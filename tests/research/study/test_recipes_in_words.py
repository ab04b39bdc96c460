"""What is said of recipes follows from the figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from mixbayes.evaluation.recommendation import COMPARED, OWN
from mixbayes.research.joining.compared import BEST, Compared
from mixbayes.research.study.hospitals import HOSPITALS
from mixbayes.research.study.intervals import Interval
from mixbayes.research.study.recipes import BEGUN, EXACT, FEW, JOINED, NOISY, Recipes, Situation, of_situation
from mixbayes.research.study.recipes_in_words import BEGINNING, SHOWN, section, who_still_loses
from mixbayes.research.study.results import Results

PERSONAL = COMPARED[-1]


def changed(results: Results, situation: Situation, gains: Mapping[str, float]) -> list[Recipes]:
    """With other gains of what nodes take, in one situation."""

    def of(one: Compared) -> Compared:
        value = gains.get(one.hospital, one.gain[BEST].value)
        return replace(one, gain=one.gain | {BEST: Interval(value, value - 0.01, value + 0.01)})

    return [
        replace(each, hospitals=[of(one) for one in each.hospitals]) if each.situation == situation else each
        for each in results.recipes
    ]


def test_every_situation_was_measured(committed: Results) -> None:
    assert [one.situation for one in committed.recipes] == [*JOINED, *BEGUN]
    for each in committed.recipes:
        assert [one.hospital for one in each.hospitals] == [one.hospital for one in committed.joining]


@pytest.mark.parametrize(("situation", "at"), [(EXACT, 0), (NOISY, 1), (Situation(True, None, min(FEW)), 2)])
def test_who_is_behind_is_named(committed: Results, situation: Situation, at: int) -> None:
    nobody: dict[str, float] = dict.fromkeys(HOSPITALS, -0.0099)
    line = list(who_still_loses(changed(committed, situation, nobody)))[at]
    assert "?** No: no hospital is more than a point behind" in line
    line = list(who_still_loses(changed(committed, situation, nobody | {"va": -0.02, "hungarian": -0.011})))[at]
    assert "?** Yes: hungarian and va, even" in line
    assert "cleveland −1.0, hungarian −1.1, switzerland −1.0, va −2.0" in line


def test_the_whole_is_named(committed: Results) -> None:
    everybody = of_situation(committed.recipes, EXACT)[-1]
    own, best = (f"{100 * everybody.accuracy[way].value:.1f} %" for way in (OWN, BEST))
    assert f"These recipes label {best} of all patients correctly, and the hospitals' own classifiers {own}" in next(
        who_still_loses(committed.recipes)
    )


@pytest.mark.parametrize(("found", "accuracy", "said"), [(0.9, 0.8, True), (0.52, 0.8, False), (0.9, 0.7, False)])
def test_what_accuracy_overlooks(committed: Results, found: float, accuracy: float, said: bool) -> None:
    """As accurate, and many more found."""

    def of(one: Compared) -> Compared:
        recall = {BEST: {"absent": 0.5, "present": 0.9}, PERSONAL: {"absent": found, "present": 0.8}}
        at = {BEST: Interval(0.8, 0.7, 0.9), PERSONAL: Interval(accuracy, 0.7, 0.9)}
        return replace(one, recall=one.recall | recall, accuracy=one.accuracy | at)

    all_ = [replace(each, hospitals=[of(one) for one in each.hospitals]) for each in committed.recipes]
    lines = [line for line in who_still_loses(all_) if "Accuracy is not everything" in line]
    assert len(lines) == 4 * said
    assert all("finds 90.0 instead of 50.0 % of the healthy" in line for line in lines)


def test_the_tables_are_there(committed: Results) -> None:
    text = section(committed.recipes, 1, 3)
    assert "3 folds, 1 time." in text
    assert text.count("\n| all four |") == len(SHOWN) + 2 + len(BEGINNING)
    for situation in SHOWN:
        hungarian = of_situation(committed.recipes, situation)[1]
        cells = [f"{100 * hungarian.accuracy[way].value:.1f}" for way in (OWN, *COMPARED)]
        assert f"| hungarian | {' | '.join(cells)} |" in text
