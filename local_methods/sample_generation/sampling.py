"""Samples drawn at random that all classifiers of the original label alike: Li and Xi, Figure 1."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import Interval

from mixbayes.local_methods.base import COMMON_CONSTRAINTS, LocalMethod, Progress, RandomState, Released, Work
from mixbayes.local_methods.classifiers import CLASSIFIERS, NEAREST_NEIGHBOUR, TREE, Predict, train
from mixbayes.local_methods.containers import ManyColumns
from mixbayes.local_methods.coordinates import nominals
from mixbayes.local_methods.domain import DOMAIN_CONSTRAINTS, Domain, bounds_of, not_agreed, values_of
from mixbayes.local_methods.errors import BadParameter, UnfitTable
from mixbayes.local_methods.guarantee import Guarantee
from mixbayes.local_methods.tables import Codes, Column, Indices, Mask, Nominal, Numeric, Table

BATCH = 4096
"""Samples classified at a time: bounds the memory that a classifier takes for its answers."""


@dataclass(frozen=True, eq=False)
class Samples:
    """What was kept, and out of how many."""

    table: Table
    labels: Codes
    drawn: int
    agreed: int


def listed(table: Table, domain: Domain | None) -> Table:
    """The table whose nominal columns list the public values too, behind their own."""
    columns = {at: _with_values(column, values_of(table.names[at], column, domain)) for at, column in nominals(table)}
    return table.with_columns(dict(columns))


def _with_values(column: Nominal, public: Sequence[Any]) -> Nominal:
    own = column.values.tolist()
    more = [value for value in dict.fromkeys(public) if value not in set(own)]
    if not more:
        return column
    values = np.empty(len(own) + len(more), object)
    values[:] = [*own, *more]
    return Nominal(column.codes, values)


def draw(original: Table, domain: Domain | None, size: int, random: np.random.Generator) -> Table:
    """Samples with all columns independent: uniform between the bounds of a number, among the values of a name.

    The paper knows numbers only, and takes the table's own extremes as bounds. No column has a missing cell.
    """
    named = zip(original.names, original.columns, strict=True)
    return Table(original.names, tuple(_draw_column(*each, domain, size, random) for each in named), size)


def _draw_column(name: str, column: Column, domain: Domain | None, size: int, random: np.random.Generator) -> Column:
    if isinstance(column, Nominal):
        public = set(values_of(name, column, domain))
        codes = [code for code, value in enumerate(column.values.tolist()) if value in public]
        return column.with_codes(random.choice(codes, size))
    low, high = bounds_of(name, column, domain)
    part = random.random(size)
    drawn = np.clip(low * (1 - part) + high * part, low, high)  # high - low may not be finite
    return Numeric(drawn + 0.0)  # a zero has no sign


def generate(
    drawn_from: Callable[[int], Table], classifiers: Sequence[Predict], wanted: int, most: int, progress: Progress
) -> Samples:
    """Samples that all classifiers label alike, until there are as many as wanted or `most` were drawn.

    The paper's loop has no bound.
    """
    parts: list[Table] = []
    labels: list[Codes] = []
    drawn = agreed = 0
    while agreed < wanted and drawn < most:
        progress("samples", agreed, wanted)
        samples = drawn_from(min(BATCH, most - drawn))
        alike, label = agreement(samples, classifiers)
        parts.append(samples.take(alike))
        labels.append(label[alike])
        drawn, agreed = drawn + samples.rows, agreed + int(alike.sum())
    progress("samples", min(agreed, wanted), wanted)
    first = np.arange(min(agreed, wanted))
    return Samples(_stacked(parts).take(first), np.concatenate(labels)[first], drawn, agreed)


def agreement(table: Table, classifiers: Sequence[Predict]) -> tuple[Mask, Codes]:
    """Where all classifiers say the same, and what the first one says."""
    first, *others = (classify(table) for classify in classifiers)
    alike = np.ones(table.rows, bool)
    for other in others:
        alike &= other == first
    return alike, first


def _stacked(tables: Sequence[Table]) -> Table:
    columns = tuple(_joined(parts) for parts in zip(*(table.columns for table in tables), strict=True))
    return Table(tables[0].names, columns, sum(table.rows for table in tables))


def _joined(parts: Sequence[Column]) -> Column:
    first = parts[0]
    if isinstance(first, Nominal):
        return first.with_codes(np.concatenate([part.codes for part in parts if isinstance(part, Nominal)]))
    return Numeric(np.concatenate([part.numbers for part in parts if isinstance(part, Numeric)]))


class SampleGeneration(LocalMethod):
    """A table of as many random rows, each labelled alike by all classifiers trained on the original.

    A sample is uniform between the public bounds of a numeric column and among the public values of a nominal one. It
    is kept where all classifiers agree. Classes are as frequent as bounds and values make them, not as in the original.
    Nothing is promised to people: what a nearest neighbour says depends on each row of the original.

    Parameters
    ----------
    classifiers : sequence of str or scikit-learn classifiers, default=("tree", "nearest-neighbour")
        The names are "nearest-neighbour", "naive-bayes", "tree" and "svm". One that is given is trained on numbers
        scaled to their range and on an indicator for each nominal value.
    draws_per_row : int, default=1000
        How many samples may be drawn for each row that is wanted; the paper has no bound.
    missing : {"fill", "drop"}, default="fill"
        What is done about missing cells before the classifiers are trained. The release has none.
    domain : dict or None, default=None
        What is public of the columns: the lowest and highest number, or the values. None takes it from the table,
        bounds rounded outwards.
    random_state : int, RandomState, Generator or None, default=None
        Draws the samples.

    Attributes
    ----------
    drawn_ : int
        How many samples were drawn.
    agreement_ : float
        On what share of them all classifiers agreed.
    absent_classes_ : list
        The classes of the original that no released row has.
    guarantee_ : Guarantee
        All classifiers agree on every row; checked on the release.

    References
    ----------
    Li and Xi, "A new algorithm-independent method for privacy-preserving classification based on sample generation",
    2015.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mixbayes.local_methods.sample_generation.sampling import SampleGeneration
    >>> X, y = load_iris(return_X_y=True)
    >>> method = SampleGeneration(random_state=0)
    >>> released, labels = method.fit_resample(X, y)
    >>> released.shape, method.guarantee_.holds, method.absent_classes_
    ((150, 4), True, [])
    """

    NEEDS_CLASS: ClassVar[bool] = True
    LEARNED: ClassVar[tuple[str, ...]] = ("drawn", "agreement", "absent_classes")
    _parameter_constraints: ClassVar[Mapping[str, Any]] = {
        **COMMON_CONSTRAINTS,
        **DOMAIN_CONSTRAINTS,
        "classifiers": ["array-like", tuple],
        "draws_per_row": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        classifiers: Sequence[str | ClassifierMixin] = (TREE, NEAREST_NEIGHBOUR),
        draws_per_row: int = 1000,
        missing: str = "fill",
        domain: Domain | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.classifiers = classifiers
        self.draws_per_row = draws_per_row
        self.missing = missing
        self.domain = domain
        self.random_state = random_state

    def _release(self, work: Work) -> Released:
        labels, table = work.classes, listed(work.table, self.domain)
        trained = self._train(table, labels, work.random)
        wanted = table.rows
        most = wanted * self.draws_per_row
        drawn_from = partial(draw, table, self.domain, random=work.random)
        samples = generate(drawn_from, trained, wanted, most, work.progress)
        if samples.table.rows < wanted:
            raise UnfitTable(_too_few(samples, wanted))
        self._trained = trained
        self.drawn_ = samples.drawn
        self.agreement_ = samples.agreed / samples.drawn
        absent = np.setdiff1d(labels.codes, samples.labels)
        self.absent_classes_ = labels.values[absent].tolist()
        return Released(samples.table, labels.with_codes(samples.labels))

    def _train(self, table: Table, labels: Nominal, random: np.random.Generator) -> list[Predict]:
        unknown = [name for name in self.classifiers if isinstance(name, str) and name not in CLASSIFIERS]
        if unknown or not len(self.classifiers):
            wrong = f"There is no classifier {unknown[0]!r}." if unknown else "No classifier is named."
            raise BadParameter(f"{wrong} Take one or more of {', '.join(CLASSIFIERS)}.")
        return [train(classifier, table, labels, int(random.integers(2**31))) for classifier in self.classifiers]

    def _guarantee(self, work: Work, released: Released) -> Guarantee:
        alike, label = agreement(released.table, self._trained)
        wrong = int((~alike | (label != released.classes.codes)).sum())
        promise = Guarantee(
            claim="All classifiers that learned from the original agree on every released row",
            measured=float(wrong),
            holds=not wrong and released.table.rows == work.table.rows,
            not_promised="anything about people: where the nearest neighbour changes its label, original rows are near",
        )
        return promise.also_not_promised(not_agreed(work.table, self.domain))

    def _remember(self, X: ManyColumns, table: Table, work: Work, kept: Indices) -> None:
        super()._remember(X, table, work, kept)
        del self._trained


def _too_few(samples: Samples, wanted: int) -> str:
    return (
        f"{samples.drawn} samples were drawn for {wanted} rows, and all classifiers agree on only "
        f"{samples.agreed / samples.drawn:.2%} of them. Take fewer classifiers, or allow more draws_per_row."
    )
