"""Every sentence of the summary follows from figures: change them, and it says something else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mixbayes.research.study.in_short import in_short
from mixbayes.research.study.intervals import Interval
from mixbayes.research.study.results import Agreement, Attacked, Joining, Protecting, Release, Results

UP, DOWN, LEVEL = Interval(0.05, 0.01, 0.09), Interval(-0.05, -0.09, -0.01), Interval(0.0, -0.02, 0.02)


def lines(results: Results) -> list[str]:
    return in_short(results).removeprefix("## In short\n\n- ").split("\n- ")


def said(results: Results, about: str) -> str:
    (line,) = [line for line in lines(results) if about in line]
    return line


def gaining(results: Results, gains: dict[str, Interval], commonest: float = 0.6) -> Results:
    joining = [
        replace(one, gain=gains.get(one.hospital, LEVEL), commonest=commonest) if one.hospital != "all four" else one
        for one in results.joining
    ]
    return replace(results, joining=joining)


def of(results: Results, hospital: str) -> Joining:
    return next(one for one in results.joining if one.hospital == hospital)


def test_all_labels_alike(committed: Results) -> None:
    line = said(replace(committed, agreement=Agreement(1200, 1200)), "pooling")
    assert line.startswith("**Joining gives the same labels as pooling.** All 1,200 joint labels equal the pooled")


def test_not_all_labels_alike(committed: Results) -> None:
    line = said(replace(committed, agreement=Agreement(1200, 1199)), "pooling")
    assert line.startswith("**Joining against pooling.** 1,199 of 1,200 joint labels")
    assert "the same labels as pooling" not in line


def test_a_gain_that_can_be_shown(committed: Results) -> None:
    line = said(gaining(committed, {"va": UP, "hungarian": UP}), "**Joining helps")
    assert line.startswith("**Joining helps hungarian and va:** hungarian +5.0 (+1.0 to +9.0), va +5.0 (+1.0 to +9.0)")


def test_neither_gain_nor_loss(committed: Results) -> None:
    line = said(gaining(committed, {}), "neither a gain nor a loss")
    assert line.startswith("**At cleveland, hungarian, switzerland and va the plain joint classifier shows neither")
    assert "0.0 (−2.0 to +2.0)" in line
    assert line.endswith("zero is in every interval.")
    one_only = gaining(committed, {"cleveland": UP, "hungarian": UP, "switzerland": UP})
    assert said(one_only, "neither a gain nor a loss").endswith("zero is in the interval.")


def test_no_hospital_is_said_to_gain_or_lose_without_one(committed: Results) -> None:
    text = in_short(gaining(committed, dict.fromkeys(("cleveland", "hungarian", "switzerland", "va"), UP)))
    assert "neither a gain nor a loss" not in text
    assert "lowers accuracy" not in text
    assert "Joining helps" not in in_short(gaining(committed, {"va": DOWN}))


def test_a_loss_is_explained_only_where_nearly_all_are_of_one_class(committed: Results) -> None:
    line = said(gaining(committed, {"va": DOWN}), "At va the plain joint classifier lowers accuracy")
    assert line == "**At va the plain joint classifier lowers accuracy:** −5.0 (−9.0 to −1.0) points."
    one_sided = said(
        gaining(committed, {"va": DOWN}, commonest=0.9), "At va the plain joint classifier lowers accuracy"
    )
    assert "90.0 % of its patients are sick, so always answering *sick* is right as often." in one_sided
    own = of(committed, "va").alone.recall
    assert f"finds {100 * own['absent'].value:.1f} % of the healthy and {100 * own['present'].value:.1f} %" in one_sided


def test_nearly_all_may_be_healthy_too(committed: Results) -> None:
    """The commonest class is that of the hospital's figures."""
    changed = gaining(committed, {"cleveland": DOWN}, commonest=0.9)
    assert "90.0 % of its patients are healthy" in said(changed, "At cleveland")


@pytest.mark.parametrize(
    ("gain", "part"),
    [
        (UP, "gain at cleveland +5.0 (+1.0 to +9.0)"),
        (DOWN, "loss at cleveland −5.0 (−9.0 to −1.0)"),
        (LEVEL, "neither can be shown at cleveland 0.0 (−2.0 to +2.0)"),
    ],
)
def test_a_hospital_with_few_patients(committed: Results, gain: Interval, part: str) -> None:
    starting = [replace(one, gain=gain if one.own == 20 else UP) for one in committed.starting if one.own >= 20]
    line = said(replace(committed, starting=starting), "patients to learn from")
    assert line.startswith("**A hospital with only 20 patients to learn from**")
    assert part in line
    assert sum(word in line for word in ("gain at", "loss at", "neither can be shown at")) == 1


def test_protections_that_cost(committed: Results) -> None:
    costs = [LEVEL] * len(committed.protecting)
    costs[2], costs[4] = DOWN, Interval(-0.2, -0.3, -0.1)
    protecting = [replace(one, cost=cost) for one, cost in zip(committed.protecting, costs, strict=True)]
    line = said(replace(committed, protecting=protecting), "costs accuracy")
    assert f"with 2 of {len(costs)} settings. The largest loss is that of `{protecting[4].setting}`: −20.0" in line


def test_protections_that_cost_nothing(committed: Results) -> None:
    protecting = [replace(one, cost=LEVEL) for one in committed.protecting]
    text = in_short(replace(committed, protecting=protecting))
    assert "costs accuracy" not in text
    assert f"With {len(protecting)} of {len(protecting)} settings no loss can be shown" in text


def test_all_protections_cost(committed: Results) -> None:
    protecting = [replace(one, cost=DOWN) for one in committed.protecting]
    assert "no loss can be shown" not in in_short(replace(committed, protecting=protecting))


def test_what_promises_nothing_is_counted(committed: Results) -> None:
    one = replace(committed.protecting[0], cost=LEVEL)

    def promising(*people: str | None) -> str:
        first: Release = next(iter(one.releases.values()))
        releases = {f"{at}": replace(first, people=promise) for at, promise in enumerate(people)}
        return said(replace(committed, protecting=[replace(one, releases=releases)]), "no loss can be shown")

    assert "1 promises something about people, and 0 nothing" in promising("k-anonymity")
    for promises in ((), ("k-anonymity", None)):
        assert "0 promise something about people, and 1 nothing" in promising(*promises)


def of_method(results: Results, method: str) -> Protecting:
    return next(one for one in results.protecting if one.method == method and not one.refused)


def test_class_wise_condensation_keeps_what_is_counted_as_long_as_it_costs_nothing(committed: Results) -> None:
    one = of_method(committed, "class-wise-condensation")
    kept = lines(replace(committed, protecting=[replace(one, cost=LEVEL)]))[0]
    assert kept.startswith("**Class-wise condensation keeps what naive Bayes counts; that is why accuracy does")
    changed = lines(replace(committed, protecting=[replace(one, cost=DOWN)]))[0]
    assert changed.startswith("**Class-wise condensation changes what naive Bayes counts.**")
    without = replace(committed, protecting=[of_method(committed, "sap")])
    assert "Class-wise condensation" not in in_short(without)


def test_only_noise_helps_against_who_asks(committed: Results) -> None:
    one = of_method(committed, "private-synthesis")
    accuracy = f"labels {100 * one.joint.accuracy.value:.1f} % at ε = {one.epsilon:g} of the patients"
    assert accuracy in said(replace(committed, protecting=[one]), "only noise helps")


NOTHING = Attacked(Interval(0.1, 0, 0.2), 0.05, LEVEL, LEVEL, 0.5)


@pytest.mark.parametrize(
    ("found", "part"),
    [
        (NOTHING, "reconstruction with 0, membership with 0 and attributes with 0 settings"),
        (replace(NOTHING, given_back=Interval(0.2, 0.1, 0.3)), "reconstruction with 1, membership with 0"),
        (replace(NOTHING, membership=Interval(0.1, 0.0, 0.2)), "membership with 1 and attributes with 0"),
        (replace(NOTHING, attribute_inference=Interval(0.1, 0.0, 0.2)), "attributes with 1 settings"),
    ],
)
def test_against_whom_a_release_helps(committed: Results, found: Attacked, part: str) -> None:
    protecting = [replace(committed.protecting[0], attacked=found)]
    line = said(replace(committed, protecting=protecting), "Against somebody who gets")
    assert part in line
    assert ("1 of 1 settings help**: `" in line) == (found is NOTHING)
    assert ("0 of 1 settings help**." in line) == (found is not NOTHING)


def test_the_smallest_class_of_any_hospital(committed: Results) -> None:
    va = replace(committed.hospitals[3], classes={"absent": 90, "present": 7})
    line = said(replace(committed, hospitals=[*committed.hospitals[:3], va]), "depend on so few")
    assert line == "**7 people.** All figures for the sick patients of va depend on so few people."
