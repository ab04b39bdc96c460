"""Membership and attribute inference: nothing for a coin, everything for the table itself."""

from __future__ import annotations

import numpy as np
import pytest

from mixbayes.local_methods import ClassWiseCondensation
from mixbayes.local_methods.attacks.membership import membership
from mixbayes.local_methods.attacks.people import People, advantage
from mixbayes.local_methods.attacks.rehearsal import OfPeople, rehearsed, with_class
from mixbayes.local_methods.measures.comparison import compare
from mixbayes.local_methods.tables import Nominal, Table
from tests.local_methods.attacks.former import condensed, people

TABLE, LABELS = people(160, 2)

Given = tuple[Table, Nominal | None]


def itself(table: Table, labels: Nominal | None) -> Given:
    return table, labels


def of_nobody(table: Table, labels: Nominal | None) -> Given:
    """Other people of the same kind."""
    return people(80, 7)


def test_an_advantage_is_one_if_all_members_have_higher_scores_and_none_if_scores_are_the_same() -> None:
    high, low = np.arange(10.0) + 20, np.arange(12.0)
    assert advantage(high, low).value == 1
    assert advantage(low, high).value == -1
    assert advantage(low, low).value == 0
    assert advantage(low, low).low < 0 < advantage(low, low).high


def test_the_table_itself_gives_everybody_away() -> None:
    found = rehearsed(TABLE, LABELS, itself, 0, 1)
    assert found.membership.low > 0.95
    assert found.attribute_inference.low > 0.2
    assert found.attribute_inference.value == pytest.approx(1 - found.anybody.value)


def test_a_release_of_other_people_says_nothing_of_those_in_the_table() -> None:
    found = rehearsed(TABLE, LABELS, of_nobody, 0)
    assert found.membership.low < 0 < found.membership.high
    assert found.attribute_inference.low < 0 < found.attribute_inference.high
    assert found.anybody.value > 0.1


def test_larger_groups_tell_less_than_small_ones_of_exact_moments() -> None:
    def today(table: Table, labels: Nominal | None) -> Given:
        return ClassWiseCondensation(k=20, random_state=0).fit_resample(table, labels)

    def former(table: Table, labels: Nominal | None) -> Given:
        assert labels is not None
        return condensed(table, labels, 3, 0)

    small, large = (rehearsed(TABLE, LABELS, method, 0, 2) for method in (former, today))
    assert small.membership.low > large.membership.high
    assert small.attribute_inference.low > large.attribute_inference.high


def test_several_releases_tell_more_than_one() -> None:
    half = np.arange(TABLE.rows) % 4 < 2
    members, labels, others = TABLE.take(half), LABELS.take(half), with_class(TABLE.take(~half), LABELS.take(~half))
    found = []
    for seed in range(8):
        released = with_class(*ClassWiseCondensation(k=8, random_state=seed).fit_resample(members, labels))
        found.append(People.of(with_class(members, labels), others, released, 0))
    assert membership(*found).value > np.mean([membership(each).value for each in found])


def test_a_comparison_needs_people_who_were_not_in_the_table() -> None:
    half = np.arange(TABLE.rows) % 4 < 2
    members, others = (with_class(TABLE.take(rows), LABELS.take(rows)) for rows in (half, ~half))
    without = compare(members, members, class_column="class")
    assert without.attacks.membership is without.attacks.attribute_inference is None
    assert "holdout" in without.why_not["membership"]
    found = compare(members, members, class_column="class", holdout=others)
    assert found.attacks.membership == OfPeople.of(People.of(members, others, members, 0)).membership
    assert found.attacks.reconstruction is not None
    assert found.attacks.reconstruction.patients.value == 1
    few = compare(members, members, class_column="class", holdout=others.take(np.arange(3)))
    assert "10 people" in few.why_not["attribute_inference"]


def test_gaps_are_no_obstacle() -> None:
    random = np.random.default_rng(0)
    gaps = random.random((TABLE.rows, len(TABLE.names))) < 0.2
    gaps[:, 0], gaps[3] = True, True
    table = with_class(TABLE.with_numbers(np.where(gaps, np.nan, TABLE.numbers())), LABELS)
    half = np.arange(TABLE.rows) % 4 < 2
    found = compare(table.take(half), table.take(half), class_column="class", holdout=table.take(~half)).attacks
    assert found.membership is not None
    assert found.membership.low > 0.9
    assert found.reconstruction is not None
    assert found.reconstruction.scores["position"].share.value == 1
