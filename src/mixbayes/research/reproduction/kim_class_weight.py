"""How much the class is to weigh in modified condensation: Kim names the weight and prints no number for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass
from functools import partial

import numpy as np
from sklearn.model_selection import train_test_split

from mixbayes.local_methods import ClassWiseCondensation, Condensation
from mixbayes.local_methods.classifiers import NAIVE_BAYES, NEAREST_NEIGHBOUR, train
from mixbayes.local_methods.condensation.condensing import Condensing
from mixbayes.local_methods.measures.release import confidence_interval
from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.local_methods.tables import Codes, Indices, Nominal, Table
from mixbayes.research.reproduction import public_tables as public
from mixbayes.research.reproduction.attributes import labelled
from mixbayes.research.reproduction.experiment import Experiment, Laboratory, Part, Row
from mixbayes.research.reproduction.kim import DEVIATIONS, PAPER
from mixbayes.research.reproduction.public_tables import PublicTable

K = 20
WEIGHTS = (1, 2, 3, 5)
MANY_ROWS = 2000
TABLES: Mapping[str, PublicTable] = {
    "Iris": public.IRIS,
    "Breast cancer": public.WDBC,
    "Ionosphere": public.IONOSPHERE,
    "Pima": public.PIMA,
    "Heart": public.HEART_STATLOG,
    "Vote": public.VOTE,
    "Credit": public.CREDIT_APPROVAL,
    "German": public.GERMAN_CREDIT,
    "CMC": public.CMC,
    "Waveform": public.WAVEFORM,
    "Magic": public.MAGIC,
    "Adult": public.ADULT,
}


@dataclass(frozen=True)
class Judged:
    """A release, and the groups that it was drawn from. The means over splits are printed under these names."""

    nearest: float
    """Accuracy of the nearest neighbour."""
    bayes: float
    """Accuracy of naive Bayes."""
    privacy: float
    """The 95 % confidence interval, in ranges; not-a-number for a table without a number."""
    classes: float
    """In a group, on average: the l of distinct l-diversity."""
    pure: float
    """The share of rows whose group has one class."""


def class_weight(table: PublicTable, lab: Laboratory) -> Iterator[Row]:
    rows = labelled(lab.read(table))
    splits = lab.times(3 if rows.table.rows > MANY_ROWS else 20, 1)
    methods: Mapping[str, Condensing] = {
        **{f"class counts {weight}": Condensation(k=K, seeds="kmeans", label_weight=weight) for weight in WEIGHTS},
        "class-wise": ClassWiseCondensation(k=K),
    }
    for at, (name, method) in enumerate(methods.items()):
        found = np.array([astuple(judged(method, rows, split)) for split in range(splits)]).mean(axis=0)
        names = ("1-NN", "naive Bayes", "privacy", "classes in a group", "rows in groups of one class")
        figures = {what: value for what, value in zip(names, found.tolist(), strict=True) if not np.isnan(value)}
        yield Row(name, {}, figures, f"splits: {splits}")
        lab.progress("weights", at + 1, len(methods))


def judged(method: Condensing, rows: Labelled, split: int) -> Judged:
    """One release of nine tenths of the rows, judged on the others."""
    training, test = tenth(rows, split)
    method.set_params(random_state=split)
    released, classes = method.fit_resample(training.table, training.labels)
    numbers = training.table.take(method.stood_for_).numbers(), released.numbers()
    mean, pure = diversity(method.groups_, training.labels.codes)
    return Judged(
        accuracy(NEAREST_NEIGHBOUR, released, classes, test, split),
        accuracy(NAIVE_BAYES, released, classes, test, split),
        confidence_interval(*numbers) if training.table.numeric else np.nan,
        mean,
        pure,
    )


def tenth(rows: Labelled, split: int) -> tuple[Labelled, Labelled]:
    """Nine tenths to learn from and a tenth to ask about, each with its share of every class."""
    parts = train_test_split(np.arange(rows.table.rows), test_size=0.1, stratify=rows.labels.codes, random_state=split)
    training, test = (rows.take(np.sort(part)) for part in parts)
    return training, test


def accuracy(classifier: str, released: Table, classes: Nominal, test: Labelled, seed: int) -> float:
    return float((train(classifier, released, classes, seed)(test.table) == test.labels.codes).mean())


def diversity(groups: Indices, classes: Codes) -> tuple[float, float]:
    """How many classes a group has on average, and the share of rows whose group has one."""
    counts = np.zeros((groups.max() + 1, classes.max() + 1), np.int64)
    np.add.at(counts, (groups, classes), 1)
    distinct = (counts > 0).sum(axis=1)
    return float(distinct.mean()), float((distinct[groups] == 1).mean())


EXPERIMENTS = (
    Experiment(
        "kim-class-weight",
        f"How much the class counts in modified condensation, groups of {K}",
        PAPER,
        [Part(name, [table], partial(class_weight, table)) for name, table in TABLES.items()],
        "the paper says that outcomes weigh more, and not how much",
        DEVIATIONS,
        "one split",
    ),
)
