"""The approximate greatest common divisor as group size, by the threshold t that it is computed with."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from sklearn.model_selection import train_test_split

from mixbayes.local_methods import ClassWiseCondensation
from mixbayes.local_methods.condensation.condensing import LEAST_ROWS
from mixbayes.local_methods.condensation.group_size import approximate_gcd
from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.research.reproduction.experiment import Experiment, Laboratory, Part, Row
from mixbayes.research.reproduction.kim import CASES, DEVIATIONS, PAPER, Case, judged, rows_of

SHARES = (0.05, 0.1, 0.15, 0.2)
"""Of the smallest class: "about 5-20%" in the paper."""
SPLIT = 0
RELEASES = 3


def thresholds(case: Case, lab: Laboratory) -> Iterator[Row]:
    """Privacy and accuracy at the size that each t gives, and at the smallest class, the largest size there is."""
    rows = rows_of(case, lab)
    sizes = training_classes(rows)
    smallest, times = min(sizes), lab.times(RELEASES, 1)
    chosen = {f"t = {t}, {share:.0%}": t for share in SHARES for t in [max(LEAST_ROWS, round(share * smallest))]}
    chosen[f"t = {case.t}, {case.t / smallest:.1%}, as in the paper"] = case.t
    tried = {what: approximate_gcd(sizes, t) for what, t in chosen.items()} | {"the smallest class": smallest}
    for at, (what, k) in enumerate(tried.items()):
        found = [judged(ClassWiseCondensation(k=k, random_state=seed), rows, SPLIT) for seed in range(times)]
        figures = {
            "group size": k,
            "privacy": float(np.mean([one.privacy for one in found])),
            "accuracy": float(np.mean([one.scaled for one in found])),
        }
        yield Row(what, {"group size": case.gcd} if "paper" in what else {}, figures, f"releases: {times}")
        lab.progress("thresholds", at + 1, len(tried))


def training_classes(rows: Labelled) -> list[int]:
    """The sizes of the classes in the nine tenths that are released."""
    training, _ = train_test_split(
        np.arange(rows.table.rows), test_size=0.1, stratify=rows.labels.codes, random_state=SPLIT
    )
    return [int(count) for count in rows.labels.take(np.sort(training)).counts()]


EXPERIMENTS = (
    Experiment(
        "kim-thresholds",
        "The approximate GCD with other t, and what a larger group size gives",
        PAPER,
        [Part(case.name, [case.table], partial(thresholds, case)) for case in CASES],
        "no such figures: the paper says that the divisor is often a very good choice, and that t does not matter much",
        DEVIATIONS,
        "one release",
    ),
)
