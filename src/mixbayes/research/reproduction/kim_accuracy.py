"""Accuracies of Kim's Table 2: how far a split decides, and what other readings of the test would give."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from sklearn.model_selection import train_test_split

from mixbayes.local_methods import ClassWiseCondensation
from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.local_methods.tables import Floats, Indices, Nominal
from mixbayes.research.reproduction.experiment import Experiment, Laboratory, Part, Row
from mixbayes.research.reproduction.kim import CASES, DEVIATIONS, PAPER, Case, right, rows_of

NAMES = ("Breast cancer", "Ionosphere", "Magic")
MANY_ROWS = 2000
RELEASES = 3


def accuracy_by_split(case: Case, lab: Laboratory) -> Iterator[Row]:
    """The published accuracy is of one split, and the mean of three releases."""
    rows = rows_of(case, lab)
    splits = lab.times(3 if rows.table.rows > MANY_ROWS else 50, 2)
    found: dict[str, list[float]] = {}
    for split in range(splits):
        for reading, accuracy in readings(rows, case.rule.group_size, split).items():
            found.setdefault(reading, []).append(accuracy)
        lab.progress("splits", split + 1, splits)
    published = case.rule.accuracy
    for reading, accuracies in found.items():
        measured = {
            "accuracy": float(np.mean(accuracies)),
            "lowest": min(accuracies),
            "highest": max(accuracies),
            "splits that reach it": float(np.mean(np.array(accuracies) >= published - 0.5e-4)),
        }
        yield Row(reading, {"accuracy": published}, measured, f"splits: {splits}")


def readings(rows: Labelled, k: int, split: int) -> dict[str, float]:
    """The accuracy of the nearest neighbour on one split, by what the paper may have meant by its test."""
    training, test = (
        np.sort(part)
        for part in train_test_split(
            np.arange(rows.table.rows), test_size=0.1, stratify=rows.labels.codes, random_state=split
        )
    )
    learned, asked = rows.take(training), rows.take(test)
    spread = spreads(learned.table.numbers())
    question = asked.table.numbers() / spread
    weight = 1 / spreads(learned.labels.codes[:, None].astype(float))

    def accuracy(numbers: Floats, classes: Nominal, points: Floats = question) -> float:
        return float(right(numbers, classes, points, asked.labels).mean())

    def with_class(numbers: Floats, classes: Nominal) -> Floats:
        return np.column_stack([numbers, weight * classes.codes[:, None]])

    found = {"no release, scaled columns": accuracy(learned.table.numbers() / spread, learned.labels)}
    several: list[dict[str, float]] = []
    for seed in range(RELEASES):
        numbers, classes = condensed(learned, k, RELEASES * split + seed)
        all_numbers, all_classes = condensed(rows, k, RELEASES * split + seed)
        of_release = released_rows(all_numbers / spread, all_classes, training, test)
        several.append(
            {
                "scaled columns": accuracy(numbers / spread, classes),
                "unscaled columns": accuracy(numbers, classes, asked.table.numbers()),
                "the class is a column too": accuracy(
                    with_class(numbers / spread, classes), classes, with_class(question, asked.labels)
                ),
                "test rows are condensed too": accuracy(all_numbers / spread, all_classes),
                "test rows are released rows": of_release,
            }
        )
    return found | {reading: float(np.mean([one[reading] for one in several])) for reading in several[0]}


def condensed(rows: Labelled, k: int, seed: int) -> tuple[Floats, Nominal]:
    released, classes = ClassWiseCondensation(k=k, random_state=seed).fit_resample(rows.table, rows.labels)
    return released.numbers(), classes


def released_rows(points: Floats, classes: Nominal, training: Indices, test: Indices) -> float:
    """A tenth of the release is asked about, the rest is learned from."""
    return float(right(points[training], classes.take(training), points[test], classes.take(test)).mean())


def spreads(numbers: Floats) -> Floats:
    """The standard deviation of each column; one for a constant column."""
    found = numbers.std(axis=0)
    return np.where(found > 0, found, 1.0)


EXPERIMENTS = (
    Experiment(
        "kim-accuracy",
        "Table 2: accuracy by split and by reading of the test",
        PAPER,
        [Part(case.name, [case.table], partial(accuracy_by_split, case)) for case in CASES if case.name in NAMES],
        "the paper has one split, which is not told, and perhaps counted the class of Breast cancer among the columns",
        DEVIATIONS,
        "two splits",
    ),
)
