"""Kim's conclusion asks for the rules to be extended to other parameters: what they try there, and what they find."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from mixbayes.local_methods import (
    DMPD,
    SAP,
    SVD,
    Condensation,
    Microaggregation,
    ParameterSearch,
    PerturbationTree,
    SparsifiedSVD,
)
from mixbayes.local_methods.base import LocalMethod
from mixbayes.local_methods.tuning.tunable import name_of
from mixbayes.research.reproduction import public_tables as public
from mixbayes.research.reproduction.attributes import labelled
from mixbayes.research.reproduction.experiment import Experiment, Figures, Laboratory, Part, Row
from mixbayes.research.reproduction.kim import DEVIATIONS, PAPER
from mixbayes.research.reproduction.public_tables import PublicTable

TABLES = {"Breast cancer": public.WDBC, "German": public.GERMAN_CREDIT}
SEARCHED: Sequence[tuple[LocalMethod, str]] = (
    (Condensation(seeds="kmeans"), "k"),
    (Microaggregation(k=2), "k"),
    (PerturbationTree(leaf_size=2), "leaf_size"),
    (PerturbationTree(leaf_size=30), "min_group"),
    (SAP(), "p"),
    (SVD(rank=1), "rank"),
    (SparsifiedSVD(rank=3, sparsity=0), "sparsity"),
    (DMPD(population=20, generations=20), "k"),
)
MOST = 50


def other_parameters(table: PublicTable, lab: Laboratory) -> Iterator[Row]:
    rows = labelled(lab.read(table))
    for at, (method, parameter) in enumerate(SEARCHED):
        for kind in ("rule", "exhaustive"):
            search = ParameterSearch(
                method,
                parameter,
                search=kind,
                most_values=lab.times(MOST, 4),
                repeats=lab.times(3, 1),
                random_state=0,
            ).fit(rows.table, rows.labels)
            best = search.best_
            figures: Figures = {
                "found": best.value,
                "of": f"{search.low_:g} to {search.high_:g}",
                "accuracy": best.accuracy,
                "privacy": best.privacy,
                "values tried": len(search.tried_),
            }
            yield Row(
                f"{parameter} of {name_of(method)}, {kind}",
                {},
                figures,
                f"the commonest class alone: {search.commonest_:.4f}",
            )
        lab.progress("parameters", at + 1, len(SEARCHED))


EXPERIMENTS = (
    Experiment(
        "kim-other-parameters",
        "The rules for other parameters than the group size",
        PAPER,
        [Part(name, [table], partial(other_parameters, table)) for name, table in TABLES.items()],
        "the paper has no such figures; it names the extension as future research",
        DEVIATIONS,
        "one release of each value, at most 4 values by brute force instead of 50",
    ),
)
