"""The classifier that a recipient of the projections can train: one for each projection, combined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from mixbayes.local_methods.coded import Coded
from mixbayes.local_methods.dmpd.combination import combined, log_laplace
from mixbayes.local_methods.dmpd.fitness import log_likelihood
from mixbayes.local_methods.dmpd.inducers import NAIVE_BAYES, Model, Placed, inducer_of
from mixbayes.local_methods.tables import Codes, Column, Floats, Nominal, Numeric, Table


@dataclass(frozen=True, eq=False)
class ProjectionClassifier:
    """Learned from the projections alone: from which rows they came never enters."""

    groups: Sequence[Sequence[int]]
    legends: Sequence[NDArray[Any]] = field(repr=False)
    """The values of each column, in the order of their codes."""
    models: Sequence[Counted | Learned] = field(repr=False)
    log_prior: Floats
    classes: Codes

    @staticmethod
    def learn(
        table: Table, labels: Nominal, groups: Sequence[Sequence[int]], inducer: str | ClassifierMixin
    ) -> ProjectionClassifier:
        """From the released table, which says what its projections say, and the groups of columns that they are."""
        coded = Coded.of(table, labels)
        models = [_model(coded, group, inducer) for group in groups]
        prior = log_laplace(np.bincount(coded.labels))
        legends = [_legend(column) for column in table.columns]
        return ProjectionClassifier(groups, legends, models, prior, np.unique(labels.codes))

    def predict(self, table: Table) -> Codes:
        """The likeliest class of each row of a discretised table; a value that no row had tells nothing."""
        asked = [_read(column, legend) for column, legend in zip(table.columns, self.legends, strict=True)]
        posteriors = [model([asked[at] for at in group]) for group, model in zip(self.groups, self.models, strict=True)]
        scores = np.broadcast_to(combined(posteriors, self.log_prior), (table.rows, len(self.classes)))
        return self.classes[scores.argmax(axis=1)]


@dataclass(frozen=True, eq=False)
class Counted:
    """Naive Bayes in one projection."""

    log_prior: Floats
    tables: Sequence[Floats]
    """For each column values × classes, the last for a value that no row had."""

    @staticmethod
    def learn(coded: Coded, group: Sequence[int]) -> Counted:
        likelihoods = (log_likelihood(coded.class_counts(coded.codes[at])) for at in group)
        return Counted(log_laplace(np.bincount(coded.labels)), list(map(_with_unseen, likelihoods)))

    def __call__(self, codes: Sequence[Codes]) -> Floats:
        return self.log_prior + sum(table[code] for table, code in zip(self.tables, codes, strict=True))


@dataclass(frozen=True, eq=False)
class Learned:
    """What any other learner made of one projection."""

    group: Sequence[int]
    placed: Placed
    model: Model

    @staticmethod
    def learn(coded: Coded, group: Sequence[int], inducer: str | ClassifierMixin) -> Learned:
        placed = Placed(coded)
        combination = coded.combined(group)
        first = np.unique(combination, return_index=True)[1]
        points = placed.points(group, [coded.codes[at, first] for at in group])
        return Learned(group, placed, inducer_of(inducer).learn(points, coded.class_counts(combination)))

    def __call__(self, codes: Sequence[Codes]) -> Floats:
        return self.model(self.placed.points(self.group, codes))


def _model(coded: Coded, group: Sequence[int], inducer: str | ClassifierMixin) -> Counted | Learned:
    return Counted.learn(coded, group) if inducer == NAIVE_BAYES else Learned.learn(coded, group, inducer)


def _with_unseen(table: Floats) -> Floats:
    return np.vstack([table, np.zeros(table.shape[1])])


def _legend(column: Column) -> NDArray[Any]:
    if isinstance(column, Numeric):
        return np.unique(column.numbers)
    cells = [*column.values.tolist(), None]  # code -1 is the missing cell's, at the end
    return np.array([cells[code] for code in np.unique(column.codes)], object)


def _read(column: Column, legend: NDArray[Any]) -> Codes:
    """The code of each cell; one past the end where it is none of the legend."""
    if isinstance(column, Numeric):
        code = np.searchsorted(legend, column.numbers).clip(max=len(legend) - 1)
        same = (legend[code] == column.numbers) | (np.isnan(legend[code]) & column.missing)
        return np.where(same, code, len(legend))
    code_of = {value: code for code, value in enumerate(legend.tolist())}
    codes = np.array([code_of.get(value, len(legend)) for value in [*column.values.tolist(), None]])
    return codes[column.codes]
