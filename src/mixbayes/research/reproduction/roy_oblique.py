"""Roy, section 1.1: where clusters meet along no axis, a tree puts unlike points together; two remedies are named.

Values on the mid-range go to one side by lot (the paper's ε), and large blocks of the tree are microaggregated. The
paper measures neither. Here two clusters of whole numbers meet along an axis or along a diagonal.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import numpy as np

from mixbayes.local_methods.perturbation_tree.kd_partition import partition
from mixbayes.local_methods.tables import Codes, Floats, Indices, Numeric, Table
from mixbayes.research.reproduction.experiment import Experiment, Figures, Laboratory, Part, Row
from mixbayes.research.reproduction.roy import DEVIATIONS, GROUPS, PAPER, tree_of_blocks

ROWS = 400
LENGTH, APART, SPREAD = 40, 6, 1.5
"""Of the clusters along where they meet, and across."""
COLUMNS = ("x", "y")


class OneSide:
    """Chance that always says the same: values on the mid-range stay on the left."""

    def random(self, size: int) -> Floats:
        return np.ones(size)


def clusters(oblique: bool, seed: int) -> tuple[Floats, Codes]:
    """Two long clusters side by side, along an axis or turned by 45 degrees, and which one each point is of."""
    random = np.random.default_rng(seed)
    which = np.repeat([0, 1], ROWS // 2).astype(np.int64)
    along = random.uniform(0, LENGTH, ROWS)
    across = APART * which + random.normal(0, SPREAD, ROWS)
    points = np.column_stack([along - across, along + across]) / np.sqrt(2) if oblique else np.array([along, across]).T
    return np.rint(points), which


def groupings(points: Floats, size: int, seed: int) -> dict[str, Indices]:
    """The group of each point, by method: of this size at least, and less than twice as many points."""
    table = Table(COLUMNS, tuple(map(Numeric, points.T)), len(points))
    blocks = tree_of_blocks(size, COLUMNS, "mdav", seed)
    blocks.fit_resample(table)
    chances = {"by lot": np.random.default_rng(seed), "always one side": cast(np.random.Generator, OneSide())}
    trees = {what: partition(points, 2 * size - 1, size, "midrange", chance) for what, chance in chances.items()}
    return {
        **{f"tree, {what}": groups for what, groups in trees.items()},
        "MMA in blocks of the tree": blocks.groups_,
    }


def mixed(groups: Indices, which: Codes) -> float:
    """The share of rows whose group has rows of both clusters."""
    counts = np.zeros((groups.max() + 1, 2), np.int64)
    np.add.at(counts, (groups, which), 1)
    return float((counts.min(axis=1) > 0)[groups].mean())


def boundaries(lab: Laboratory) -> Iterator[Row]:
    seeds = range(lab.times(20, 2))
    for size in GROUPS:
        for oblique, where in ((False, "an axis"), (True, "the diagonal")):
            drawn = [(seed, *clusters(oblique, seed)) for seed in seeds]
            found = [
                {name: mixed(groups, which) for name, groups in groupings(points, size, seed).items()}
                for seed, points, which in drawn
            ]
            figures: Figures = {name: float(np.mean([one[name] for one in found])) for name in found[0]}
            yield Row(f"groups of {size}, clusters along {where}", {}, figures)


EXPERIMENTS = (
    Experiment(
        "roy-oblique",
        "Section 1.1: rows in groups of both clusters, where the clusters meet along an axis or along a diagonal",
        PAPER,
        [Part("drawn points", [], boundaries)],
        "no figure is published",
        DEVIATIONS,
        "two drawn tables instead of 20",
    ),
)
