"""Seconds and memory of the perturbation tree over 10 columns: python benchmarks/perturbation_tree.py [ROWS]

Four sizes up to ROWS, by default a million; up to an eighth of it with groups inside the leaves.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sizes import Work, print_header, print_sizes

from mixbayes.local_methods.perturbation_tree.tree import PerturbationTree

COLUMNS = 10
LEAF_SIZE = 8
BLOCK, GROUP = 50, 3
Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]
KINDS: Mapping[str, Draw] = {
    "uniform": lambda random, rows: random.random((rows, COLUMNS)),
    "normal": lambda random, rows: random.normal(size=(rows, COLUMNS)),
    "heavy tails": lambda random, rows: random.lognormal(sigma=2, size=(rows, COLUMNS)),
    "few values": lambda random, rows: random.integers(0, 4, (rows, COLUMNS)).astype(float),
}


def prepared(draw: Draw, split: str, rows: int) -> Work:
    tree = PerturbationTree(leaf_size=LEAF_SIZE, confidential=["x0"], split=split, random_state=0)
    return partial(tree.fit_resample, draw(np.random.default_rng(0), rows))


def divided(within: str, rows: int) -> Work:
    """All columns are confidential here, so that MDAV has the distances of all."""
    tree = PerturbationTree(leaf_size=BLOCK, min_group=GROUP, within=within, random_state=0)
    return partial(tree.fit_resample, KINDS["normal"](np.random.default_rng(0), rows))


def main(most: int = 1_000_000) -> None:
    sizes = [most // 8, most // 4, most // 2, most]
    print_header()
    for kind, draw in KINDS.items():
        for split in ("midrange", "median"):
            print_sizes(f"{kind}, {split}", sizes, COLUMNS, partial(prepared, draw, split))
    for within in ("univariate", "mdav"):
        print_sizes(f"normal, {within}", [size // 8 for size in sizes], COLUMNS, partial(divided, within))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
