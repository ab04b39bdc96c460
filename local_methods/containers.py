"""The caller's own container - array, list, data frame, `Table` - in, and the same kind out again.

Pandas is used only on data frames and series, so only where the caller has it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array

from mixbayes.local_methods.errors import UnfitTable
from mixbayes.local_methods.tables import Column, Indices, Mask, Nominal, Numeric, Table, column_from, nominal_from

ManyColumns = Any
"""An array, a list of lists, a data frame or a `Table`: scikit-learn's X."""
OneColumn = Any
"""An array, a list, a series or a `Nominal`: scikit-learn's y."""


WHOLE = 2**53
"""Whole numbers beyond it are not all numbers of a `Table`."""

Cells = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Kept:
    """The columns that a release keeps unchanged, except for suppressed cells, and the rows that it keeps."""

    columns: frozenset[int]
    rows: Indices = field(repr=False)


@dataclass(frozen=True, eq=False)
class Giver:
    """Gives a released table back in the kind of container that the table came in."""

    table: Table
    cells: Callable[[int], Cells] = field(repr=False)
    """The caller's own of each column."""
    types: Sequence[Any]
    """The caller's own of each column."""
    container: Callable[[Table, Iterator[Cells]], ManyColumns] = field(repr=False)
    """Makes it of the released table, or of the cells of its columns, which are made one by one if it asks for them."""

    def __call__(self, released: Table, kept: Kept | None = None) -> ManyColumns:
        """The release in the caller's types, where these hold every number of it; kept cells are the caller's own."""
        return self.container(released, (self._given(at, column, kept) for at, column in enumerate(released.columns)))

    def rounded(self, released: Table) -> Table:
        """The release with its numbers as the caller's types hold them; the same one, if they hold them all."""
        types = (self.types[self.table.position(name)] for name in released.names)
        columns = dict(enumerate(map(_rounded, released.columns, types)))
        changed = {at: column for at, column in columns.items() if column is not released.columns[at]}
        return released.with_columns(changed) if changed else released

    def _given(self, at: int, column: Column, kept: Kept | None) -> Cells:
        if kept is None or at not in kept.columns:
            return column.cells()
        own = self.cells(at)[kept.rows]
        if _held(own):
            return column.cells()
        same = self.table.columns[at].take(kept.rows).missing == column.missing
        if not same.all():
            same &= ~column.missing  # all gaps alike: none tells whether it was suppressed
        return np.where(same, own.astype(object), column.cells().astype(object))


def _held(cells: Cells) -> bool:
    """Whether a `Table` holds such cells as they are."""
    if cells.dtype.kind in "iu":
        return bool((np.abs(cells.astype(np.float64)) < WHOLE).all())
    return cells.dtype.kind == "f"


def _rounded(column: Column, dtype: Any) -> Column:
    if not isinstance(column, Numeric) or getattr(dtype, "kind", "") != "f":
        return column
    own = np.dtype(getattr(dtype, "numpy_dtype", getattr(dtype, "subtype", dtype)))  # pandas has types of its own
    with np.errstate(over="ignore"):
        numbers = column.numbers.astype(own).astype(np.float64)
    if np.isinf(numbers).any() or np.array_equal(numbers, column.numbers, equal_nan=True):
        return column
    return Numeric(numbers)


def read_columns(X: ManyColumns) -> tuple[Table, Giver]:
    """The table in it, and how to give a released table back in the same kind of container."""
    if isinstance(X, Table):
        return X, Giver(X, lambda at: X.columns[at].cells(), [None] * len(X.names), lambda released, cells: released)
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        table = _frame(X)
        own = list(X.dtypes)
        return table, Giver(table, lambda at: _own(X.iloc[:, at]), own, lambda _, cells: _as_frame(cells, X))
    if isinstance(X, list):
        return _read_array(_cells_of_list(X), np.ndarray.tolist)
    return _read_array(_checked(X), lambda array: array)


def _read_array(array: NDArray[Any], give: Callable[[NDArray[Any]], ManyColumns]) -> tuple[Table, Giver]:
    table, dtype = _array(array), array.dtype
    return table, Giver(
        table,
        lambda at: array[:, at],
        [dtype] * len(table.names),
        lambda released, cells: give(_as_array(released, list(cells), dtype)),
    )


def read_labels(y: OneColumn) -> tuple[Nominal, Callable[[Nominal], OneColumn]]:
    """The classes in it, and how to give released ones back in the same kind of container."""
    if isinstance(y, Nominal):
        _refuse_unlabelled(y)
        return y, lambda labels: labels
    cells = np.asarray(y)
    if cells.ndim == 2 and cells.shape[1] != 1:
        raise UnfitTable("Multilabel and multioutput targets are not supported. Give one column of classes.")
    if cells.ndim > 2 or cells.ndim == 0:
        raise UnfitTable(f"y should be a 1d array of classes; an array of shape {cells.shape} came.")
    labels = nominal_from(cells.ravel(), _absent(cells.ravel()))
    _refuse_unlabelled(labels)
    check_classification_targets(cells.ravel())
    return labels, lambda released: _as_labels(released, y, cells)


def _refuse_unlabelled(labels: Nominal) -> None:
    unlabelled = np.flatnonzero(labels.missing) + 1
    if unlabelled.size:
        raise UnfitTable(
            f"Rows without a class: {unlabelled.size}, the first is row {unlabelled[0]}. Remove them, or give them one."
        )


def _checked(X: Any) -> NDArray[Any]:
    check: Any = check_array  # its own types say that dtype cannot be None
    return check(X, dtype=None, ensure_all_finite=False)


def _frame(frame: Any) -> Table:
    if 0 in frame.shape:
        check_array(np.empty(frame.shape))  # refuses it in scikit-learn's words
    names = tuple(map(str, frame.columns))
    if len(set(names)) < len(names):
        raise UnfitTable("Two columns have the same name. Rename one.")
    read = [_read_series(frame.iloc[:, at], name) for at, name in enumerate(names)]
    return Table(names, tuple(read), len(frame))


def _read_series(series: Any, name: str) -> Column:
    missing = series.isna().to_numpy()
    if isinstance(series.dtype, _pandas().CategoricalDtype):  # names, whether or not they are written as numbers
        return nominal_from(series.astype(object).to_numpy(), missing)
    return column_from(_cells_of_series(series), missing, name)


def _cells_of_series(series: Any) -> NDArray[Any]:
    cells = series.to_numpy()
    if cells.dtype.kind == "c":
        raise UnfitTable("Complex data not supported.")
    return cells


def _own(series: Any) -> Cells:
    # Among missing cells, pandas turns whole numbers of its own types into floats.
    numpy_own = isinstance(series.dtype, np.dtype)
    cells: Cells = (series if numpy_own else series.astype(object)).to_numpy()
    return cells


def _as_frame(cells: Iterator[Cells], like: Any) -> Any:
    # The index is new: in many tables it is the number of a patient.
    series = [_as_series(column, dtype) for column, dtype in zip(cells, like.dtypes, strict=True)]
    frame = _pandas().concat(series, axis="columns")
    frame.columns = like.columns
    return frame


def _as_series(cells: NDArray[Any], dtype: Any) -> Any:
    series = _pandas().Series(cells)
    if isinstance(dtype, _pandas().CategoricalDtype) and not series.dropna().isin(dtype.categories).all():
        return series
    try:
        with np.errstate(over="ignore"):
            cast = series.astype(dtype)
    except (TypeError, ValueError):
        return series
    lossless = np.array_equal(cast.isna(), series.isna()) and (cast.dropna() == series.dropna()).all()
    return cast if lossless else series


def _cells_of_list(rows: list[Any]) -> NDArray[Any]:
    try:
        return _checked(np.array(rows, dtype=object))
    except ValueError as error:
        raise UnfitTable(f"The rows are no table: {error}") from None


def _array(array: NDArray[Any]) -> Table:
    names = tuple(f"x{at}" for at in range(array.shape[1]))
    cells = [array[:, at] for at in range(array.shape[1])]
    columns = tuple(column_from(c, _absent(c), name) for name, c in zip(names, cells, strict=True))
    return Table(names, columns, len(array))


def _absent(cells: NDArray[Any]) -> Mask:
    if cells.dtype == object:
        return np.array([cell is None or cell != cell for cell in cells.tolist()], bool)
    return np.isnan(cells) if cells.dtype.kind == "f" else np.zeros(len(cells), bool)


def _as_array(table: Table, columns: list[Cells], dtype: np.dtype[Any]) -> NDArray[Any]:
    if all(column.dtype == np.float64 for column in columns):
        return _without_loss(np.column_stack(columns), dtype)
    cells = np.empty(table.shape, object)
    for at, column in enumerate(columns):
        cells[:, at] = column
    return cells if any(column.missing.any() for column in table.columns) else _without_loss(cells, dtype)


def _without_loss(cells: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """In the caller's type, unless that could not hold what stands there now."""
    floats = dtype.kind == "f"
    if not floats and cells.dtype != object and np.isnan(cells).any():
        return cells
    with np.errstate(over="ignore"):
        cast = cells.astype(dtype)
    return cast if np.array_equal(cast, cells, equal_nan=floats) else cells


def _as_labels(labels: Nominal, like: OneColumn, read: NDArray[Any]) -> OneColumn:
    cells = labels.cells().reshape(-1, 1) if read.ndim == 2 else labels.cells()
    if hasattr(like, "columns"):
        return _pandas().DataFrame(cells, columns=like.columns).astype(dict(like.dtypes))
    if hasattr(like, "iloc"):
        return _pandas().Series(cells, name=like.name).astype(like.dtype)
    return cells.tolist() if isinstance(like, list) else cells


def _pandas() -> Any:
    """The caller's pandas: whoever passes a data frame has imported it."""
    return sys.modules["pandas"]
