"""Seconds and memory of generalisation of 10 columns, half of them numbers: python benchmarks/generalisation.py [ROWS]

Four sizes up to ROWS, by default a million. The class goes with the first columns.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from sizes import Work, print_header, print_sizes

from mixbayes.local_methods.generalisation.generalisation import Generalisation
from mixbayes.local_methods.tables import Column, Nominal, Numeric, Table

COLUMNS = 10
VALUES = 16
TREE = {"any": {f"n{at}": [f"v{at + step}" for step in range(4)] for at in range(0, VALUES, 4)}}
KINDS: Mapping[str, Mapping[str, Any]] = {
    "taxonomies": {"taxonomies": {f"c{at}": TREE for at in range(COLUMNS // 2, COLUMNS)}},
    "suppression": {},
    "suppression, cut as in the papers": {"split": "best"},
    "two sets": {"quasi_identifiers": [[f"c{at}" for at in range(6)], [f"c{at}" for at in range(4, COLUMNS)]]},
}


def table_of(rows: int) -> tuple[Table, Nominal]:
    """Numbers in three digits, and values of which the first ones are frequent."""
    random = np.random.default_rng(0)
    values = np.array([f"v{at}" for at in range(VALUES)])
    columns: list[Column] = [Numeric(random.normal(size=rows).round(3)) for _ in range(COLUMNS // 2)]
    columns += [Nominal(random.geometric(0.3, rows).clip(max=VALUES) - 1, values) for _ in range(COLUMNS // 2)]
    told = columns[0].cells() + columns[1].cells() + (columns[-1].cells() == "v0") + random.normal(size=rows)
    names = tuple(f"c{at}" for at in range(COLUMNS))
    return Table(names, tuple(columns), rows), Nominal((told > 0).astype(np.int64), np.array(["A", "B"]))


def prepared(settings: Mapping[str, Any], rows: int) -> Work:
    return partial(Generalisation(k=10, **settings).fit_resample, *table_of(rows))


def main(most: int = 1_000_000) -> None:
    sizes = [most // 8, most // 4, most // 2, most]
    print_header()
    for kind, settings in KINDS.items():
        print_sizes(kind, sizes, COLUMNS, partial(prepared, settings))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
