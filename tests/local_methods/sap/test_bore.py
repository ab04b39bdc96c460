"""BORE ranks, by hand and by the printed steps, and the critical values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mixbayes.local_methods.errors import UnfitTable
from mixbayes.local_methods.sap.bore import Rules, bore_ranks, critical_codes
from mixbayes.local_methods.tables import MISSING, Nominal, Numeric, Table
from tests.local_methods.mixed import classes, mixed_table

columns = st.integers(1, 25).flatmap(
    lambda rows: st.tuples(
        arrays(np.int64, rows, elements=st.integers(MISSING, 3)), arrays(np.int64, rows, elements=st.integers(0, 2))
    )
)


def names(*cells: str | None) -> Nominal:
    values = sorted({cell for cell in cells if cell is not None})
    codes = np.array([MISSING if cell is None else values.index(cell) for cell in cells], np.int64)
    return Nominal(codes, np.array(values))


def one_column(column: Nominal | Numeric) -> Table:
    return Table(("x",), (column,), len(column))


def as_printed(codes: np.ndarray, labels: np.ndarray, value: int, best: int) -> float:
    """Figure 3.1, line by line."""
    is_best = labels == best
    p_best, p_rest = is_best.mean(), (~is_best).mean()
    freq_best = (codes[is_best] == value).mean() if is_best.any() else 0.0
    freq_rest = (codes[~is_best] == value).mean() if not is_best.all() else 0.0
    like_best, like_rest = freq_best * p_best, freq_rest * p_rest
    return float(like_best**2 / (like_best + like_rest)) if like_best + like_rest else 0.0


@given(columns)
def test_ranks_are_those_of_the_printed_steps(column: tuple[np.ndarray, np.ndarray]) -> None:
    codes, labels = column
    ranks = bore_ranks(codes, Nominal(labels, np.array(["a", "b", "c"])))
    for value, best in np.ndindex(ranks.shape):
        assert ranks[value, best] == pytest.approx(as_printed(codes, labels, value, best), abs=1e-12)


@given(columns, st.integers(0, 9))
def test_the_order_of_rows_does_not_matter(column: tuple[np.ndarray, np.ndarray], seed: int) -> None:
    codes, labels = column
    order = np.random.default_rng(seed).permutation(len(codes))
    before, after = (
        critical_codes(codes[at], Nominal(labels[at], np.array(["a", "b", "c"])))
        for at in (np.arange(len(codes)), order)
    )
    assert np.array_equal(before, after)


def test_by_hand() -> None:
    """Eight rows: A has red thrice and blue once, B has red once and blue thrice: 9/4 and 1/4 of an eighth."""
    codes = np.array([0, 0, 0, 1, 0, 1, 1, 1], np.int64)
    assert bore_ranks(codes, classes(4, 4)).tolist() == [[9 / 32, 1 / 32], [1 / 32, 9 / 32]]
    assert critical_codes(codes, classes(4, 4)).tolist() == [0, 1]


def test_support_counts_beside_purity() -> None:
    """A value that only one row of the class has, and no other class, loses to one that most of the class has."""
    codes = np.array([0, 1, 1, 1, 1, 1], np.int64)
    assert critical_codes(codes, classes(5, 1)).tolist() == [1, 1]


def test_of_equal_ranks_the_first_value_is_critical() -> None:
    codes = np.array([2, 1, 0, 0, 1, 2], np.int64)
    assert critical_codes(codes, classes(3, 3)).tolist() == [0, 0]
    tied = np.repeat([0, 1], [3, 3]).astype(np.int64)
    labels = Nominal(np.tile([0, 0, 1], 2).astype(np.int64), np.array(["a", "b"]))
    assert critical_codes(tied, labels).tolist() == [0, 0]


def test_a_class_whose_cells_are_all_missing_has_no_critical_value() -> None:
    codes = np.array([MISSING, MISSING, 1], np.int64)
    assert critical_codes(codes, classes(2, 1)).tolist() == [MISSING, 1]
    assert critical_codes(np.full(3, MISSING, np.int64), classes(2, 1)).tolist() == [MISSING, MISSING]


def test_of_one_class_the_most_frequent_value_is_critical() -> None:
    assert critical_codes(np.array([0, 1, 1], np.int64), classes(3)).tolist() == [1]


def test_rules_know_what_rows_hold() -> None:
    table = one_column(names("red", "red", None, "blue", "red", "blue"))
    rules = Rules.of(table, classes(3, 3))
    assert rules.held(table, classes(3, 3)).tolist() == [[True, True, False, True, False, True]]
    assert rules.held_by_any(table).tolist() == [[True, True, False, True, True, True]]
    assert rules.shown(classes(3, 3)) == {"x": {"A": "red", "B": "blue"}}


def test_where_nothing_is_critical_a_missing_cell_is_not_either() -> None:
    table = one_column(names(None, None, "red"))
    rules = Rules.of(table, classes(2, 1))
    assert rules.held(table, classes(2, 1)).tolist() == [[False, False, True]]
    assert rules.held_by_any(table).tolist() == [[False, False, True]]
    assert rules.shown(classes(2, 1)) == {"x": {"A": None, "B": "red"}}


def test_another_list_of_values_is_read_by_its_values() -> None:
    rules = Rules.of(one_column(names("blue", "red", "red")), classes(1, 2))
    other = one_column(names("red", "green", None, "blue"))
    assert rules.held_by_any(other).tolist() == [[True, False, False, True]]


def test_numbers_are_critical_by_the_bins_of_the_table() -> None:
    numbers = np.repeat(np.arange(40.0), 5)
    labels = Nominal((numbers >= 20).astype(np.int64), np.array(["low", "high"]))
    mixed = np.where((numbers >= 4) & (numbers < 8), 4.5, numbers)
    rules = Rules.of(one_column(Numeric(mixed)), labels)
    shown = rules.shown(labels)["x"]["low"]
    held = rules.held(one_column(Numeric(mixed)), labels)[0]
    assert ((mixed >= shown[0]) & (mixed < shown[1]) & (labels.codes == 0)).tolist() == (
        held & (labels.codes == 0)
    ).tolist()
    far = one_column(Numeric(np.array([-1e9, np.nan, 1e9])))
    assert rules.held_by_any(far)[0][1].item() is False


def test_few_numbers_are_values() -> None:
    numbers = Numeric(np.array([0.0, 0.0, 3.0, 3.0, 3.0]))
    assert Rules.of(one_column(numbers), classes(2, 3)).shown(classes(2, 3)) == {
        "x": {"A": (-np.inf, 3.0), "B": (3.0, np.inf)}
    }


def test_texts_where_numbers_were_learned_are_refused_and_an_empty_column_is_not() -> None:
    rules = Rules.of(one_column(Numeric(np.array([1.0, 2.0]))), classes(1, 1))
    with pytest.raises(UnfitTable, match="'x' was all numbers"):
        rules.held_by_any(one_column(names("one")))
    assert rules.held_by_any(one_column(names(None))).tolist() == [[False]]


def test_numbers_where_names_were_learned_are_compared_with_them() -> None:
    learned = Nominal(np.array([0, 1], np.int64), np.array([1, "high"], object))
    rules = Rules.of(one_column(learned), classes(1, 1))
    assert rules.held_by_any(one_column(Numeric(np.array([1.0, 7.0])))).tolist() == [[True, False]]


def test_progress_is_told_and_may_end_the_work() -> None:
    told: list[tuple[str, int, int]] = []
    Rules.of(mixed_table(20), classes(10, 10), lambda *step: told.append(step))
    assert told == [("critical values", at, 5) for at in range(5)]
