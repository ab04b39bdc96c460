"""Roy, sections 2.3 and 4.1: UMA, like noise, biases variances and relations; MMA and the tree are to keep relations.

The paper has no figure of it. Groups have the same size for all three; UMA and noise are also run as far from the table
as the tree is, because with the same size UMA changes least.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple
from functools import partial

import numpy as np

from mixbayes.local_methods.measures.relations import Relations
from mixbayes.local_methods.microaggregation.aggregation import Microaggregation
from mixbayes.local_methods.tables import Table
from mixbayes.research.reproduction.experiment import Experiment, Figures, Laboratory, Part, Row
from mixbayes.research.reproduction.roy import CASES, DEVIATIONS, GROUPS, PAPER, Case, tree
from mixbayes.research.reproduction.roy_noise import as_far, distance, kinds

MEASURES = ("VD", "standard deviation", "correlations stronger by", "correlations changed by")


def relations(case: Case, lab: Laboratory) -> Iterator[Row]:
    table = case.read(lab)
    single, multiple = case.confidential(table)
    for confidential in ([single], multiple):
        every = aggregations(table, confidential)
        for size in GROUPS[:1] if lab.quick else GROUPS:
            runs = [releases(table, confidential, size, every, seed) for seed in range(lab.times(10, 2))]
            for name in runs[0]:
                figures = [measured(table, one[name], confidential) for one in runs]
                means: Figures = dict(zip(MEASURES, np.mean(figures, axis=0).tolist(), strict=True))
                yield Row(f"{', '.join(confidential)}, groups of {size}: {name}", {}, means)


def releases(
    table: Table, confidential: Sequence[str], size: int, every: Sequence[Table], seed: int
) -> Mapping[str, Table]:
    """By method. `every` holds the releases of UMA by size."""
    grown, _ = tree(size, confidential, seed).fit_resample(table)
    wanted = distance(table, grown)
    nearest = int(np.argmin([abs(distance(table, one) - wanted) for one in every]))
    noisy = {name: as_far(table, wanted, make, confidential, seed)[0] for name, make in kinds(confidential).items()}
    together, _ = Microaggregation(k=size, confidential=list(confidential)).fit_resample(table)
    return {
        "tree": grown,
        "UMA": uma(table, confidential, size),
        **({"MMA": together} if len(confidential) > 1 else {}),
        "UMA as far as the tree": every[nearest],
        **{f"{name} as far": release for name, release in noisy.items()},
    }


def aggregations(table: Table, confidential: Sequence[str]) -> list[Table]:
    """UMA with every size of groups that leaves two of them."""
    return [uma(table, confidential, size) for size in range(2, table.rows // 2 + 1)]


def uma(table: Table, confidential: Sequence[str], size: int) -> Table:
    method = Microaggregation(k=size, confidential=list(confidential), variant="univariate")
    released, _ = method.fit_resample(table)
    return released


def measured(table: Table, released: Table, confidential: Sequence[str]) -> tuple[float, ...]:
    """See `MEASURES`."""
    found = Relations.of(table.numbers(), released.numbers(), table.positions(confidential))
    return distance(table, released), *astuple(found)


EXPERIMENTS = (
    Experiment(
        "roy-relations",
        "Sections 2.3 and 4.1: what becomes of standard deviations and correlations",
        PAPER,
        [Part(case.title, [case.table], partial(relations, case)) for case in CASES],
        "no figure is published; correlations are those of a confidential column with any other",
        DEVIATIONS,
        "two seeds instead of ten, groups of 3 only",
    ),
)
