"""SAP: what is suppressed, what stays, and that the promise is checked on the release."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from imblearn.utils.estimator_checks import estimator_checks_generator as imblearn_checks
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import estimator_checks_generator as sklearn_checks

from mixbayes.local_methods.base import Released, Work
from mixbayes.local_methods.errors import BadParameter, UnfitTable
from mixbayes.local_methods.measures.disclosure import (
    Unknown,
    attribute_disclosure,
    codes_of,
    cuts_of,
    draw_queries,
    reidentification,
)
from mixbayes.local_methods.sap.bore import Rules
from mixbayes.local_methods.sap.by_lot import drawn, quotas
from mixbayes.local_methods.sap.sap import SAP
from mixbayes.local_methods.tables import MISSING, Codes, Mask, Nominal, Numeric, Table
from tests.local_methods.mixed import classes, mixed_table, real_table

shares = st.sampled_from([0.1, 0.2, 0.3, 0.5, 1.0])


def fresh(before: Table, after: Table) -> Mask:
    """Columns × rows: the cells that became missing."""
    return (after.missing() & ~before.missing()).T


def same_elsewhere(before: Table, after: Table) -> bool:
    """Whether the cells that are present in the release are those of the original."""
    for old, new in zip(before.columns, after.columns, strict=True):
        kept = ~new.missing
        if isinstance(old, Nominal) and isinstance(new, Nominal):
            if not np.array_equal(old.codes[kept], new.codes[kept]):
                return False
        elif not (isinstance(old, Numeric) and isinstance(new, Numeric)) or not np.array_equal(
            old.numbers[kept], new.numbers[kept]
        ):
            return False
    return True


@given(st.integers(3, 60), st.integers(0, 20), shares, st.sampled_from([0.0, 0.3]))
def test_a_share_of_every_critical_value_is_suppressed_and_nothing_else(
    rows: int, seed: int, share: float, gaps: float
) -> None:
    table, labels = mixed_table(rows, seed, gaps), classes(rows // 3, rows - rows // 3)
    present = [at for at, gone in enumerate(table.missing().T) if not gone.all()]
    table = table.select(present)
    sap = SAP(p=share, random_state=seed)
    released, released_labels = sap.fit_resample(table, labels)
    gone, held = fresh(table, released), Rules.of(table, labels).held(table, labels)
    assert not (gone & ~held).any()
    for at in range(len(present)):
        for label in range(2):
            members = labels.codes == label
            assert gone[at, members].sum() == ceil(round(share * held[at, members].sum(), 9))
    assert same_elsewhere(table, released)
    assert np.array_equal(released_labels.codes, labels.codes)
    assert sap.guarantee_.holds
    assert sap.guarantee_.measured is not None
    assert sap.guarantee_.measured >= share - 1e-12
    assert sap.guarantee_.people is None
    assert sap.suppressed_cells_ == gone.sum()
    assert sap.suppressed_share_ == pytest.approx(gone.sum() / (~table.missing()).sum())


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 20), shares)
def test_a_share_of_every_class_is_suppressed_and_no_attribute(some: int, others: int, seed: int, share: float) -> None:
    table, labels = mixed_table(some + others, seed), classes(some, others)
    sap = SAP(p=share, target="class", random_state=seed)
    released, released_labels = sap.fit_resample(table, labels)
    assert not fresh(table, released).any()
    assert same_elsewhere(table, released)
    lost = released_labels.missing
    assert np.bincount(labels.codes[lost], minlength=2).tolist() == [ceil(round(share * n, 9)) for n in (some, others)]
    assert np.array_equal(released_labels.codes[~lost], labels.codes[~lost])
    assert sap.guarantee_.holds
    assert sap.critical_values_ == {}
    assert sap.learned() == {
        "suppressed_cells": lost.sum(),
        "suppressed_share": lost.sum() / (some + others),
    }


def test_a_share_is_what_its_digits_say() -> None:
    assert quotas(np.array([0, 1, 100, 101], np.int64), 0.07).tolist() == [0, 1, 7, 8]  # 0.07 · 100 > 7 in binary
    assert quotas(np.array([10, 11], np.int64), 0.1).tolist() == [1, 2]


def test_every_candidate_may_be_drawn() -> None:
    labels, candidates = classes(4, 4), np.array([1, 1, 1, 0, 0, 1, 1, 0], bool)
    often = sum(drawn(labels, candidates, 0.5, np.random.default_rng(seed)).astype(int) for seed in range(300))
    assert isinstance(often, np.ndarray)
    assert not often[~candidates].any()
    assert often[candidates][:3] == pytest.approx([200] * 3, abs=40)
    assert often[candidates][3:] == pytest.approx([150] * 2, abs=40)


def test_the_whole_share_takes_every_critical_value() -> None:
    released, _ = SAP(p=1).fit_resample([["a"], ["a"], ["b"], ["b"], ["a"]], [0, 0, 0, 1, 1])
    assert released == [[None], [None], ["b"], [None], ["a"]]


class Forgetful(SAP):
    """Suppresses one cell less than it should, in the column at `at`; -1 is the class."""

    at = 0

    def _release(self, work: Work) -> Released:
        released = super()._release(work)
        labels = released.labels
        if self.at >= 0 or labels is None or work.labels is None:
            return Released(_restored(work.table, released.table, self.at), labels)
        codes = labels.codes.copy()
        back = np.flatnonzero(labels.missing)[0]
        codes[back] = work.labels.codes[back]
        return Released(released.table, labels.with_codes(codes))


class Misplaced(SAP):
    """Suppresses a cell that is not critical in the place of one that is."""

    def _release(self, work: Work) -> Released:
        released = super()._release(work)
        assert self._rules is not None
        assert work.labels is not None
        before, after = work.table.columns[3], released.table.columns[3]
        assert isinstance(before, Nominal)
        back = int(np.flatnonzero(after.missing)[0])
        alike = work.labels.codes == work.labels.codes[back]
        other = int(np.flatnonzero(alike & ~self._rules.held(work.table, work.labels)[3])[0])
        table = _changed(released.table, 3, back, int(before.codes[back]))
        return Released(_changed(table, 3, other, MISSING), released.labels)


class Altering(SAP):
    """Changes a cell."""

    def _release(self, work: Work) -> Released:
        released = super()._release(work)
        column = released.table.columns[4]
        assert isinstance(column, Nominal)
        row = int(np.flatnonzero(~column.missing)[0])
        return Released(_changed(released.table, 4, row, (int(column.codes[row]) + 1) % 3), released.labels)


def _changed(table: Table, at: int, row: int, code: int) -> Table:
    column = table.columns[at]
    assert isinstance(column, Nominal)
    codes: Codes = column.codes.copy()
    codes[row] = code
    return table.with_columns({at: column.with_codes(codes)})


def _restored(before: Table, after: Table, at: int) -> Table:
    old, new = before.columns[at], after.columns[at]
    assert isinstance(old, Numeric)
    assert isinstance(new, Numeric)
    numbers = new.numbers.copy()
    back = np.flatnonzero(new.missing & ~old.missing)[0]
    numbers[back] = old.numbers[back]
    return after.with_columns({at: Numeric(numbers)})


@pytest.mark.parametrize("kind", [Forgetful, Misplaced, Altering])
def test_a_release_that_breaks_the_promise_is_found_out(kind: type[SAP]) -> None:
    for base, holds in ((SAP, True), (kind, False)):
        sap = base(p=0.2, random_state=0)
        sap.fit_resample(mixed_table(60), classes(30, 30))
        assert sap.guarantee_.holds is holds


def test_a_class_too_few_is_found_out() -> None:
    class ForgetfulOfClasses(Forgetful):
        at = -1

    sap = ForgetfulOfClasses(p=0.2, target="class", random_state=0)
    sap.fit_resample(mixed_table(60), classes(30, 30))
    assert not sap.guarantee_.holds
    assert sap.guarantee_.measured == pytest.approx(5 / 30)


def test_the_same_seed_gives_the_same_release_and_another_seed_another() -> None:
    table, labels = mixed_table(80), classes(40, 40)
    first, again, other = (
        fresh(table, SAP(p=0.3, random_state=seed).fit_resample(table, labels)[0]) for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_missing_cells_stay_or_are_filled_or_their_rows_dropped() -> None:
    table, labels = mixed_table(60, gaps=0.2), classes(30, 30)
    for missing in ("keep", "fill", "drop"):
        sap = SAP(p=0.2, missing=missing, random_state=0)
        released, _ = sap.fit_resample(table, labels)
        expected = int(table.missing().sum()) if missing == "keep" else 0
        assert released.missing().sum() == expected + sap.suppressed_cells_
        assert released.rows == (60 - table.missing().any(axis=1).sum() if missing == "drop" else 60)
        assert sap.guarantee_.holds
        assert sap.missing_.cells == table.missing().sum()


@pytest.mark.parametrize("p", [0, -0.1, 1.1, "half", None])
def test_shares_out_of_range_are_refused(p: Any) -> None:
    with pytest.raises(BadParameter):
        SAP(p=p).fit_resample([[1.0], [2.0]], [0, 1])


def test_a_table_without_a_class_is_refused() -> None:
    with pytest.raises(UnfitTable, match="requires y"):
        SAP(p=0.1).fit_resample([[1.0], [2.0]])


@pytest.mark.parametrize(
    ("rows", "labels"),
    [([["a"]], ["x"]), ([["a"], ["a"]], ["x", "x"]), ([[1.5, None], [1.5, None]], ["x", "y"])],
    ids=["one row", "constant and one class", "an empty column"],
)
def test_small_tables_have_an_answer(rows: list[list[Any]], labels: list[str]) -> None:
    sap = SAP(p=0.5, random_state=0)
    released, _ = sap.fit_resample(rows, labels)
    assert len(released) == len(rows)
    assert sap.guarantee_.holds


def test_pandas_gets_gaps_that_it_can_hold() -> None:
    frame = pd.DataFrame({"age": [30, 31, 40, 41], "sex": ["f", "m", "f", "m"]})
    classes_of = pd.Series([0, 0, 1, 1], name="ill")
    sap = SAP(p=0.5, random_state=0)
    released, kept = sap.fit_resample(frame, classes_of)
    assert released.isna().to_numpy().sum() == sap.suppressed_cells_ > 0
    assert kept.tolist() == [0, 0, 1, 1]
    _, gone = SAP(p=0.5, target="class", random_state=0).fit_resample(frame, classes_of)
    assert gone.name == "ill"
    assert gone.isna().sum() == 2
    assert gone.dropna().tolist() == [0, 1]
    _, table = SAP(p=0.5, target="class", random_state=0).fit_resample(frame, classes_of.to_frame())
    assert table["ill"].isna().sum() == 2


def test_new_rows_lose_critical_values_of_any_class_with_the_chance() -> None:
    sap = SAP(p=0.25, random_state=0).fit([["a", 1.0], ["b", 1.0], ["c", 2.0]] * 4, ["A", "B", "B"] * 4)
    assert isinstance(sap, SAP)
    assert sap.critical_values_["x0"] == {"A": "a", "B": "b"}
    rows = [["a", 1.0], ["b", 2.0], ["c", 1.0], ["d", 2.0], [None, None]] * 2000
    cells = np.array(sap.transform(rows), object)
    for at, chance in enumerate([0.25, 0.25, 0, 0]):
        assert np.mean([cell is None for cell in cells[at::5, 0]]) == pytest.approx(chance, abs=0.04 * bool(chance))
    assert all(cell is None for cell in cells[4::5, 0])
    kept = [cell for cell in cells[:, 0] if cell is not None]
    assert set(kept) == {"a", "b", "c", "d"}


def test_new_rows_stay_as_they_are_where_the_class_is_suppressed() -> None:
    table, labels = mixed_table(40), classes(20, 20)
    sap = SAP(p=0.5, target="class", random_state=0).fit(table, labels)
    assert isinstance(sap, SAP)
    assert not fresh(table, sap.transform(table)).any()


def test_a_column_that_was_empty_is_left_alone_in_new_rows() -> None:
    sap = SAP(p=1, random_state=0).fit([[None, "a"], [None, "a"]], [0, 1])
    assert isinstance(sap, SAP)
    assert sap.transform([["new", "a"]]) == [["new", None]]


def test_new_rows_must_have_the_columns_that_were_learned() -> None:
    table, labels = mixed_table(40), classes(20, 20)
    with pytest.raises(NotFittedError):
        SAP(p=0.1).transform(table)
    sap = SAP(p=0.1).fit(table, labels)
    assert isinstance(sap, SAP)
    with pytest.raises(UnfitTable, match="X has 4 features, but SAP is expecting 5"):
        sap.transform(table.select([0, 1, 2, 3]))
    with pytest.raises(UnfitTable, match="must be those"):
        sap.transform(table.select([1, 0, 2, 3, 4]))
    framed = SAP(p=0.1).fit(pd.DataFrame({"a": [1, 2]}), [0, 1])
    assert isinstance(framed, SAP)
    with pytest.raises(UnfitTable, match="should match those"):
        framed.transform(pd.DataFrame({"b": [1, 2]}))


ONE_CLASS = "it does not balance classes"
ONE_COLUMN = "classes come as one column, never as indicators"
GAPS = "the check compares or casts classes that are suppressed"
EXPECTED = {
    "check_transformer_data_not_an_array": "a list of rows comes back as a list of rows",
    "check_samplers_one_label": ONE_CLASS,
    "check_samplers_fit": ONE_CLASS,
    "check_samplers_multiclass_ova": ONE_COLUMN,
    "check_samplers_pandas": GAPS,
    "check_samplers_pandas_sparse": GAPS,
    "check_samplers_list": GAPS,
    "check_samplers_preserve_dtype": GAPS,
}


@pytest.mark.parametrize("checks", [sklearn_checks, imblearn_checks])
def test_the_common_checks_hold_where_the_class_is_suppressed(checks: Any) -> None:
    for estimator, check in checks(SAP(p=0.2, target="class", random_state=0)):
        name = check.func.__name__ if hasattr(check, "func") else check.__name__
        if name in EXPECTED:
            with pytest.raises((AssertionError, TypeError, AttributeError, ValueError)):
                check(estimator)
        elif name != "check_array_api_input":  # needs libraries that are not here
            check(estimator)


def risk(before: Table, after: Table, unknown: Unknown) -> float:
    cuts = cuts_of(before)
    queries = draw_queries(codes_of(before, cuts), np.random.default_rng(0), most=200)
    return reidentification(codes_of(after, cuts), queries, unknown)


@pytest.mark.real_tables
def test_on_vote_more_suppression_means_fewer_found() -> None:
    table, labels = real_table("vote.csv")
    releases = [table, *(SAP(p=p, random_state=0).fit_resample(table, labels)[0] for p in (0.1, 0.2, 0.3))]
    as_wildcard = [risk(table, released, Unknown.WILDCARD) for released in releases]
    assert as_wildcard == sorted(set(as_wildcard), reverse=True)


@pytest.mark.real_tables
def test_on_vote_suppressed_classes_are_disclosed_less() -> None:
    table, labels = real_table("vote.csv")
    codes = codes_of(table, cuts_of(table))
    queries = draw_queries(codes, np.random.default_rng(0), most=200)
    found = [attribute_disclosure(codes, labels.codes, queries, Unknown.WILDCARD)]
    for p in (0.1, 0.2, 0.3):
        _, released = SAP(p=p, target="class", random_state=0).fit_resample(table, labels)
        found.append(attribute_disclosure(codes, released.codes, queries, Unknown.WILDCARD))
    assert found == sorted(set(found), reverse=True)
