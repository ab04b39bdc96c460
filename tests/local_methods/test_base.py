"""What every local method gets from its base: containers, missing cells, errors, the checked guarantee."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

from mixbayes.local_methods import BadParameter, Guarantee, MethodError, UnfitTable
from mixbayes.local_methods.base import COMMON_CONSTRAINTS, LocalMethod, Released, Work, generator
from mixbayes.local_methods.missing import MissingCells, filled
from mixbayes.local_methods.registry import configured
from mixbayes.local_methods.tables import Nominal, Numeric, Table, nominal_from


class Untouched(LocalMethod):
    """Releases what it is given, in the opposite order, and promises to have as many rows."""

    _parameter_constraints: ClassVar[Mapping[str, Any]] = COMMON_CONSTRAINTS

    def __init__(self, *, missing: str = "fill", random_state: Any = None) -> None:
        self.missing = missing
        self.random_state = random_state

    def _release(self, work: Work) -> Released:
        self.given_ = work
        backwards = np.arange(work.table.rows)[::-1]
        return Released(work.table.take(backwards), work.labels and work.labels.take(backwards))

    def _guarantee(self, work: Work, released: Released) -> Guarantee:
        return Guarantee("as many rows", released.table.rows, released.table.rows == work.table.rows)


@pytest.mark.parametrize(
    "rows",
    [
        np.array([[1.5, 2.0], [3.0, 4.0], [5.0, 6.0]]),
        np.array([[1.5, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32),
        np.array([[1, 2], [3, 4], [5, 6]]),
        np.array([["a", "b"], ["c", "b"], ["a", "d"]]),
        np.array([["a", 1.5], ["b", 2.5], ["c", 3.5]], object),
        np.array([[True], [False], [False]]),
    ],
    ids=["float", "float32", "int", "text", "object", "bool"],
)
def test_arrays_come_back_in_their_own_type(rows: np.ndarray) -> None:
    released, labels = Untouched().fit_resample(rows)
    assert labels is None
    assert released.dtype == rows.dtype
    assert released.tolist() == rows[::-1].tolist()


def test_lists_come_back_as_lists() -> None:
    assert Untouched().fit_resample([[1.0, "a"], [2.0, "b"]], ["x", "y"]) == ([[2.0, "b"], [1.0, "a"]], ["y", "x"])


def test_frames_keep_their_names_and_types_but_not_their_index() -> None:
    """The index of a hospital's frame is often the number of a patient."""
    columns = {
        "age": pd.Series([30, 40, 50]),
        "sex": pd.Categorical(["f", "m", "f"]),
        "smokes": pd.array([True, False, True]),
        "weight": pd.array([50.5, 60.5, 70.5], "Float64"),
        "visits": pd.array([1, 2, 3], "Int64"),
        "note": ["a", "b", "c"],
    }
    frame = pd.DataFrame(columns).set_axis([101, 102, 103])
    classes = pd.Series(["sick", "well", "sick"], name="class", index=frame.index)
    released, labels = (method := Untouched()).fit_resample(frame, classes)
    assert released.dtypes.equals(frame.dtypes)
    assert released.to_numpy().tolist() == frame[::-1].to_numpy().tolist()
    assert list(released.index) == [0, 1, 2]
    assert (labels.name, list(labels)) == ("class", ["sick", "well", "sick"])
    assert method.feature_names_in_.tolist() == list(columns)
    assert method.n_features_in_ == 6


def test_after_an_array_no_names_are_left_of_the_frame_before() -> None:
    (method := Untouched()).fit(pd.DataFrame({"a": [1, 2], "b": [3, 4]}))
    assert not hasattr(method.fit(np.ones((2, 2))), "feature_names_in_")


def test_a_number_that_no_longer_is_whole_makes_its_column_one_of_floats() -> None:
    class Half(Untouched):
        def _release(self, work: Work) -> Released:
            return Released(work.table.with_numbers(work.table.numbers() / 2), work.labels)

    frame = pd.DataFrame({"even": [2, 4], "odd": [1, 3]})
    released, _ = Half().fit_resample(frame)
    assert released.dtypes.tolist() == [np.int64, np.float64]
    assert released["odd"].tolist() == [0.5, 1.5]


def test_text_is_nominal_and_numbers_are_numeric() -> None:
    method = Untouched()
    method.fit_resample([[1, "1", None, True], [2.5, "2", 7, False]])
    assert method.given_.table.numeric == [0, 2]
    assert method.given_.table.nominal == [1, 3]


MISSING = np.array([[1.0, "a"], [np.nan, "a"], [3.0, None], [5.0, "b"], [np.nan, "b"]], object)
CLASSES = ["x", "x", "x", "y", "y"]


def test_missing_cells_are_filled_from_their_class_and_counted() -> None:
    method = Untouched(missing="fill")
    released, _ = method.fit_resample(MISSING, CLASSES)
    assert released[::-1].tolist() == [[1, "a"], [2, "a"], [3, "a"], [5, "b"], [5, "b"]]
    assert method.missing_ == MissingCells(cells=3, rows=3, treatment="fill")
    assert method.kept_rows_.tolist() == [0, 1, 2, 3, 4]


def test_without_a_class_missing_cells_are_filled_from_the_whole_column() -> None:
    released, _ = Untouched(missing="fill").fit_resample(MISSING)
    assert released[::-1].tolist() == [[1, "a"], [3, "a"], [3, "a"], [5, "b"], [3, "b"]]


def test_a_class_that_never_says_anything_is_filled_from_the_others() -> None:
    table = Table(("n",), (Numeric(np.array([1.0, 3.0, np.nan])),), 3)
    labels = nominal_from(np.array(["x", "x", "y"]), np.zeros(3, bool))
    assert filled(table, labels).numbers().ravel().tolist() == [1, 3, 2]


def test_rows_with_missing_cells_are_dropped_and_counted() -> None:
    method = Untouched(missing="drop")
    released, labels = method.fit_resample(MISSING, CLASSES)
    assert (released.tolist(), labels) == ([[5, "b"], [1, "a"]], ["y", "x"])
    assert method.missing_ == MissingCells(cells=3, rows=3, treatment="drop")
    assert method.kept_rows_.tolist() == [0, 3]


@pytest.mark.parametrize("missing", ["fill", "drop"])
def test_a_column_without_any_cell_is_set_aside_and_comes_back_empty(missing: str) -> None:
    rows = np.array([[np.nan, 1.0, np.nan], [np.nan, 2.0, np.nan]])
    method = Untouched(missing=missing)
    released, _ = method.fit_resample(rows)
    assert method.given_.table.names == ("x1",)
    assert np.array_equal(released, rows[::-1], equal_nan=True)


@pytest.mark.parametrize(
    ("rows", "classes", "said"),
    [
        ([[1.0], [2.0]], ["x"], "X has 2 rows, y has 1"),
        ([[1.0], [2.0]], ["x", None], "the first is row 2"),
        ([[1.0], [2.0]], [["x", "y"], ["y", "x"]], "one column of classes"),
        ([[np.inf], [2.0]], None, "infinite"),
        ([[None], [None]], None, "No column of the table has a value"),
        ([[1.0, 2.0], [3.0]], None, "no table"),
        (pd.DataFrame({"when": pd.to_datetime(["2020-01-01"])}), None, "dates"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), None, "same name"),
        (pd.DataFrame({"a": [1j]}), None, "Complex"),
        ([[1.0, None], [None, 2.0]], None, "Every row has a missing cell"),
    ],
)
def test_what_is_no_table_is_refused(rows: Any, classes: Any, said: str) -> None:
    with pytest.raises(UnfitTable, match=said):
        Untouched(missing="drop").fit_resample(rows, classes)


def test_errors_are_value_errors_as_scikit_learn_wants_them() -> None:
    with pytest.raises(BadParameter, match="'missing' parameter of Untouched"):
        Untouched(missing="ignore").fit_resample([[1.0]])
    assert issubclass(BadParameter, MethodError)
    assert issubclass(UnfitTable, MethodError)
    assert issubclass(MethodError, ValueError)


def test_a_guarantee_that_the_release_breaks_does_not_hold() -> None:
    class Loses(Untouched):
        def _release(self, work: Work) -> Released:
            return Released(work.table.take(np.array([0])), None)

    method = Loses()
    method.fit_resample([[1.0], [2.0]])
    assert method.guarantee_ == Guarantee("as many rows", 1, False)


def test_tables_show_their_shape_and_never_a_cell() -> None:
    column = nominal_from(np.array(["secret"]), np.array([False]))
    table = Table(("n", "t"), (Numeric(np.array([123456.0])), column), 1)
    assert "secret" not in repr((table, column))
    assert "123456" not in repr(table)
    assert table.shape == (1, 2)


def test_values_without_an_order_among_them_are_listed_by_their_texts() -> None:
    column = nominal_from(np.array(["b", 2, None, "a"], object), np.array([False, False, True, False]))
    assert column.values.tolist() == [2, "a", "b"]
    assert column.cells().tolist() == ["b", 2, None, "a"]
    assert column.counts().tolist() == [1, 1, 1]


def test_columns_are_asked_for_by_name() -> None:
    table = Table(("a", "b"), (Numeric(np.zeros(2)), Nominal(np.zeros(2, np.int64), np.array(["v"]))), 2)
    assert table.positions(["b", "a"]) == [1, 0]
    with pytest.raises(UnfitTable, match=r"no column 'c'.*'a', 'b'"):
        table.column("c")
    with pytest.raises(UnfitTable, match="not numeric: 'b'"):
        table.numbers([0, 1])


@pytest.mark.parametrize("state", [7, np.random.RandomState(7), np.random.default_rng(7)], ids=["int", "old", "new"])
def test_random_states_of_every_kind_give_a_generator(state: Any) -> None:
    assert 0 <= generator(state).random() < 1


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("no-such-method", {}, "There are condensation, class-wise"),
        ("condensation", {"k": "zero"}, "k of condensation must be an int.*'zero' is not"),
        ("condensation", {"k": "2"}, "'2' is not"),
        ("condensation", {"seeds": "tall"}, "'tall' is not"),
        ("condensation", {"size": "3"}, "has no parameter 'size'. It has k, seeds"),
        ("condensation", {"random_state": "3"}, "has no parameter"),
        ("svd", {}, "svd needs rank"),
    ],
)
def test_settings_that_no_method_has_are_refused(name: str, settings: dict[str, str], said: str) -> None:
    with pytest.raises(BadParameter, match=said):
        configured(name, settings)


def test_settings_are_read_as_what_the_method_takes() -> None:
    method = configured("condensation", {"k": "7", "seeds": "kmeans", "label_weight": "2.5"}, seed=3)
    assert method.get_params() | {"k": 7, "seeds": "kmeans", "label_weight": 2.5, "random_state": 3} == (
        method.get_params()
    )
    assert configured("class-wise-condensation", {"k": "none"}).get_params()["k"] is None
    columns = configured("microaggregation", {"k": "3", "confidential": "wage, age"}).get_params()["confidential"]
    assert columns == ["wage", "age"]
