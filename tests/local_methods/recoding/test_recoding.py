"""Recoding: what it releases by hand, and that a row of the table is a row of the release and of nothing else."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixbayes.local_methods import BadParameter, Recoding
from mixbayes.local_methods.registry import METHODS, method_class
from mixbayes.local_methods.tables import Nominal, Numeric, Table, nominal_from

TREE = {"any": [{"health": ["nurse", {"doctor": ["surgeon"]}]}, "judge"]}
JOBS = ["nurse", "surgeon", "judge", "pilot", ""]
RULES: dict[str, Any] = {
    "suppress": ["town"],
    "cuts": {"age": [0, 20, 40, 120], "weight": 5},
    "taxonomies": {"job": TREE},
}
Row = tuple[float, float, str, str, str]
"""Age, weight, job, town, class."""
NUMBERS = st.floats(-10, 200) | st.just(np.nan)
ROWS = st.tuples(
    NUMBERS, NUMBERS, st.sampled_from(JOBS), st.sampled_from(["Jena", "Gera", ""]), st.sampled_from(["no", "yes"])
)


def table_of(rows: list[Row]) -> tuple[Table, Nominal]:
    age, weight, job, town, label = (list(column) for column in zip(*rows, strict=True))
    columns = Numeric(np.array(age)), Numeric(np.array(weight)), texts(job), texts(town)
    return Table(("age", "weight", "job", "town"), columns, len(rows)), texts(label)


def texts(cells: list[str]) -> Nominal:
    return nominal_from(np.array(cells), np.array([not cell for cell in cells]))


def released(rows: list[Row], **settings: Any) -> list[tuple[Any, ...]]:
    table, labels = Recoding(**settings).fit_resample(*table_of(rows))
    assert isinstance(table, Table)
    columns = [["" if c is None or c != c else c for c in one.cells().tolist()] for one in (*table.columns, labels)]
    return list(zip(*columns, strict=True))


def test_every_rule_by_hand() -> None:
    rows: list[Row] = [
        (20.0, 72.4, "surgeon", "Jena", "no"),
        (-3.0, 72.5, "judge", "Jena", "yes"),
        (119.0, 77.5, "nurse", "Gera", "no"),
        (np.nan, np.nan, "pilot", "", "no"),
    ]
    assert released(rows, **RULES) == [
        (30.0, 70.0, "health", "", "no"),
        (10.0, 70.0, "judge", "", "yes"),  # ties to even: 14.5 steps
        (80.0, 80.0, "health", "", "no"),
        ("", "", "", "", "no"),
    ]
    assert [row[2] for row in released(rows, **{**RULES, "level": 2})] == ["doctor", "judge", "nurse", ""]
    assert [row[2] for row in released(rows, **{**RULES, "level": 9})] == ["surgeon", "judge", "nurse", ""]


@given(st.lists(ROWS, min_size=1, max_size=12), ROWS, st.data(), st.sampled_from(["keep", "drop"]))
def test_a_row_more_is_one_row_more_of_the_release(
    rows: list[Row], row: Row, data: st.DataObject, missing: str
) -> None:
    """The others stay as they are, in their order. With `drop` the row may be none."""
    at = data.draw(st.integers(0, len(rows)))
    complete: Row = (1.0, 1.0, "nurse", "Jena", "no")  # so that no table is empty
    rows = [complete, *rows]
    less = released(rows, **RULES, missing=missing)
    more = released([*rows[: at + 1], row, *rows[at + 1 :]], **RULES, missing=missing)
    assert len(more) - len(less) in ({1} if missing == "keep" else {0, 1})
    places = [place for place in range(len(more)) if more[:place] + more[place + 1 :] == less]
    assert places or more == less


def test_one_method_alone_changes_a_row_for_a_row() -> None:
    """The others learn of the table, or draw in the order of its rows."""
    optional = {name for name in METHODS if method_class(name).rows_changed is not Recoding.rows_changed}
    assert set(METHODS) - optional == {"recoding"}
    assert Recoding().rows_changed() == 1


def test_the_promise() -> None:
    method = Recoding(**RULES)
    method.fit_resample(*table_of([(20.0, 72.4, "surgeon", "Jena", "no")] * 2))
    promise = method.guarantee_
    assert promise.holds
    assert "age: the middle of its interval between 0, 20, 40, 120; weight: the nearest multiple of 5" in promise.claim
    assert "town: suppressed" in promise.claim
    assert promise.people is None
    assert "anything about people, by itself" in promise.not_promised


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "Nothing is recoded"),
        ({"suppress": ["twon"]}, "no column 'twon'"),
        ({"suppress": ["age"], "cuts": {"age": 5}}, "'age' is recoded twice"),
        ({"cuts": {"age": [3, 3]}}, "each above the one before"),
        ({"cuts": {"age": [3]}}, "at least two edges"),
        ({"cuts": {"age": 0}}, "a step is above 0"),
        ({"cuts": {"age": "3"}}, "a list of numbers, or a step"),
        ({"cuts": {"job": 3}}, "holds no numbers"),
        ({"taxonomies": {"age": TREE}}, "which is numeric"),
    ],
)
def test_what_cannot_be_recoded(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(BadParameter, match=re.escape(said)):
        released([(20.0, 72.4, "surgeon", "Jena", "no")], **settings)
