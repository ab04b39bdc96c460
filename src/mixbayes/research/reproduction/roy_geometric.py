"""Roy, Table 5.4: TDP, SDP, RDP and HDP of Oliveira and Zaïane, Privacy preserving clustering by data transformation.

They are no measures but four ways to change confidential attributes: all cells of an attribute are moved by one
constant (translation), multiplied by one constant (scaling), two attributes are rotated by one angle (rotation), or one
of the three is drawn for each attribute (hybrid). Roy compares with the published errors of other tables, of which
neither the constants nor the scaling before k-means is told. Here columns are scaled to their range first; constants
and angles are drawn for each seed. No such release hides anything from somebody who knows a few of its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from mixbayes.local_methods.measures.clustering import adjusted_rand, k_means, misclassification_error
from mixbayes.local_methods.tables import Floats, Indices
from mixbayes.research.reproduction.experiment import Experiment, Laboratory, Part, Row
from mixbayes.research.reproduction.roy import (
    CASES,
    CLUSTERS,
    DEVIATIONS,
    PAPER,
    Case,
    by_clusters,
    of_clusters,
    scaled,
)

TABLE_5_4: Mapping[str, Sequence[float]] = {
    "TDP": (0, 0, 0.07, 0.07, 0.07),
    "SDP": (0, 0.03, 0.06, 0.08, 0.08),
    "RDP": (0, 0.15, 0.15, 0.17, 0.13),
    "HDP": (0, 0.08, 0.10, 0.08, 0.08),
}
FARTHEST = 1.0
"""A translation, in ranges of the column."""
FACTORS = (0.5, 2.0)
NEAR = 1e-6
"""In ranges of the column: so near a cell counts as restored."""

Transformation = Callable[[Floats, np.random.Generator], Floats]


def translated(columns: Floats, random: np.random.Generator) -> Floats:
    """TDP adds one constant to each column."""
    return columns + random.uniform(-FARTHEST, FARTHEST, columns.shape[1])


def stretched(columns: Floats, random: np.random.Generator) -> Floats:
    """SDP multiplies each column by one constant."""
    return columns * random.uniform(*FACTORS, columns.shape[1])


def rotated(columns: Floats, random: np.random.Generator) -> Floats:
    """RDP rotates two attributes at a time; where their number is odd, the first is rotated again, with the last."""
    turned = columns.copy()
    for first in range(0, columns.shape[1], 2):
        pair = [first, (first + 1) % columns.shape[1]]
        angle = random.uniform(0, 2 * np.pi)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        turned[:, pair] = turned[:, pair] @ turn
    return turned


def mixed(columns: Floats, random: np.random.Generator) -> Floats:
    """HDP does one of the three to each attribute. One that is to be rotated alone takes its neighbour along."""
    changed, drawn = columns.copy(), random.integers(0, 3, columns.shape[1])
    for kind, change in enumerate((translated, stretched, rotated)):
        chosen = np.flatnonzero(drawn == kind)
        if kind == 2 and len(chosen) == 1:
            chosen = np.array([chosen[0], (chosen[0] + 1) % columns.shape[1]])
        if len(chosen):
            changed[:, chosen] = change(changed[:, chosen], random)
    return changed


METHODS: Mapping[str, Transformation] = {"TDP": translated, "SDP": stretched, "RDP": rotated, "HDP": mixed}


def changed(unit: Floats, confidential: Sequence[int], change: Transformation, seed: int) -> Floats:
    """The table with these columns changed."""
    released = unit.copy()
    released[:, confidential] = change(unit[:, confidential], np.random.default_rng(seed))
    return released


def restored(unit: Floats, released: Floats, confidential: Sequence[int], seed: int) -> float:
    """The share of cells that are found again by who knows one row more than there are confidential columns.

    The least linear map with a constant that takes these rows back takes all rows back: every method is such a map.
    """
    before, after = unit[:, confidential], np.column_stack([released[:, confidential], np.ones(len(unit))])
    known = independent_rows(after, np.random.default_rng(seed))
    back = after @ np.linalg.lstsq(after[known], before[known])[0]
    return float((abs(back - before) < NEAR).mean())


def independent_rows(rows: Floats, random: np.random.Generator) -> Indices:
    """Rows drawn until they span what all rows span: other patients than those would tell nothing more."""
    whole, found = np.linalg.matrix_rank(rows), np.empty(0, np.intp)
    for row in random.permutation(len(rows)):
        more = np.append(found, row)
        if np.linalg.matrix_rank(rows[more]) == len(more):
            found = more
        if len(found) == whole:
            break
    return found


def own_range(columns: Floats) -> Floats:
    """Each column on its own range, as whoever gets the release would scale it."""
    span = np.ptp(columns, axis=0)
    return (columns - columns.min(axis=0)) / np.where(span > 0, span, 1)


def errors(unit: Floats, released: Floats, seed: int) -> Floats:
    """Misclassification error and adjusted Rand index for each number of clusters."""
    pairs = [(k_means(unit, k, seed), k_means(released, k, seed)) for k in CLUSTERS]
    return np.array([(misclassification_error(a, b), adjusted_rand(a, b)) for a, b in pairs]).T


def table_5_4(case: Case, lab: Laboratory) -> Iterator[Row]:
    table = case.read(lab)
    unit = scaled(table, table)
    named = table.positions(case.confidential(table)[1])
    seeds, back = range(lab.times(10, 2)), {}
    with threadpool_limits(1):  # as in Table 5.3
        for columns, what in ((named, ", ".join(table.names[at] for at in named)), (list(range(len(unit.T))), "all")):
            for name, change in METHODS.items():
                releases = [changed(unit, columns, change, seed) for seed in seeds]
                kept = [errors(unit, one, seed) for seed, one in zip(seeds, releases, strict=True)]
                yield from of_clusters(f"{name} of {what}", by_clusters(TABLE_5_4[name]), kept)
                again = [errors(unit, own_range(one), seed) for seed, one in zip(seeds, releases, strict=True)]
                yield from of_clusters(f"{name} of {what}, scaled again", {}, again)
                found = [restored(unit, one, columns, seed) for seed, one in zip(seeds, releases, strict=True)]
                back[f"{name} of {what}: cells restored by {len(columns) + 1} known rows"] = float(np.mean(found))
    yield from (Row(known, {}, {"share": share}) for known, share in back.items())


EXPERIMENTS = (
    Experiment(
        "roy-table-5.4",
        "Table 5.4: misclassification error of translation, scaling, rotation and their mixture",
        PAPER,
        [Part(case.title, [case.table], partial(table_5_4, case)) for case in CASES],
        "the figures are another paper's, of other tables; its constants, angles and scaling are not told. A "
        "translation or rotation keeps all distances, so its error can only come from k-means or from scaling",
        DEVIATIONS,
        "two seeds instead of ten",
    ),
)
