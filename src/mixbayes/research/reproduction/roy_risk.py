"""Roy, section 4.1: trees "are expected to have lower disclosure risk than UMA, given the same amount of perturbation".

The paper says so of a single confidential attribute, and has no figure of it. Here UMA takes the size of groups whose
release is as far from the table as the tree's, or as near to that as there is: by VD of the min-max scaled columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from mixbayes.local_methods.microaggregation.aggregation import Microaggregation
from mixbayes.local_methods.perturbation_tree.tree import PerturbationTree
from mixbayes.local_methods.tables import Floats, Table
from mixbayes.research.reproduction.experiment import Experiment, Figures, Laboratory, Part, Row
from mixbayes.research.reproduction.roy import CASES, DEVIATIONS, GROUPS, PAPER, Case, tree
from mixbayes.research.reproduction.roy_noise import close_cells, distance, drisk

MEASURES = ("VD", "rows to a group", "cells within 5 %", "dRisk")
"""What is measured of a release, in this order."""


def risk(case: Case, lab: Laboratory) -> Iterator[Row]:
    table = case.read(lab)
    single, _ = case.confidential(table)
    aggregated = every_size(table, single)
    for size in GROUPS[:1] if lab.quick else GROUPS:
        grown = [measured(table, single, tree(size, [single], seed)) for seed in range(lab.times(10, 2))]
        nearest = [as_far(aggregated, one) for one in grown]
        yield Row(f"{single}, leaves of {size}: tree", {}, _means(grown))
        yield Row(f"{single}, leaves of {size}: UMA as far from the table", {}, _means(nearest))


def every_size(table: Table, single: str) -> list[Floats]:
    """UMA with every size of groups that leaves two of them."""
    sizes = range(2, table.rows // 2 + 1)
    return [measured(table, single, Microaggregation(k=k, confidential=[single], variant="univariate")) for k in sizes]


def as_far(candidates: Sequence[Floats], wanted: Floats) -> Floats:
    """The one whose VD is nearest to the wanted one."""
    return candidates[int(abs(np.array(candidates)[:, 0] - wanted[0]).argmin())]


def measured(table: Table, single: str, method: PerturbationTree | Microaggregation) -> Floats:
    """The figures of a release: see `MEASURES`."""
    released, _ = method.fit_resample(table)
    before, after = (one.numbers([one.position(single)]) for one in (table, released))
    rows = table.rows / method.groups_formed_
    return np.array([distance(table, released), rows, close_cells(before, after), drisk(before, after)])


def _means(releases: Sequence[Floats]) -> Figures:
    return dict(zip(MEASURES, np.mean(releases, axis=0).tolist(), strict=True))


EXPERIMENTS = (
    Experiment(
        "roy-risk",
        'Section 4.1: the tree has "lower disclosure risk than UMA, given the same amount of perturbation"',
        PAPER,
        [Part(case.title, [case.table], partial(risk, case)) for case in CASES],
        "no figure is published; UMA takes the size of groups that changes the table as much as the tree does",
        DEVIATIONS,
        "two seeds instead of ten, groups of 3 only",
    ),
)
