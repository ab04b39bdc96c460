"""The approximate greatest common divisor as group size, and the rule-based search, by the threshold t."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from sklearn.model_selection import train_test_split

from mixbayes.local_methods import ClassWiseCondensation, GroupSizeSearch
from mixbayes.local_methods.condensation.condensing import LEAST_ROWS
from mixbayes.local_methods.condensation.group_size import approximate_gcd
from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.research.reproduction.experiment import Experiment, Laboratory, Part, Row
from mixbayes.research.reproduction.kim import CASES, DEVIATIONS, PAPER, Case, judged, rows_of

SHARES = (0.05, 0.1, 0.15, 0.2)
"""Of the smallest class: "about 5-20%" in the paper."""
SPLIT = 0
RELEASES = 3
LARGE = ("Waveform", "Magic", "Adult")
"""Whose searches take minutes for each t."""


def thresholds(case: Case, lab: Laboratory) -> Iterator[Row]:
    """Privacy and accuracy at the size that each t gives, and at the smallest class, the largest size there is."""
    rows = rows_of(case, lab)
    sizes = training_classes(rows)
    smallest, times = min(sizes), lab.times(RELEASES, 1)
    chosen = thresholds_of(case, smallest)
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


def thresholds_of(case: Case, smallest: int) -> dict[str, int]:
    """Shares of the smallest class, and the paper's own."""
    chosen = {f"t = {t}, {share:.0%}": t for share in SHARES for t in [max(LEAST_ROWS, round(share * smallest))]}
    return chosen | {f"t = {case.t}, {case.t / smallest:.1%}, as in the paper": case.t}


def searches(case: Case, lab: Laboratory) -> Iterator[Row]:
    """What the rule-based search finds from each t, which is the smallest size that it may try."""
    rows = rows_of(case, lab)
    chosen = thresholds_of(case, min(training_classes(rows)))
    for at, (what, t) in enumerate(chosen.items()):
        search = GroupSizeSearch(t=t, search="rule", repeats=lab.times(RELEASES, 1), random_state=0)
        best = search.fit(rows.table, rows.labels).best_
        figures = {"group size": best.group_size, "privacy": best.privacy, "accuracy": best.accuracy}
        note = f"{len(search.tried_)} sizes tried"
        yield Row(what, {"group size": case.rule.group_size} if "paper" in what else {}, figures, note)
        lab.progress("thresholds", at + 1, len(chosen))


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
    Experiment(
        "kim-searches",
        "The group size that the rule-based search finds, by t",
        PAPER,
        [Part(case.name, [case.table], partial(searches, case)) for case in CASES if case.name not in LARGE],
        "no such figures: the paper says that other t change the results little",
        DEVIATIONS,
        "one release of each size instead of three",
    ),
)
