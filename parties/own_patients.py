"""A hospital's own patients and counts: its own classifier, and the rows by which classifiers are judged here.

A row is judged by classifiers in which its fold does not count. Where noise is agreed, or where the release that was
counted promises every row an ε, as many rows are asked about as a hospital may have, whatever it has: the computing
parties see that number.

The own classifier is what the hospital has without anybody: it is made of the table as it is, even where a release of
it was contributed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.terms import Terms
from mixbayes.protocol.bayes.evaluation import PADDING, Integers, Sheet, Totals, totals_in_clear
from mixbayes.protocol.bayes.label import Labels
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.recipe import OWN, Recipe
from mixbayes.protocol.bayes.reference import fixed_labels, fixed_model, fixed_models
from mixbayes.protocol.bayes.validity import joint
from mixbayes.protocol.errors import Unsupported
from mixbayes.tables.folding import Patients
from mixbayes.transport.errors import TooEarly

MOST_PADDED = 2048
"""Rows of an evaluation with noise, at most: of a larger table it takes a sample, of a smaller one it adds padding."""


def other_counts(me: str, number: int) -> TooEarly:
    """Why nobody can be judged: these are not the counts that the hospital with this title contributed to the round."""
    return TooEarly(
        f"{me} has other counts now than those that round {number} counts: its table has changed, or comes in another "
        "order. Only rows that were counted can be judged. A new round counts the table as it is now."
    )


@dataclass(frozen=True, repr=False, eq=False)
class OwnPatients:
    """What a hospital has itself. `vector` is what it contributes, fold after fold."""

    layout: Layout
    vector: Words
    patients: Patients | None = None
    aside: Patients | None = None
    """Those who count nowhere."""
    unprotected: Words | None = None
    """The counts of the table as it is, fold after fold, where `vector` has those of a release."""
    hides_rows: bool = False
    """Whether nobody may learn how many rows the table has, even without noise."""
    _models: dict[Recipe, Model] = field(default_factory=dict)

    def labels(self, recipe: Recipe, codes: Values) -> Labels:
        """The answers of the hospital's own classifier."""
        if recipe not in self._models:
            self._models[recipe] = fixed_model(self._alone, joint(self.layout, self._own_counts), recipe)
        return fixed_labels(self._alone, self._models[recipe], codes).astype(np.int64)

    def sheet(self, recipe: Recipe) -> Sheet:
        """What the computing parties see of an evaluation of this recipe."""
        return Sheet(self.layout, recipe, self._each)

    @property
    def judged(self) -> int:
        """How many patients."""
        return int((self._groups >= 0).sum())

    @property
    def codes(self) -> Values:
        """The rows (columns, n) that are asked about, in the order of their folds, with padding."""
        return self._dealt[0]

    @property
    def groups(self) -> Integers:
        """By row its true class, and whether the hospital's own classifier is right about it."""
        return self._groups

    def rows_aside(self, asked: range) -> tuple[Values, Integers]:
        """The rows (columns, n) that count nowhere and their classes: as many as may be asked about, with padding."""
        found = self.aside or Patients.none(self.layout)
        rows = min(max(found.rows, asked[0]), asked[-1])
        codes, classes = self._padding(rows)
        some = min(rows, found.rows)
        codes[:, :some], classes[:some] = found.codes[:, :some], found.labels[:some]
        return codes, classes

    def own_totals(self, recipe: Recipe) -> Totals:
        """The totals of the hospital's own classifier, for which nobody is asked."""
        sheet = Sheet(self._alone, recipe, self._each)
        return totals_in_clear(sheet, self._without_each(recipe), self.codes, self.groups)

    def refuse_none(self) -> None:
        """Raise why there are no patients to judge by."""
        if self.layout.terms.folds < 2:
            raise Unsupported("The agreement has no folds to judge classifiers by. Agree on some (policy, folds = 5).")
        if self.patients is None or not self.patients.labels.size:
            raise Unsupported("There are no patients to judge classifiers by: every fold is empty.")

    @property
    def _each(self) -> int:
        """Rows asked about in each fold."""
        folds = self.layout.terms.folds
        if self.layout.terms.coins or self.hides_rows:
            return -(-min(self.layout.rows_each, MOST_PADDED) // folds)
        return int(np.bincount(self._patients.folds, minlength=folds).max())

    @property
    def _own_counts(self) -> Words:
        return self.vector if self.unprotected is None else self.unprotected

    @property
    def _patients(self) -> Patients:
        self.refuse_none()
        if self.patients is None:
            raise Unsupported("There are no patients.")
        return self.patients

    @property
    def _alone(self) -> Layout:
        """The layout of a classifier of this hospital alone, without noise."""
        terms = self.layout.terms
        return Layout(self.layout.dictionary, Terms(1, 0, terms.max_rows_each, folds=terms.folds))

    @cached_property
    def _dealt(self) -> tuple[Values, Integers]:
        """Codes, and true classes, of as many rows in each fold."""
        patients, folds, each = self._patients, self.layout.terms.folds, self._each
        codes, classes = self._padding(folds * each)
        for fold in range(folds):
            rows = _spread(np.flatnonzero(patients.folds == fold), each)
            at = slice(fold * each, fold * each + rows.size)
            codes[:, at], classes[at] = patients.codes[:, rows], patients.labels[rows]
        return codes, classes

    def _padding(self, rows: int) -> tuple[Values, Integers]:
        """Codes and classes of rows that are nobody's."""
        missing = [np.full(a.columns, a.codes - 1, np.int32) for a in self.layout.dictionary.attributes]
        return np.repeat(np.concatenate(missing)[:, None], rows, axis=1), np.full(rows, PADDING, np.int64)

    @cached_property
    def _groups(self) -> Integers:
        codes, classes = self._dealt
        models, sheet = self._without_each(OWN), self.sheet(OWN)
        answers = [fixed_labels(self._alone, models[sheet.fold_of(part)], codes[:, part]) for part in sheet.pieces()]
        right = (np.concatenate(answers) == classes).astype(np.int64)
        return np.where(classes == PADDING, PADDING, sheet.split * classes + right)

    def _without_each(self, recipe: Recipe) -> list[Model]:
        """The hospital's own classifiers, each without one fold."""
        folds = self._own_counts.reshape(self.layout.terms.folds, self.layout.size)
        rest = folds.sum(axis=0, dtype=np.uint64) - folds
        return fixed_models(self._alone, recipe, rest, np.zeros_like(rest))


def _spread(rows: Integers, most: int) -> Integers:
    """At most so many of these, evenly spread over the table, which may be sorted."""
    if rows.size <= most:
        return rows
    return rows[np.linspace(0, rows.size - 1, most).round().astype(np.int64)]
