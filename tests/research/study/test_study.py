"""A small study from end to end, of tables in which signs give the class away, and at one hospital its contrary."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mixbayes.protocol.errors import BadData
from mixbayes.research.study import study as module
from mixbayes.research.study.document import document
from mixbayes.research.study.figure import LEAST_HEIGHT, figure
from mixbayes.research.study.hospitals import CLASS, HOSPITALS, zeros, zeros_as_missing
from mixbayes.research.study.results import Joining, Protecting, Results, as_json, from_json
from mixbayes.research.study.splits import Split, splits
from mixbayes.research.study.study import Federation, Plan, study
from mixbayes.tables.columns import Columns
from tests.research.study.conftest import SMALL
from tests.research.study.four import ABSENT_AT, CONTRARY, ROWS

CONFORMING = [name for name in HOSPITALS if name != CONTRARY]
QUIET, REFUSED = "sap:p=0.3:target=class", "class-wise-condensation:t=20"


def still(what: str, done: int, total: int) -> None:
    """Nobody watches."""


def joining(results: Results, hospital: str) -> Joining:
    return next(one for one in results.joining if one.hospital == hospital)


def protecting(results: Results, setting: str) -> Protecting:
    return next(one for one in results.protecting if one.setting == setting)


def test_alone_everybody_is_right(small: Results) -> None:
    assert [joining(small, name).alone.accuracy.value for name in HOSPITALS] == [1.0] * 4


@pytest.mark.parametrize("arm", ["others", "pooled", "joint"])
def test_whoever_learns_from_the_others_is_wrong_at_the_contrary_one(small: Results, arm: str) -> None:
    accuracy = {name: getattr(joining(small, name), arm).accuracy.value for name in HOSPITALS}
    assert accuracy == dict.fromkeys(CONFORMING, 1.0) | {CONTRARY: 0.0}
    assert getattr(joining(small, "all four"), arm).accuracy.value == 0.75


def test_gains(small: Results) -> None:
    lost = joining(small, CONTRARY)
    assert (lost.gain.value, lost.gain.side) == (-1.0, -1)
    assert {label: gain.value for label, gain in lost.gain_of_class.items()} == {"absent": -1.0, "present": -1.0}
    assert [joining(small, name).gain.value for name in CONFORMING] == [0.0] * 3


def test_per_class(small: Results) -> None:
    absent, present = sum(ABSENT_AT.values()), 4 * ROWS - sum(ABSENT_AT.values())
    recall = joining(small, "all four").joint.recall
    assert recall["absent"].value == pytest.approx(1 - ABSENT_AT[CONTRARY] / absent)
    assert recall["present"].value == pytest.approx(1 - (ROWS - ABSENT_AT[CONTRARY]) / present)


def test_the_commonest_class(small: Results) -> None:
    assert joining(small, "switzerland").commonest == pytest.approx(63 / 72)
    assert joining(small, "all four").commonest == pytest.approx((40 + 39 + 63 + 36) / 288)


def test_how_much_was_done(small: Results) -> None:
    labels = SMALL.repeats * 4 * ROWS
    assert (small.agreement.labels, small.agreement.equal) == (labels, labels)
    in_a_split = sum(len(rows) for rows in dealt()[0].asked.values())
    assert small.checked.trainings == SMALL.repeats * SMALL.folds + len(SMALL.settings)
    assert small.checked.labels == small.checked.equal == labels + len(SMALL.settings) * in_a_split


def test_few_patients_are_no_more_than_there_are(small: Results) -> None:
    assert sorted({one.own for one in small.starting}) == [10, 20]
    starts = {one.hospital: one for one in small.starting if one.own == 10}
    assert starts[CONTRARY].gain.side == -1
    assert starts["cleveland"].alone.value > 0.9


def test_a_protection_that_drops_classes_changes_no_label_here(small: Results) -> None:
    one = protecting(small, QUIET)
    assert (one.cost.value, set(one.refused)) == (0.0, set())
    assert {name: cost.value for name, cost in one.in_one.items()} == dict.fromkeys(HOSPITALS, 0.0)
    assert all(release.unlabelled > 0 for release in one.releases.values())
    assert (one.people, one.epsilon) == (None, None)
    assert one.contributed.differing > 0.3


def test_who_cannot_use_a_setting_contributes_nothing(small: Results) -> None:
    one = protecting(small, REFUSED)
    assert set(one.refused) == {"switzerland"}
    assert one.refused["switzerland"].splits == SMALL.repeats * SMALL.folds
    assert one.refused["switzerland"].why.startswith("Every class needs at least t = 20 rows; 'absent' has 6.")
    assert set(one.in_one) == set(one.releases) == set(HOSPITALS) - {"switzerland"}


def test_what_is_unchanged_is_given_back_and_told(small: Results) -> None:
    """Age is the only column in which people differ by chance."""
    assert small.original.given_back.value == 1.0
    assert small.original.membership.low > 0.3
    assert "membership" in small.original.succeeding(small.original)


def test_what_is_averaged_tells_less(small: Results) -> None:
    averaged = protecting(small, "microaggregation:k=10")
    assert averaged.people == "10-anonymity of age"
    assert averaged.attacked.given_back.high < 0.3
    assert averaged.attacked.membership.high < small.original.membership.low / 2
    assert 0 < averaged.contributed.median < averaged.contributed.differing


def test_hospitals_are_described(small: Results) -> None:
    switzerland = small.hospitals[2]
    assert (switzerland.rows, switzerland.classes) == (72, {"absent": 9, "present": 63})
    assert (switzerland.zeros, switzerland.mostly_missing) == ({"chol": 72}, {"chol": 1.0})
    assert switzerland.missing == pytest.approx(1 / 6)


def test_it_can_be_written_and_read(small: Results) -> None:
    assert from_json(as_json(small)) == small
    text = document(small)
    assert "**A quick run, to try the command. Its figures say nothing.**" in text
    assert "A quick run starts no nodes." in text
    assert "| va | 50.0 | 100.0 (94.9 to 100.0) | 0.0 (0.0 to 5.1) |" in text
    picture = figure(small)
    assert picture.startswith(b"<?xml")
    height = re.search(rb'height="([0-9.]+)pt"', picture)
    assert height
    assert float(height[1]) >= 72 * LEAST_HEIGHT


def without_seconds(results: Results) -> Results:
    plain = [
        replace(one, releases={name: replace(release, seconds=0.0) for name, release in one.releases.items()})
        for one in results.protecting
    ]
    return replace(results, protecting=plain)


def test_a_seed_repeats(small: Results, tables: Mapping[str, Columns]) -> None:
    assert without_seconds(study(tables, SMALL, 0, still)) == without_seconds(small)


def dealt() -> list[Split]:
    sizes = {name: (absent, ROWS - absent) for name, absent in ABSENT_AT.items()}
    classes = {name: np.repeat(["absent", "present"], of_class) for name, of_class in sizes.items()}
    return splits(classes, SMALL.repeats, SMALL.folds, 0)


def test_nobody_learns_from_the_patients_asked_about(tables: Mapping[str, Columns]) -> None:
    """Whatever their class is, the counts stay the same."""
    split = dealt()[0]
    before = Federation.of(tables).counts(split)
    after = Federation.of({name: _otherwise(table, split.asked[name]) for name, table in tables.items()}).counts(split)
    for name in HOSPITALS:
        assert before[name].tolist() == after[name].tolist()
    learned = Federation.of({name: _otherwise(table, split.learned[name]) for name, table in tables.items()})
    assert learned.counts(split)["va"].tolist() != before["va"].tolist()


def _otherwise(table: Columns, rows: Any) -> Columns:
    classes = table.texts(CLASS).copy()
    classes[rows] = np.where(classes[rows] == "absent", "present", "absent")
    cells = (classes if name == CLASS else table.texts(name) for name in table.names)
    return Columns.of(table.names, tuple(cells), table.rows, table.source)


def test_protections_see_what_is_learned_from(tables: Mapping[str, Columns], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Columns] = []
    real = module.protect

    def noted(table: Columns, *more: Any) -> Any:
        seen.append(table)
        return real(table, *more)

    monkeypatch.setattr(module, "protect", noted)
    study(tables, Plan(1, SMALL.folds, (QUIET,), nodes=False), 0, still)
    known = {name: zeros_as_missing(table) for name, table in tables.items()}
    wanted = [known[name].take(split.learned[name]) for split in dealt()[: SMALL.folds] for name in HOSPITALS]
    assert [table.texts("age").tolist() for table in seen] == [table.texts("age").tolist() for table in wanted]


def test_zeros_become_missing_where_they_are_no_measurement(tables: Mapping[str, Columns]) -> None:
    assert zeros(tables) == {"trestbps": {}, "chol": {"switzerland": ROWS}}
    table = zeros_as_missing(tables["switzerland"])
    assert set(table.texts("chol")) == {"?"}
    assert set(table.texts("trestbps")) == {"120"}
    assert table.texts("age").tolist() == tables["switzerland"].texts("age").tolist()


def test_on_real_services(tables: Mapping[str, Columns]) -> None:
    """The first split, without protection and with one: the labels are those of pooling, and no byte differs."""
    results = study(tables, Plan(1, 3, (QUIET,), nodes=True), 0, still)
    plain, hidden = results.nodes
    assert (plain.protection, hidden.protection) == ("", module.ON_NODES)
    assert plain.instances == hidden.instances == sum(len(rows) for rows in dealt()[0].asked.values())
    assert plain.agreement == hidden.agreement == 1.0
    assert plain.bytes.hospitals_to_mixers == hidden.bytes.hospitals_to_mixers
    assert plain.bytes.training == hidden.bytes.training
    assert "A protection does not change the bytes" in document(results)
    other = replace(hidden, bytes=replace(hidden.bytes, training=1))
    assert "A protection does not change the bytes" not in document(replace(results, nodes=[plain, other]))


def test_a_setting_that_nobody_can_use_is_refused(tables: Mapping[str, Columns]) -> None:
    plan = Plan(1, 3, ("class-wise-condensation:t=200",), nodes=False)
    with pytest.raises(BadData, match=r"No hospital can use class-wise-condensation:t=200: .*larger tables\."):
        study(tables, plan, 0, still)


def test_the_others_are_all_but_the_hospital_itself(tables: Mapping[str, Columns]) -> None:
    two = {name: tables[name] for name in ("cleveland", CONTRARY)}
    results = study(two, Plan(1, SMALL.folds, (QUIET,), nodes=False), 0, still)
    assert [joining(results, name).others.accuracy.value for name in two] == [0.0, 0.0]
