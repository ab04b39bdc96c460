"""Generalisation as an estimator: what it releases, what it promises, and what it does with awkward tables."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mixbayes.local_methods import BadParameter, Generalisation, UnfitTable
from mixbayes.local_methods.generalisation.search import Search
from mixbayes.local_methods.guarantee import Guarantee, left_in_clear
from mixbayes.local_methods.registry import configured
from mixbayes.local_methods.tables import Nominal, Table, nominal_from
from tests.local_methods.mixed import mixed_table

ROWS = [["a"], ["a"], ["b"], ["c"], ["c"], ["d"]]
TREES = {"free": {"any": [{"a or b": ["a", "b"]}, "c"]}, "tied": {"level": ["high", "low"]}}


def labels_of(table: Table) -> Nominal:
    """Mostly what the column `tied` says."""
    tied = table.column("tied").cells() == "high"
    sick = np.where(np.random.default_rng(0).random(table.rows) < 0.1, ~tied, tied)
    return nominal_from(np.where(sick, "sick", "well"), np.zeros(table.rows, bool))


def rarest(table: Table, names: list[str]) -> int:
    columns = [[None if c != c else c for c in table.column(name).cells().tolist()] for name in names]
    return min(Counter(zip(*columns, strict=True)).values())


@pytest.mark.parametrize("split", ["valid", "best"])
@pytest.mark.parametrize("trees", [None, TREES], ids=["suppression", "taxonomies"])
@pytest.mark.parametrize("gaps", [0.0, 0.1])
def test_the_promise_counted_by_hand(trees: dict[str, Any] | None, split: str, gaps: float) -> None:
    table = mixed_table(200, gaps=gaps)
    labels = labels_of(table)
    method = Generalisation(k=6, taxonomies=trees, split=split)
    released, released_labels = method.fit_resample(table, labels)
    assert method.refinements_ >= (1 if gaps else 3)
    clear = f"; {left_in_clear(method.kept_columns_)}" if method.kept_columns_ else ""
    assert method.guarantee_ == Guarantee(
        "every combination of quasi-identifiers (all columns) stands for at least 6 rows, which may all be of one "
        "class",
        float(rarest(released, list(table.names))),
        True,
        f"6-anonymity of {', '.join(table.names)}",
        f"that what all rows of a combination have in common, such as their class, is hidden{clear}",
    )
    assert method.anonymity_ == rarest(released, list(table.names)) >= 6
    assert released_labels.codes.tolist() == labels.codes.tolist()
    again = method.transform(table)
    for name in table.names:
        np.testing.assert_array_equal(released.column(name).cells(), again.column(name).cells())


def test_the_example_of_the_docstring_step_by_step() -> None:
    """At k = 2 `health` has three rows and could not be told apart: the surgeon would be alone."""
    jobs = [["nurse"], ["nurse"], ["surgeon"], ["lawyer"], ["judge"], ["judge"]]
    trees = {"x0": {"any": [{"health": ["nurse", "surgeon"]}, {"law": ["lawyer", "judge"]}]}}
    for k, shown in ((1, ["nurse"] * 2 + ["surgeon"]), (2, ["health"] * 3), (4, ["any"] * 3)):
        method = Generalisation(k=k, taxonomies=trees)
        released, _ = method.fit_resample(jobs, [1, 0, 1, 0, 0, 0])
        assert [row[0] for row in released[:3]] == shown
        assert method.silent_ == (["x0"] if k == 4 else [])
    assert method.cuts_ == {"x0": ["any"]}


def test_suppressed_values_stand_for_one_another() -> None:
    """The most telling value is disclosed; the others are too rare to be, and missing cells are not told from them."""
    column = [["a"]] * 5 + [["b"]] * 2 + [["c"]] * 2 + [[None]]
    method = Generalisation(k=3)
    released, _ = method.fit_resample(column, [0, 0, 0, 0, 0, 1, 1, 1, 0, 1])
    assert released == [["a"]] * 5 + [[None]] * 5
    assert method.cuts_ == {"x0": ["a"]}
    assert method.transform([["b"], ["a"], ["never seen"], [None]]) == [[None], ["a"], [None], [None]]


def test_numbers_are_the_means_of_their_intervals() -> None:
    numbers = np.array([[1.0], [2.0], [3.0], [10.0], [12.0], [14.0], [np.nan], [np.nan], [np.nan]])
    method = Generalisation(k=3)
    released, _ = method.fit_resample(numbers, [0, 0, 0, 1, 1, 1, 0, 1, 1])
    np.testing.assert_array_equal(released[:, 0], [2.0] * 3 + [12.0] * 3 + [np.nan] * 3)
    assert method.cuts_ == {"x0": [6.5]}
    np.testing.assert_array_equal(method.transform([[-5.0], [6.5], [99.0], [np.nan]]), [[2.0], [2.0], [12.0], [np.nan]])


def test_two_missing_numbers_keep_a_column_silent() -> None:
    """Nothing is told of them: a missing cell among cells that are there would stand out."""
    numbers = np.array([[1.0], [2.0], [3.0], [10.0], [12.0], [14.0], [np.nan], [np.nan]])
    method = Generalisation(k=3)
    released, _ = method.fit_resample(numbers, [0, 0, 0, 1, 1, 1, 0, 1])
    assert np.isnan(released).all()
    assert method.silent_ == ["x0"]
    filled, _ = Generalisation(k=3, missing="fill").fit_resample(numbers, [0, 0, 0, 1, 1, 1, 0, 1])
    assert len(np.unique(filled)) == 2


def test_an_interval_is_cut_where_it_may_be() -> None:
    """One number of another class at the end: the best cut is before it, the best valid one three rows earlier."""
    numbers, labels = np.arange(9.0)[:, None], [0] * 8 + [1]
    best = Generalisation(k=3, split="best").fit(numbers, labels)
    valid = Generalisation(k=3, split="valid").fit(numbers, labels)
    assert (best.cuts_["x0"], valid.cuts_["x0"]) == ([], [5.5])


def test_every_set_of_quasi_identifiers_is_anonymous_by_itself() -> None:
    table = mixed_table(200)
    sets = [["first", "tied"], ["second", "tied", "free"]]
    method = Generalisation(k=8, quasi_identifiers=sets, taxonomies=TREES)
    released, _ = method.fit_resample(table, labels_of(table))
    assert [rarest(released, names) >= 8 for names in sets] == [True, True]
    assert rarest(released, list(table.names)) == 1
    assert method.guarantee_.claim.startswith(
        "in each set, every combination of quasi-identifiers (first, tied; second"
    )
    np.testing.assert_array_equal(released.column("whole").cells(), table.column("whole").cells())
    assert "whole" in method.kept_columns_
    together = Generalisation(k=8, quasi_identifiers=["first", "tied", "second", "free"], taxonomies=TREES)
    assert together.fit(table, labels_of(table)).refinements_ < method.refinements_


def test_combinations_have_several_classes_where_that_is_asked_for() -> None:
    table = mixed_table(200)
    labels = labels_of(table)
    names = list(table.names)
    found = {}
    for wanted in (1, 2):
        method = Generalisation(k=4, l=wanted)
        released, _ = method.fit_resample(table, labels)
        cells = zip(*(released.column(name).cells().tolist() for name in names), strict=True)
        keys = [tuple(None if c != c else c for c in row) for row in cells]
        found[wanted] = min(Counter(key for key, _ in set(zip(keys, labels.codes.tolist(), strict=True))).values())
        assert method.guarantee_.holds
    assert found == {1: 1, 2: 2}
    assert method.guarantee_.claim.endswith("stands for at least 4 rows, of at least 2 classes")


def test_a_broken_promise_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Search, "valid", lambda self, column: np.ones(len(self.cuts[column].gains), bool))
    method = Generalisation(k=4).fit(np.arange(20.0)[:, None], [0, 1] * 10)
    assert (method.guarantee_.measured, method.guarantee_.holds) == (1.0, False)


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"k": 21}, UnfitTable, "k = 21 rows cannot share anything: n_samples = 20. Lower k"),
        ({"l": 3}, UnfitTable, "l = 3 classes cannot be in any combination: there are 2"),
        ({"quasi_identifiers": []}, BadParameter, "a list without a column"),
        ({"quasi_identifiers": [["x0"], []]}, BadParameter, "a list without a column"),
        ({"quasi_identifiers": ["age"]}, UnfitTable, "no column 'age'"),
        ({"quasi_identifiers": "x0"}, BadParameter, "list of names"),
        ({"quasi_identifiers": [1, 2]}, BadParameter, "list of names"),
        ({"taxonomies": [1]}, BadParameter, "mapping"),
        ({"taxonomies": {"age": {}}}, UnfitTable, "no column 'age'"),
        ({"taxonomies": {"x0": {"any": ["a"]}}}, BadParameter, "numeric"),
        ({"taxonomies": {"x1": "any"}}, BadParameter, "must have one root"),
        ({"taxonomies": {"x1": {"any": "a", "none": ["b"]}}}, BadParameter, "must have one root"),
        ({"taxonomies": {"x1": {"any": []}}}, BadParameter, "no list of children for 'any'"),
        ({"taxonomies": {"x1": {"any": [["a"]]}}}, BadParameter, "a list in a list"),
        ({"taxonomies": {"x1": {"any": ["a", "a"]}}}, BadParameter, "the name 'a' twice"),
        ({"taxonomies": {"x1": {"any": ["b"]}}}, UnfitTable, "no leaf for 1 of the values .* stands in row 3"),
        ({"taxonomies": {"x1": {"any": [{"secret": ["b"]}]}}}, UnfitTable, "no leaf for 1 of the values"),
    ],
)
def test_what_is_refused(settings: dict[str, Any], error: type[Exception], said: str) -> None:
    table = pd.DataFrame({"x0": np.arange(20.0), "x1": ["b", "b", "secret", *["b"] * 17]})
    with pytest.raises(error, match=said) as refused:
        Generalisation(**{"k": 2, **settings}).fit(table, [0, 1] * 10)
    assert "secret" not in str(refused.value)


def test_a_taxonomy_is_a_mapping_or_lists_all_the_way_down() -> None:
    """Leaves are the texts of values, also of values that are numbers."""
    table = pd.DataFrame({"grade": pd.Categorical([1, 2, 3, 4] * 5), "code": ["a", "b"] * 10})
    trees = {"grade": {"all": {"low": [1, 2], "high": ["3", {"top": [4]}]}}}
    method = Generalisation(k=10, quasi_identifiers=["grade"], taxonomies=trees)
    released, _ = method.fit_resample(table, [0, 0, 1, 1] * 5)
    assert released["grade"].tolist() == ["low", "low", "high", "high"] * 5
    assert method.cuts_ == {"grade": ["low", "high"]}
    assert (
        Generalisation(k=1, taxonomies=trees).fit_resample(table, [0, 1] * 10)[0]["grade"].tolist() == [1, 2, 3, 4] * 5
    )


def test_new_values_are_what_the_taxonomy_says_of_them() -> None:
    trees = {"x0": {"any": [{"first": ["a", "b"]}, {"second": ["c", "d"]}]}}
    method = Generalisation(k=2, taxonomies=trees).fit(ROWS, [0, 0, 0, 1, 1, 1])
    assert method.transform([["b"], ["d"], ["e"], [None]]) == [["first"], ["second"], [None], [None]]
    silent = Generalisation(k=6, taxonomies=trees).fit(ROWS, [0, 0, 0, 1, 1, 1])
    assert silent.transform([["b"], ["e"], [None]]) == [["any"], ["any"], ["any"]]


@pytest.mark.parametrize(
    ("rows", "labels"),
    [([[1.0, "a"]], [0]), ([[1.0, "a"]] * 6, [0, 1] * 3), ([[1.0, "a"], [2.0, "b"]] * 3, [0] * 6)],
    ids=["one row", "constant columns", "one class"],
)
def test_where_no_combination_is_to_be_divided(rows: list[Any], labels: list[int]) -> None:
    """A value that all rows share is told, a number that is never cut is not."""
    method = Generalisation(k=1)
    released, _ = method.fit_resample(rows, labels)
    assert np.isnan([row[0] for row in released]).all()
    assert {row[1] for row in released} == ({"a"} if len(set(map(tuple, rows))) == 1 else {None})
    assert method.guarantee_.measured == len(rows)


def test_the_release_does_not_depend_on_the_order_of_rows() -> None:
    table = mixed_table(150, gaps=0.05)
    labels = labels_of(table)
    order = np.random.default_rng(3).permutation(150)
    one = Generalisation(k=4, taxonomies=TREES).fit(table, labels)
    other = Generalisation(k=4, taxonomies=TREES).fit(table.take(order), labels.take(order))
    assert one.cuts_ == other.cuts_


def test_parameters_out_of_texts() -> None:
    settings = {"quasi_identifiers": "a, b / c", "taxonomies": '{"a": {"any": ["x"]}}', "l": "2"}
    method: Any = configured("generalisation", settings)
    assert method.quasi_identifiers == [["a", "b"], ["c"]]
    assert method.taxonomies == {"a": {"any": ["x"]}}
    one: Any = configured("generalisation", {"quasi_identifiers": "a,b"})
    assert one.quasi_identifiers == ["a", "b"]
    nothing: Any = configured("generalisation", {"quasi_identifiers": "none", "taxonomies": "none"})
    assert (nothing.quasi_identifiers, nothing.taxonomies) == (None, None)
    with pytest.raises(BadParameter, match="taxonomies of generalisation must be"):
        configured("generalisation", {"taxonomies": "trees"})


def test_rows_of_another_kind_are_refused() -> None:
    method = Generalisation(k=2).fit(pd.DataFrame({"a": [1.0, 2.0] * 4, "b": ["x", "y"] * 4}), [0, 1] * 4)
    with pytest.raises(UnfitTable, match="expecting 2 features"):
        method.transform(pd.DataFrame({"a": [1.0]}))
    with pytest.raises(UnfitTable, match="no column 'b'"):
        method.transform(pd.DataFrame({"a": [1.0], "c": ["x"]}))
    with pytest.raises(UnfitTable, match="now it holds texts"):
        method.transform(pd.DataFrame({"a": ["x"], "b": ["x"]}))
    with pytest.raises(UnfitTable, match="now it holds numbers"):
        method.transform(pd.DataFrame({"a": [1.0], "b": [2.0]}))
    assert method.transform(pd.DataFrame({"a": [None], "b": [None]})).isna().all(axis=None)
