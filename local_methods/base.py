"""What all local methods share: scikit-learn's contract, missing cells, and the check of the release.

A method implements two hooks. `_release` makes the released table. `_guarantee` then compares that table with the
original one, and says whether the promise is kept. `fit_resample` does the rest.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin
from sklearn.utils import InputTags, Tags
from sklearn.utils._param_validation import InvalidParameterError, StrOptions

from mixbayes.local_methods.containers import Kept, ManyColumns, OneColumn, read_columns, read_labels
from mixbayes.local_methods.errors import BadParameter, UnfitTable
from mixbayes.local_methods.guarantee import Guarantee, left_in_clear
from mixbayes.local_methods.missing import MissingCells, filled
from mixbayes.local_methods.tables import Nominal, Table

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is.

Whatever it raises ends the work; the estimator then has learned nothing.
"""

RandomState = int | np.random.RandomState | np.random.Generator | None

COMMON_CONSTRAINTS: Mapping[str, Any] = {
    "missing": [StrOptions({"fill", "drop"})],
    "random_state": ["random_state", np.random.Generator],
}
"""What every method's `_parameter_constraints` begin with."""

KEEPING_CONSTRAINTS: Mapping[str, Any] = {**COMMON_CONSTRAINTS, "missing": [StrOptions({"keep", "fill", "drop"})]}
"""The same, of methods that can keep missing cells missing."""


def silent(what: str, done: int, total: int) -> None:
    """Progress that nobody follows."""


def generator(random_state: RandomState) -> np.random.Generator:
    """Numpy's new generator from whatever scikit-learn takes as `random_state`."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**32, 4, np.uint32))
    return np.random.default_rng(random_state)


def columns_with_cells(table: Table) -> list[int]:
    """Where the columns stand that have a value in them; a table without any is refused."""
    if not table.rows or not table.names:
        raise UnfitTable(f"A table of {table.rows} rows and {len(table.names)} columns cannot be worked on.")
    found = [at for at, column in enumerate(table.columns) if not column.missing.all()]
    if not found:
        raise UnfitTable("No column of the table has a value in it.")
    return found


def refuse_parameters(estimator: BaseEstimator) -> None:
    """Refuse parameters that `_parameter_constraints` does not allow."""
    try:
        estimator._validate_params()
    except InvalidParameterError as error:
        raise BadParameter(str(error)) from None


@dataclass(frozen=True, eq=False)
class Records:
    """A table, and the classes of its rows if it has any."""

    table: Table
    labels: Nominal | None

    @property
    def classes(self) -> Nominal:
        """The classes, for a method that goes by them."""
        if self.labels is None:
            raise UnfitTable("Every row needs a class here. Say which column it is.")
        return self.labels


@dataclass(frozen=True, eq=False)
class Work(Records):
    """What a method is given: a table whose missing cells were treated, and chance."""

    random: np.random.Generator = field(repr=False)
    progress: Progress = field(repr=False)


@dataclass(frozen=True, eq=False)
class Released(Records):
    """What a method gives: a table with the same columns."""


@dataclass(slots=True)
class SamplerTags:
    """What imbalanced-learn asks about a sampler."""

    sample_indices: bool = False


@dataclass(slots=True)
class MethodInputTags(InputTags):  # type: ignore[misc]  # scikit-learn publishes no types
    """scikit-learn's tags of the input, with imbalanced-learn's."""

    dataframe: bool = True


@dataclass(slots=True)
class MethodTags(Tags):  # type: ignore[misc]  # scikit-learn publishes no types
    """scikit-learn's tags, with imbalanced-learn's."""

    sampler_tags: SamplerTags = field(default_factory=SamplerTags)


class LocalMethod(OneToOneFeatureMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn publishes no types
    """A method changes a table for release.

    Text and categorical columns are nominal, numbers numeric; None and not-a-number are missing cells. A column without
    any present cell is set aside and comes back as empty as it was. Numbers come back in the caller's type, such as
    float32, if the promise holds of them so; else as float64. A subclass lists its parameters in
    `_parameter_constraints`, among them `missing` and `random_state`, and writes `_release` and `_guarantee`.

    Attributes
    ----------
    guarantee_ : Guarantee
        The promise, checked on the release.
    missing_ : MissingCells
        What was missing, and what was done about it.
    kept_rows_ : ndarray of int
        The rows that were worked on: all, or those without a missing cell.
    kept_columns_ : list of str
        The columns of which every cell is released as it is, but for those that were filled or suppressed.
    """

    NEEDS_CLASS: ClassVar[bool] = False
    KEEPS_ORDER: ClassVar[bool] = True
    """Whether row i of a release of as many rows stands where row i of the table stood. If not, `places_` may say, to
    the owner alone, in whose place a released row stands: a position in `kept_rows_`."""
    ONLY_SUPPRESSES: ClassVar[bool] = False
    """Whether every cell of a release is the table's own, or missing."""
    RELEASES_PROJECTIONS: ClassVar[bool] = False
    """Whether what is released is not the table but its `projections`."""
    COARSENS: ClassVar[bool] = False
    """Whether a released nominal cell may be the name of several values."""
    BEARS_ROUNDING: ClassVar[bool] = False
    """Whether the promise is one of arithmetic alone, as of a rank, which no release keeps to the last digit."""
    BYTES_A_CELL: ClassVar[int] = 32
    """Memory that the work takes, by the cells of the table, class and all: rather too little than too much."""
    LEARNED: ClassVar[tuple[str, ...]] = ()
    """Learned parameters that a report should show, without their underscore."""

    missing: str
    random_state: RandomState
    kept_rows_: NDArray[np.intp]
    places_: NDArray[np.intp]
    _parameter_constraints: ClassVar[Mapping[str, Any]]

    @abstractmethod
    def _release(self, work: Work) -> Released:
        """Make the release; learned attributes are set here, at the end."""

    @abstractmethod
    def _guarantee(self, work: Work, released: Released) -> Guarantee:
        """Check the promise on the release itself."""

    def fit(self, X: ManyColumns, y: OneColumn = None) -> Self:
        """Learn what `fit_resample` learns, and release nothing."""
        self.fit_resample(X, y)
        return self

    def fit_resample(
        self, X: ManyColumns, y: OneColumn = None, *, progress: Progress | None = None
    ) -> tuple[ManyColumns, OneColumn]:
        """The table to release and the classes of its rows (None without `y`), in the caller's kind of container."""
        self._refuse_parameters()
        table, give_columns = read_columns(X)
        labels, give_labels = self._read_labels(y, table)
        work, empty, kept = self._prepare(table, labels, progress or silent)
        released = self._release(work)
        unchanged = self._unchanged(work, released)
        released, guarantee = self._checked(work, released, give_columns.rounded(released.table))
        self._remember(X, table, work, kept)
        self.guarantee_, self.kept_columns_ = _with_clear(guarantee, unchanged), unchanged
        whole = _with_empty(released.table, table, empty)
        columns = give_columns(whole, Kept(frozenset(table.positions(unchanged)), kept))
        return columns, None if released.labels is None else give_labels(released.labels)

    def rows_changed(self) -> int | None:
        """How many rows of a release one row of the table can change, at most; None for any number.

        One, where a released row depends on its own row and on public parameters alone. Whatever else a method learns
        of the table, such as a mean, a group or a rank, can change any number, and so can draws in the order of rows.
        """
        return None

    def row_privacy(self) -> tuple[float, float] | None:
        """The ε and δ that a release promises for one row more or less in the table; None if it promises none."""
        return None

    @property
    def stood_for_(self) -> NDArray[np.intp]:
        """The row in whose place each released row stands, of a release of as many rows: known to the owner alone."""
        return self.kept_rows_[self.places_] if hasattr(self, "places_") else self.kept_rows_

    def learned(self) -> dict[str, Any]:
        """The learned parameters by name, for a report."""
        return {name: getattr(self, f"{name}_") for name in self.LEARNED}

    def _unchanged(self, work: Work, released: Released) -> list[str]:
        columns = zip(released.table.names, released.table.columns, work.table.columns, strict=True)
        return [name for name, after, before in columns if self.ONLY_SUPPRESSES or after is before]

    def _checked(self, work: Work, released: Released, rounded: Table) -> tuple[Released, Guarantee]:
        """The release and its promise: rounded to the caller's types if the promise still holds, or else unrounded."""
        promise = self._guarantee(work, released)
        if rounded is released.table:
            return released, promise
        in_types = replace(released, table=rounded)
        kept = self._guarantee(work, in_types)
        if kept.holds:
            return in_types, kept
        return (in_types if self.BEARS_ROUNDING else released), promise

    def _refuse_parameters(self) -> None:
        """Refuse parameters that are out of range, or that do not go together."""
        refuse_parameters(self)

    def _read_labels(self, y: OneColumn, table: Table) -> tuple[Nominal | None, Callable[[Nominal], OneColumn]]:
        if y is None:
            if self.NEEDS_CLASS:
                name = type(self).__name__
                raise UnfitTable(f"This {name} estimator requires y to be passed, but the target y is None.")
            return None, lambda labels: labels
        labels, give_labels = read_labels(y)
        if len(labels) != table.rows:
            raise UnfitTable(f"X has {table.rows} rows, y has {len(labels)}: inconsistent numbers of samples.")
        return labels, give_labels

    def _prepare(
        self, table: Table, labels: Nominal | None, progress: Progress
    ) -> tuple[Work, list[int], NDArray[np.intp]]:
        """The work, which columns are empty and which rows take part."""
        full = columns_with_cells(table)
        empty = [at for at in range(len(table.names)) if at not in full]
        incomplete = table.select(full).incomplete()
        self.missing_ = MissingCells(table.missing_cells(), int(table.incomplete().sum()), self.missing)
        kept = np.flatnonzero(~incomplete) if self.missing == "drop" else np.arange(table.rows)
        if not len(kept):
            raise UnfitTable("Every row has a missing cell, so none is left. Fill the cells instead.")
        table, labels = table.select(full).only(kept), labels.take(kept) if labels else None
        table = filled(table, labels) if self.missing == "fill" else table
        return Work(table, labels, generator(self.random_state), progress), empty, kept

    def _remember(self, X: ManyColumns, table: Table, work: Work, kept: NDArray[np.intp]) -> None:
        self.kept_rows_ = kept
        self.n_features_in_ = len(table.names)
        if isinstance(X, Table) or hasattr(X, "columns"):
            self.feature_names_in_ = np.array(table.names, object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "guarantee_")

    def __sklearn_tags__(self) -> MethodTags:
        tags = super().__sklearn_tags__()
        target = tags.target_tags
        target.required = self.NEEDS_CLASS
        inputs = MethodInputTags(categorical=True, string=True, allow_nan=True)
        return MethodTags(estimator_type="sampler", target_tags=target, input_tags=inputs)


def _with_clear(guarantee: Guarantee, unchanged: list[str]) -> Guarantee:
    return guarantee.also_not_promised(left_in_clear(unchanged)) if unchanged else guarantee


def _with_empty(released: Table, original: Table, empty: list[int]) -> Table:
    """The released table with the columns that had no cell put back in their places, as empty as they were."""
    columns = dict(zip(released.names, released.columns, strict=True))
    for at in empty:
        columns[original.names[at]] = original.columns[at].take(np.zeros(released.rows, np.intp))
    return Table(original.names, tuple(columns[name] for name in original.names), released.rows)
