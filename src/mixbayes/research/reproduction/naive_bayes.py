"""Jena and Kamila's equation (5) has no smoothing: what it answers, and what the smoothing of a federation changes.

Tables are in the terms of a federation: a column of more than 20 different numbers is cut into ten bins with as many
rows in each, every other column is nominal, and a missing cell tells nothing. Accuracies are of five times two-fold
cross-validation, where every half has its share of each class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from mixbayes.local_methods.dmpd.folds import fold_of_rows
from mixbayes.local_methods.tables import Codes, Floats, Mask
from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.cells import positions
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes import counts
from mixbayes.research.reproduction import public_tables as public
from mixbayes.research.reproduction.experiment import Experiment, Laboratory, Part, Row
from mixbayes.research.reproduction.jena import PAPER
from mixbayes.research.reproduction.public_tables import PublicTable
from mixbayes.tables.columns import Columns
from mixbayes.tables.encoding import encode_query
from mixbayes.tables.inference import infer

CLASS = "class"
BINS = 10
REPEATS = 5
HALVES = 2
USUAL, LITTLE, NONE = 1.0, 0.001, 0.0
TABLES = (
    public.NURSERY,
    public.VOTE,
    public.BREAST_CANCER_LJUBLJANA,
    public.BREAST_CANCER_WISCONSIN,
    public.CMC,
    public.MAMMOGRAPHIC,
    public.GERMAN_CREDIT,
    public.CREDIT_APPROVAL,
    public.HEART_CLEVELAND,
    public.HEART_STATLOG,
    public.PIMA,
    public.IRIS,
    public.WINE,
    public.WDBC,
    public.IONOSPHERE,
    public.WAVEFORM,
    public.MAGIC,
    public.ADULT,
)


@dataclass(frozen=True, eq=False)
class Patients:
    """A table in the terms of the dictionary that it suggests."""

    layout: Layout
    codes: Values
    classes: Codes

    @staticmethod
    def of(columns: Columns) -> Patients:
        """With the cut points of the whole table, which know no class."""
        dictionary = infer([columns], CLASS, bins=BINS)
        classes = positions(columns.texts(CLASS), dictionary.classes).astype(np.int64)
        return Patients(Layout(dictionary), encode_query(dictionary, columns).codes, classes)

    def counted(self, rows: Mask) -> Words:
        """What a hospital with these rows would count."""
        return counts.count(self.layout, counts.Codes(self.codes[:, rows], self.classes[rows].astype(np.int32)))


@dataclass(frozen=True, eq=False)
class Given:
    """What the rule answers to each row, with a given smoothing."""

    best: Codes
    none: Mask
    """Where every class has a score of zero: equation (6) then names no class."""
    some: Mask
    """Where a class has a score of zero, and another has not."""

    @staticmethod
    def of(scores: Floats) -> Given:
        """From the logarithms of the scores, classes × rows."""
        zeros = np.isneginf(scores).sum(axis=0)
        none: Mask = zeros == len(scores)
        return Given(scores.argmax(axis=0), none, (zeros > 0) & ~none)


def scores(layout: Layout, vector: Words, codes: Values, smoothing: float) -> Floats:
    """log2 P(c) + Σ log2 P(v|c), as classes × rows; minus infinity where a factor is zero."""
    of_class = layout.class_counts(vector).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        total = np.repeat(np.log2(of_class / of_class.sum())[:, None], codes.shape[1], axis=1)
        for (attribute, block), (_, cells) in zip(layout.blocks(vector), layout.cells(codes), strict=True):
            # A class of which nobody has a value there has 0/0 of each: it is as good as none.
            total += np.nan_to_num(attribute.real_scores(block, cells, smoothing), nan=-np.inf, neginf=-np.inf)
    return total


def smoothing(table: PublicTable, lab: Laboratory) -> Iterator[Row]:
    patients = Patients.of(lab.read(table))
    random, found = np.random.default_rng(0), []
    repeats = lab.times(REPEATS, 1)
    for repeat in range(repeats):
        fold = fold_of_rows(patients.classes, HALVES, random)
        found += [compared(patients, fold != half) for half in range(HALVES)]
        lab.progress("halves", repeat + 1, repeats)
    each = np.concatenate(found, axis=1)
    usual, little, unsmoothed, none, some, differ = each
    measured = {
        "accuracy, α = 1": usual.mean(),
        "α = 0.001": little.mean(),
        "α = 0": unsmoothed.mean(),
        "no answer": none.mean(),
        "a class ruled out": some.mean(),
        "other answer": differ.mean(),
    }
    where = differ.astype(bool)
    note = f"where they differ, α = 1 is right {usual[where].mean():.0%}, α = 0 {unsmoothed[where].mean():.0%}"
    figures = {name: float(value) for name, value in measured.items()}
    yield Row(table.data_set, {}, figures, note if where.any() else "")


def compared(patients: Patients, learned: Mask) -> Floats:
    """Of each row asked about: whether either smoothing is right, and what becomes of it without one."""
    vector, asked, true = patients.counted(learned), patients.codes[:, ~learned], patients.classes[~learned]
    usual, little, unsmoothed = (
        Given.of(scores(patients.layout, vector, asked, alpha)) for alpha in (USUAL, LITTLE, NONE)
    )
    return np.array(
        [
            usual.best == true,
            little.best == true,
            (unsmoothed.best == true) & ~unsmoothed.none,
            unsmoothed.none,
            unsmoothed.some,
            (unsmoothed.best != usual.best) & ~unsmoothed.none,
        ],
        np.float64,
    )


EXPERIMENTS = (
    Experiment(
        "naive-bayes-smoothing",
        "Equation (5): naive Bayes without smoothing, and with it",
        PAPER,
        [Part(table.name, [table], partial(smoothing, table)) for table in TABLES],
        "the paper prints the estimator, and no figure that rests on it; a row without an answer counts as wrong",
        "docs/deviations/naive-bayes.md",
        "one repeat instead of five",
    ),
)
