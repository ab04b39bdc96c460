"""Jena and Kamila, section 5.4: does the search cope with a growing space of partitions?

The paper lengthens a table, which leaves the space as it is. Here it grows: the table has more and more columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import comb, log10

import numpy as np

from mixbayes.local_methods import DMPD
from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.research.reproduction.beyond_jena import CASE
from mixbayes.research.reproduction.experiment import Experiment, Figures, Laboratory, Part, Row
from mixbayes.research.reproduction.jena import DEVIATIONS, INDUCERS, PAPER, Case, Steps, ranked, timed_runs

K = 10
COLUMNS = (4, 8, 16, 30)


def partitions(columns: int) -> int:
    """How many partitions there are in which any columns may be unused: the Bell number of one column more."""
    bell = [1]
    for at in range(columns + 1):
        bell.append(sum(comb(at, one) * bell[one] for one in range(at + 1)))
    return bell[columns + 1]


def search_space(case: Case, lab: Laboratory) -> Iterator[Row]:
    whole = case.read(lab)
    best = ranked(whole)
    runs, counts = lab.times(3, 2), COLUMNS[: lab.times(len(COLUMNS), 2)]
    steps = Steps(lab, "columns", len(INDUCERS) * len(counts) * runs)
    for inducer in INDUCERS:
        for count in counts:
            rows = Labelled(whole.table.select(whole.table.positions(best[:count])), whole.labels)
            method = DMPD(k=K, inducer=inducer, generations=lab.times(100, 10))
            took = timed_runs(method, rows, runs, steps)
            figures: Figures = {
                "partitions, log10": log10(partitions(count)),
                "seconds": float(np.mean(took)),
                "deviation": float(np.std(took, ddof=1)),
                "accuracy": 100 * method.accuracy_,
                "columns left out": len(method.left_out_),
            }
            yield Row(f"{inducer}, {count} columns", {}, figures)


EXPERIMENTS = (
    Experiment(
        "dmpd-search-space",
        f"Section 5.4: seconds of a processor and accuracy over the folds, by the number of columns, k = {K}",
        PAPER,
        [Part(title, CASE[title].tables, partial(search_space, CASE[title])) for title in ("Wisconsin, diagnostic",)],
        "the paper claims this of tables that grow in rows, whose partitions do not become more",
        DEVIATIONS,
        "4 and 8 columns, 10 generations instead of 100, two runs instead of three",
    ),
)
