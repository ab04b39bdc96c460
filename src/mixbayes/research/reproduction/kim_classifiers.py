"""Kim: one condensed table serves several distance-based classifiers, and modified condensation beats the original one.

The paper names the nearest neighbour and the support vector machine and runs the former. It does not run the original
condensation, because another paper (Banerjee and others, 2010) has found the modified one better.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from mixbayes.local_methods import ClassWiseCondensation, Condensation
from mixbayes.local_methods.classifiers import NAIVE_BAYES, NEAREST_NEIGHBOUR, SVM
from mixbayes.local_methods.condensation.condensing import Condensing
from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.local_methods.tables import Floats
from mixbayes.research.reproduction.attributes import labelled
from mixbayes.research.reproduction.experiment import Experiment, Figures, Laboratory, Part, Row
from mixbayes.research.reproduction.kim import DEVIATIONS, PAPER
from mixbayes.research.reproduction.kim_class_weight import MANY_ROWS, TABLES, accuracy, tenth
from mixbayes.research.reproduction.public_tables import PublicTable

SIZES = (5, 20)
CLASSIFIERS = {"1-NN": NEAREST_NEIGHBOUR, "SVM": SVM, "naive Bayes": NAIVE_BAYES}
ORIGINAL, MODIFIED = "original condensation", "modified condensation"
LARGE = ("Waveform", "Magic", "Adult")
"""Not run here: an SVM is trained many times."""


def methods(k: int) -> Mapping[str, Condensing]:
    return {
        ORIGINAL: Condensation(k=k),
        MODIFIED: Condensation(k=k, seeds="kmeans"),
        "class-wise": ClassWiseCondensation(k=k),
    }


def classifiers(table: PublicTable, lab: Laboratory) -> Iterator[Row]:
    """Accuracy on a tenth that was not condensed, and how far the modified method is ahead of the original one."""
    rows = labelled(lab.read(table))
    splits = lab.times(3 if rows.table.rows > MANY_ROWS else 20, 2)
    parts = [tenth(rows, split) for split in range(splits)]
    yield Row("no release", {}, named(np.mean([accuracies(*part, 0) for part in parts], axis=0)))
    for at, k in enumerate(SIZES):
        found = {name: released(method, parts) for name, method in methods(k).items()}
        for name, figures in found.items():
            yield Row(f"groups of {k}, {name}", {}, named(figures.mean(axis=0)))
        yield ahead(f"groups of {k}, modified less original", found[MODIFIED] - found[ORIGINAL])
        lab.progress("group sizes", at + 1, len(SIZES))


def released(method: Condensing, parts: Sequence[tuple[Labelled, Labelled]]) -> Floats:
    """Splits × classifiers: the accuracies of what learns from a release of the training rows."""
    found = []
    for split, (training, test) in enumerate(parts):
        table, labels = method.set_params(random_state=split).fit_resample(training.table, training.labels)
        found.append(accuracies(Labelled(table, labels), test, split))
    return np.array(found)


def accuracies(learned: Labelled, test: Labelled, seed: int) -> list[float]:
    return [accuracy(classifier, learned.table, learned.labels, test, seed) for classifier in CLASSIFIERS.values()]


def ahead(what: str, differences: Floats) -> Row:
    """The mean over the splits, and its standard error, as if splits were independent."""
    error = differences.std(axis=0, ddof=1) / np.sqrt(len(differences))
    pairs = zip(CLASSIFIERS, differences.mean(axis=0), error, strict=True)
    return Row(what, {}, {name: f"{mean:+.4f} ± {by:.4f}" for name, mean, by in pairs}, f"splits: {len(differences)}")


def named(figures: Floats) -> Figures:
    return dict(zip(CLASSIFIERS, figures.tolist(), strict=True))


EXPERIMENTS = (
    Experiment(
        "kim-classifiers",
        "1-NN, linear SVM and naive Bayes on original, modified and class-wise condensation",
        PAPER,
        [Part(name, [table], partial(classifiers, table)) for name, table in TABLES.items() if name not in LARGE],
        "the paper has no such figures: it runs 1-NN alone, and refers to another paper for the original condensation",
        DEVIATIONS,
        "two splits",
    ),
)
