"""What the caller gets back: types that hold the release, cells that nobody changed, and names that are numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from mixbayes.local_methods import (
    DMPD,
    SAP,
    SVD,
    ClassWiseCondensation,
    Condensation,
    Guarantee,
    Microaggregation,
    PerturbationTree,
    SampleGeneration,
)
from mixbayes.local_methods.base import COMMON_CONSTRAINTS, LocalMethod, Released, Work

LARGE = 2**60 + np.arange(40)
"""Whole numbers that are not all floating-point numbers."""
WAGES = np.random.default_rng(0).normal(size=40)
CLASSES = ["a", "b"] * 20


class Rounded(LocalMethod):
    """Releases numbers that no narrower type holds, and promises that they are what they are."""

    _parameter_constraints = COMMON_CONSTRAINTS

    def __init__(self, *, size: float = 1.0, missing: str = "fill", random_state: Any = None) -> None:
        self.size, self.missing, self.random_state = size, missing, random_state

    def _refuse_parameters(self) -> None:
        """Any will do."""

    def _release(self, work: Work) -> Released:
        return Released(work.table.with_numbers(work.table.numbers() * self.size + self.size / 3), work.labels)

    def _guarantee(self, work: Work, released: Released) -> Guarantee:
        exact = np.array_equal(released.table.numbers(), work.table.numbers() * self.size + self.size / 3)
        return Guarantee("exact", None, exact)


class Arithmetic(Rounded):
    """Promises it up to the last digit."""

    BEARS_ROUNDING = True


FRAMES: list[Callable[[Any], Any]] = [
    lambda cells: np.array(cells, np.float32).reshape(-1, 1),
    lambda cells: pd.DataFrame({"a": cells}, dtype=np.float32),
    lambda cells: pd.DataFrame({"a": cells}, dtype="Float32"),
    lambda cells: pd.DataFrame({"a": cells}, dtype="float[pyarrow]"),
    lambda cells: pd.DataFrame({"a": cells}, dtype=pd.SparseDtype(np.float32)),
]
KINDS = ["array", "frame", "masked", "arrow", "sparse"]


@pytest.mark.parametrize("kind", FRAMES, ids=KINDS)
def test_a_promise_is_kept_by_what_the_caller_gets_if_need_be_in_a_wider_type(kind: Callable[[Any], Any]) -> None:
    released, _ = (method := Rounded()).fit_resample(kind([1, 2, 3]))
    assert np.array_equal(np.asarray(released, np.float64).ravel(), np.array([1, 2, 3]) + 1 / 3)
    assert method.guarantee_.holds


@pytest.mark.parametrize("kind", FRAMES, ids=KINDS)
def test_a_promise_of_arithmetic_is_kept_up_to_the_callers_type(kind: Callable[[Any], Any]) -> None:
    given = kind([1, 2, 3])
    released, _ = (method := Arithmetic()).fit_resample(given)
    assert _types(released) == _types(given)
    assert np.array_equal(np.asarray(released, np.float32).ravel(), (np.array([1, 2, 3]) + 1 / 3).astype(np.float32))
    assert method.guarantee_.holds


@pytest.mark.parametrize("kind", FRAMES, ids=KINDS)
def test_numbers_too_large_for_the_callers_type_do_not_become_infinite(kind: Callable[[Any], Any]) -> None:
    released, _ = Arithmetic(size=1e100).fit_resample(kind([1, 2, 3]))
    assert np.isfinite(np.asarray(released, np.float64)).all()


def _types(rows: Any) -> list[str]:
    return [str(dtype) for dtype in (rows.dtypes if hasattr(rows, "dtypes") else [rows.dtype])]


CONDENSING = [Condensation(k=10, random_state=0), ClassWiseCondensation(t=10, random_state=0)]
DRAWING = [*CONDENSING, SampleGeneration(random_state=0)]


@pytest.mark.parametrize(
    "method", [*DRAWING, Microaggregation(k=3), PerturbationTree(leaf_size=4, random_state=0), SVD(rank=1)]
)
def test_a_release_that_keeps_its_promise_in_the_callers_type_has_it(method: LocalMethod) -> None:
    rows = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    released, _ = method.fit_resample(rows, ["a", "b"] * 30)
    assert released.dtype == np.float32
    assert method.guarantee_.holds


def test_of_a_sample_in_the_callers_type_all_classifiers_still_agree() -> None:
    """float32 holds far fewer numbers between 1,000,000 and 1,000,001 than the classifiers tell apart."""
    random = np.random.default_rng(0)
    rows = (1e6 + random.random((200, 2))).astype(np.float32)
    released, _ = (method := SampleGeneration(random_state=0)).fit_resample(rows, random.integers(0, 2, 200))
    assert released.dtype == np.float64
    assert method.guarantee_.holds


@pytest.mark.parametrize("method", CONDENSING, ids=lambda method: type(method).__name__)
@pytest.mark.parametrize(("bounds", "expected"), [((0, 8), np.float16), ((0, 0.3), np.float64)])
def test_the_callers_type_is_left_where_it_has_no_number_at_a_bound(
    method: LocalMethod, bounds: tuple[float, float], expected: type[np.floating[Any]]
) -> None:
    """The nearest number of float16 to 0.3 is larger."""
    rows = np.tile([0.0, bounds[1]], 100).astype(np.float16).reshape(-1, 1)
    agreed: Any = clone(method)
    released, _ = agreed.set_params(domain={"x0": bounds}).fit_resample(rows, np.arange(200) // 100)
    assert released.dtype == expected
    assert released.min() >= bounds[0]
    assert released.max() <= bounds[1]
    assert agreed.guarantee_.holds


@pytest.mark.parametrize("method", DRAWING, ids=lambda method: type(method).__name__)
def test_numbers_are_drawn_between_bounds_that_are_further_apart_than_any_number_is_large(method: LocalMethod) -> None:
    rows = 1.7e308 * np.random.default_rng(0).uniform(-1, 1, (100, 1))
    released, _ = method.fit_resample(rows, np.arange(100) % 2)
    assert np.isfinite(released).all()
    assert released.min() < -1e308 < 1e308 < released.max()


def test_new_rows_come_in_the_type_that_the_release_came_in() -> None:
    rows = np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32)
    classes = rows[:, 0] > 0
    released, _ = (method := DMPD(k=4, population=6, generations=2, random_state=0)).fit_resample(rows, classes)
    new = method.transform(rows)
    assert (released.dtype, new.dtype) == (np.float32, np.float32)
    assert set(new[:, 0].tolist()) == set(released[:, 0].tolist())


CODES = [4, 1, 2, 4, 1, 1, 2, 4] * 10


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize(
    "method",
    [
        Condensation(k=8, random_state=0),
        ClassWiseCondensation(t=8, random_state=0),
        Microaggregation(k=4),
        PerturbationTree(leaf_size=4, random_state=0),
        SAP(random_state=0),
        SampleGeneration(random_state=0),
        DMPD(k=4, population=6, generations=2, random_state=0),
        SVD(rank=1),
    ],
    ids=lambda method: type(method).__name__,
)
@pytest.mark.filterwarnings("error")
def test_a_categorical_column_of_numbers_is_of_names(method: LocalMethod, ordered: bool) -> None:
    column = pd.Categorical(CODES, categories=[4, 2, 1, 3], ordered=ordered)
    frame = pd.DataFrame({"pain": column, "age": np.random.default_rng(0).normal(size=80)})
    released, _ = method.fit_resample(frame, ["a", "b", "a", "b", "a"] * 16)
    assert released["pain"].dtype == frame["pain"].dtype


def test_names_that_are_numbers_may_be_missing_and_are_drawn_as_often_as_before() -> None:
    column = pd.Categorical([*CODES, *[None] * 8] * 25)
    frame = pd.DataFrame({"pain": column, "age": np.random.default_rng(0).normal(size=2200)})
    released, _ = Condensation(k=2200, random_state=0).fit_resample(frame)
    before, after = (one["pain"].astype(str).value_counts(normalize=True).to_dict() for one in (frame, released))
    assert after == pytest.approx(before, abs=0.04)
    assert after != before


AGGREGATING = [
    Microaggregation(k=4, confidential=["x0"]),
    PerturbationTree(leaf_size=4, confidential=["x0"], random_state=0),
]
LARGE_COLUMNS = {
    "int64": pd.Series(LARGE),
    "uint64": pd.Series(LARGE.astype(np.uint64)),
    "Int64": pd.Series(LARGE, dtype="Int64"),
    "Int64 with gaps": pd.Series([*LARGE.tolist()[:-1], None], dtype="Int64"),
    "arrow": pd.Series(LARGE, dtype="int64[pyarrow]"),
    "object": pd.Series(LARGE.tolist(), dtype=object),
    "object with gaps": pd.Series([None, *LARGE.tolist()[1:]], dtype=object),
    "object, small": pd.Series(list(range(40)), dtype=object),
    "float32": pd.Series(WAGES, dtype=np.float32),
    "truth": pd.Series([True, False] * 20),
    "texts with gaps": pd.Series(["a", "b", None, "c"] * 10),
    "mixed": pd.Series([True, 1, "a", 2.5] * 10, dtype=object),
}


@pytest.mark.parametrize("column", LARGE_COLUMNS.values(), ids=list(LARGE_COLUMNS))
@pytest.mark.parametrize("method", AGGREGATING, ids=["microaggregation", "tree"])
def test_columns_that_a_method_leaves_alone_come_back_as_they_were(method: LocalMethod, column: Any) -> None:
    frame = pd.DataFrame({"x0": WAGES, "kept": column}).set_axis(np.arange(40) + 7)
    released, _ = method.fit_resample(frame)
    pd.testing.assert_series_equal(released["kept"], column, check_names=False, check_exact=True)
    assert list(map(type, released["kept"].tolist())) == list(map(type, column.tolist()))
    assert method.kept_columns_ == ["kept"]


@pytest.mark.parametrize("method", AGGREGATING, ids=["microaggregation", "tree"])
def test_so_do_those_of_lists_and_arrays(method: LocalMethod) -> None:
    rows = [[wage, number] for wage, number in zip(WAGES.tolist(), LARGE.tolist(), strict=True)]
    released, _ = method.fit_resample(rows)
    assert [row[1] for row in released] == LARGE.tolist()
    released, _ = method.fit_resample(np.array(rows, object))
    assert released[:, 1].tolist() == LARGE.tolist()
    released, _ = method.fit_resample(np.column_stack([np.arange(40), LARGE]))
    assert released[:, 1].tolist() == LARGE.tolist()


def test_what_is_replaced_is_never_written_as_it_was() -> None:
    """These are one number to the method, so that the mean of the group is every one of them."""
    column = 2**60 + np.arange(4)
    for rows in (pd.DataFrame({"a": column}), pd.DataFrame({"a": column}, dtype=object), column.reshape(-1, 1)):
        released, _ = Microaggregation(k=4).fit_resample(rows)
        assert len(np.unique(np.asarray(released))) == 1


def test_rows_that_are_dropped_are_not_taken_for_others() -> None:
    frame = pd.DataFrame({"x0": [np.nan, *WAGES[1:]], "kept": LARGE})
    released, _ = Microaggregation(k=4, confidential=["x0"], missing="drop").fit_resample(frame)
    assert released["kept"].tolist() == LARGE.tolist()[1:]


def test_of_a_filled_column_the_other_cells_come_back_as_they_were() -> None:
    frame = pd.DataFrame({"x0": WAGES, "kept": pd.Series([None, *LARGE.tolist()[1:]], dtype="Int64")})
    released, _ = Microaggregation(k=4, confidential=["x0"], missing="fill").fit_resample(frame)
    assert released["kept"].tolist()[1:] == LARGE.tolist()[1:]
    assert released["kept"].notna().all()


@pytest.mark.parametrize("kind", ["int64", "uint64", "Int64", "Int64 with gaps", "object", "object with gaps"])
def test_what_is_not_suppressed_is_not_changed(kind: str) -> None:
    frame = pd.DataFrame({"x0": LARGE_COLUMNS[kind]})
    released, _ = (method := SAP(p=0.3, random_state=0)).fit_resample(frame, CLASSES)
    pairs = list(zip(frame["x0"].tolist(), released["x0"].tolist(), strict=True))
    assert method.suppressed_cells_ > 0
    assert all(pd.isna(after) or after == before for before, after in pairs)
    again = method.transform(frame)["x0"].tolist()
    assert all(pd.isna(after) or after == before for (before, _), after in zip(pairs, again, strict=True))
    whole = SAP(target="class", random_state=0).fit(frame, CLASSES).transform(frame)
    pd.testing.assert_frame_equal(whole, frame, check_exact=True)


def test_a_suppressed_cell_looks_like_one_that_was_missing() -> None:
    cells = [None, 1, 2, pd.NA, 1, 2, float("nan"), 1] * 5
    released, _ = SAP(p=0.5, random_state=0).fit_resample(pd.DataFrame({"x0": cells}, dtype=object), CLASSES)
    assert len({str(cell) for cell in released["x0"] if pd.isna(cell)}) == 1


def test_columns_that_were_worked_on_are_not_kept() -> None:
    frame = pd.DataFrame({"age": WAGES, "ward": CLASSES})
    assert Condensation(k=4, random_state=0).fit(frame, CLASSES).kept_columns_ == []
    assert SVD(rank=1).fit(frame).kept_columns_ == ["ward"]
    assert SAP(random_state=0).fit(frame, CLASSES).kept_columns_ == ["age", "ward"]
