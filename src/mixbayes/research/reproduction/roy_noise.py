"""Roy's abstract: the perturbation tree "outperforms additive and multiplicative noise … for clustering applications".

The paper has no figure of it. Here noise changes the columns as much as the tree does: its scale is chosen, for every
seed, so that VD is the same on the min-max scaled columns, in which clusters are sought. What either lets through is
measured beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from mixbayes.local_methods.measures.release import vd
from mixbayes.local_methods.noise.additive import AdditiveNoise
from mixbayes.local_methods.noise.multiplicative import MultiplicativeNoise
from mixbayes.local_methods.noise.noise import Noise
from mixbayes.local_methods.tables import Floats, Table
from mixbayes.research.reproduction.experiment import Experiment, Figures, Laboratory, Part, Row
from mixbayes.research.reproduction.roy import (
    CASES,
    CLUSTERS,
    DEVIATIONS,
    GROUPS,
    PAPER,
    Case,
    compared,
    scaled,
    tree,
)

FIRST_SCALE = 0.1
ROUNDS = 30
EXACTLY = 1e-4
LARGEST_SCALE = 0.999
"""Of multiplicative noise, whose factors are truncated: where even this changes too little, it is taken."""
CLOSE = 0.05
"""Of the original value; and, as in sdcMicro's dRisk, of a standard deviation of its column."""

Make = Callable[[float, Sequence[str], int], Noise]


def independent(scale: float, confidential: Sequence[str], seed: int) -> Noise:
    return AdditiveNoise(scale=scale, correlated=False, confidential=list(confidential), random_state=seed)


def correlated(scale: float, confidential: Sequence[str], seed: int) -> Noise:
    return AdditiveNoise(scale=scale, confidential=list(confidential), random_state=seed)


def multiplicative(scale: float, confidential: Sequence[str], seed: int) -> Noise:
    return MultiplicativeNoise(scale=min(scale, LARGEST_SCALE), confidential=list(confidential), random_state=seed)


@dataclass(frozen=True, eq=False)
class Outcome:
    """One release: its clusters, and what it lets through."""

    errors: Floats
    rands: Floats
    changed: float
    close_cells: float
    close_rows: float
    scale: float = np.nan

    @staticmethod
    def of(table: Table, released: Table, confidential: Sequence[str], seed: int, scale: float = np.nan) -> Outcome:
        errors, rands = compared(table, released, seed, seed)
        before, after = (one.numbers(one.positions(confidential)) for one in (table, released))
        return Outcome(
            errors, rands, distance(table, released), close_cells(before, after), drisk(before, after), scale
        )


def distance(table: Table, released: Table) -> float:
    """VD of the scaled columns: else the column of the largest numbers would be all that counts."""
    return vd(scaled(table, table), scaled(released, table))


def close_cells(before: Floats, after: Floats) -> float:
    """The share of confidential cells that are released within 5 % of the original."""
    return float((abs(after - before) <= CLOSE * abs(before)).mean())


def drisk(before: Floats, after: Floats) -> float:
    """The share of rows that in all confidential columns lie within 0.05 standard deviations of the original."""
    return float((abs(after - before) <= CLOSE * before.std(axis=0)).all(axis=1).mean())


def as_far(table: Table, wanted: float, make: Make, confidential: Sequence[str], seed: int) -> tuple[Table, float]:
    """A release with so much VD, and the scale of its noise. The seed stays the same, so VD grows with the scale."""

    def release(scale: float) -> tuple[Table, float]:
        noise = make(scale, confidential, seed)
        return noise.fit_resample(table)[0], noise.scale

    released, scale = release(FIRST_SCALE)
    for _ in range(ROUNDS):
        found = distance(table, released)
        if abs(found - wanted) < EXACTLY * wanted:
            break
        released, scale = release(scale * wanted / found)
    return released, scale


def outcomes(table: Table, confidential: Sequence[str], size: int, seed: int) -> dict[str, Outcome]:
    """Of the tree, and of noise as far from the table."""
    released, _ = tree(size, confidential, seed).fit_resample(table)
    found = {"tree": Outcome.of(table, released, confidential, seed)}
    for name, make in kinds(confidential).items():
        noisy, scale = as_far(table, found["tree"].changed, make, confidential, seed)
        found[name] = Outcome.of(table, noisy, confidential, seed, scale)
    return found


def kinds(confidential: Sequence[str]) -> Mapping[str, Make]:
    """Noise of a single column has nothing to be correlated with."""
    together = {"additive noise, correlated": correlated} if len(confidential) > 1 else {}
    return {"additive noise": independent, **together, "multiplicative noise": multiplicative}


def comparison(case: Case, lab: Laboratory) -> Iterator[Row]:
    table = case.read(lab)
    single, multiple = case.confidential(table)
    seeds, groups = lab.times(10, 2), GROUPS[:1] if lab.quick else GROUPS
    with threadpool_limits(1):  # as in Table 5.3
        for confidential in ([single], multiple):
            for at, size in enumerate(groups):
                lab.progress(", ".join(confidential), at, len(groups))
                runs = [outcomes(table, confidential, size, seed) for seed in range(seeds)]
                yield from _rows(f"{', '.join(confidential)}, groups of {size}", runs)
            lab.progress(", ".join(confidential), len(groups), len(groups))


def _rows(what: str, runs: Sequence[Mapping[str, Outcome]]) -> Iterator[Row]:
    for name in runs[0]:
        yield Row(f"{what}: {name}", {}, _by_clusters([one[name].errors for one in runs]))
        yield Row(f"{what}: {name}: adjusted Rand index", {}, _by_clusters([one[name].rands for one in runs]))
    for name in runs[0]:
        yield Row(f"{what}: {name}: lets through", {}, _let_through([one[name] for one in runs]))
    yield Row(f"{what}: adjusted Rand index of the tree less that of", {}, _ahead(runs))


def _let_through(found: Sequence[Outcome]) -> Figures:
    figures = [(one.scale, one.changed, one.close_cells, one.close_rows) for one in found]
    scale, changed, cells, rows = np.mean(figures, axis=0).tolist()
    return {"scale": "" if np.isnan(scale) else scale, "VD": changed, "cells within 5 %": cells, "dRisk": rows}


def _by_clusters(runs: Sequence[Floats]) -> Figures:
    means = np.mean(runs, axis=0)
    return {**{f"K={k}": float(mean) for k, mean in zip(CLUSTERS, means, strict=True)}, "mean": float(means.mean())}


def _ahead(runs: Sequence[Mapping[str, Outcome]]) -> Figures:
    """The difference, and for how many seeds it is positive: means over the clusters."""
    figures = {}
    for name in list(runs[0])[1:]:
        ahead = np.array([(one["tree"].rands - one[name].rands).mean() for one in runs])
        figures[name] = f"{ahead.mean():+.3f}, {(ahead > 0).sum()} of {len(runs)} seeds"
    return figures


EXPERIMENTS = (
    Experiment(
        "roy-noise",
        'Abstract: the tree "outperforms additive and multiplicative noise perturbation methods"',
        PAPER,
        [Part(case.title, [case.table], partial(comparison, case)) for case in CASES],
        "no figure is published; noise is as large as the change by the tree, and its scale is chosen for that",
        DEVIATIONS,
        "two seeds instead of ten, groups of 3 only",
    ),
)
