"""The caller's own container - array, list, data frame, `Table` - in, and the same kind out again.

Pandas is used only on data frames and series, so only where the caller has it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array

from mixbayes.local_methods.errors import UnfitTable
from mixbayes.local_methods.tables import Mask, Nominal, Table, column_from, nominal_from

ManyColumns = Any
"""An array, a list of lists, a data frame or a `Table`: scikit-learn's X."""
OneColumn = Any
"""An array, a list, a series or a `Nominal`: scikit-learn's y."""


def read_columns(X: ManyColumns) -> tuple[Table, Callable[[Table], ManyColumns]]:
    """The table in it, and how to give a released table back in the same kind of container."""
    if isinstance(X, Table):
        return X, lambda table: table
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        return _frame(X), lambda table: _as_frame(table, X)
    if isinstance(X, list):
        table = _array(_cells_of_list(X))
        return table, lambda released: _as_array(released, np.dtype(object)).tolist()
    array = _checked(X)
    return _array(array), lambda table: _as_array(table, array.dtype)


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
    columns = [frame.iloc[:, at] for at in range(len(names))]
    read = [
        column_from(_cells_of_series(column), column.isna().to_numpy(), name)
        for name, column in zip(names, columns, strict=True)
    ]
    return Table(names, tuple(read), len(frame))


def _cells_of_series(series: Any) -> NDArray[Any]:
    cells = series.to_numpy()
    if cells.dtype.kind == "c":
        raise UnfitTable("Complex data not supported.")
    return cells


def _as_frame(table: Table, like: Any) -> Any:
    # The index is new: in many tables it is the number of a patient.
    series = [_as_series(column.cells(), like.dtypes.iloc[at]) for at, column in enumerate(table.columns)]
    frame = _pandas().concat(series, axis="columns")
    frame.columns = like.columns
    return frame


def _as_series(cells: NDArray[Any], dtype: Any) -> Any:
    series = _pandas().Series(cells)
    try:
        cast = series.astype(dtype)
    except (TypeError, ValueError):
        return series
    lossless = cast.isna().equals(series.isna()) and (cast.dropna() == series.dropna()).all()
    return cast if lossless or getattr(dtype, "kind", "") == "f" else series


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


def _as_array(table: Table, dtype: np.dtype[Any]) -> NDArray[Any]:
    if not table.nominal:
        return _without_loss(table.numbers(), dtype)
    cells = np.empty(table.shape, object)
    for at, column in enumerate(table.columns):
        cells[:, at] = column.cells()
    return cells if any(column.missing.any() for column in table.columns) else _without_loss(cells, dtype)


def _without_loss(cells: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """In the caller's type, unless that could not hold what stands there now."""
    if dtype.kind == "f":
        return cells.astype(dtype)
    if cells.dtype != object and np.isnan(cells).any():
        return cells
    cast = cells.astype(dtype)
    return cast if np.array_equal(cast, cells) else cells


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
