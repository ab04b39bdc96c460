"""Condensation of Adult, and what the rule saves in the search for its group size.

    python benchmarks/condensation.py FOLDER [ROWS]

FOLDER holds adult.csv; its complete rows are taken. Both searches try their sizes once, on ROWS of the rows, by default
6,000, which takes a minute or two; with as many as there are, or more, it is the whole table, which takes many.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import numpy as np
from sizes import Work, print_header, print_sizes, timed

from mixbayes.local_methods import ClassWiseCondensation, Condensation, GroupSizeSearch
from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.research.reproduction.attributes import labelled
from mixbayes.tables.sources.opening import read_table

T = 1120
"""The paper's smallest group size for the whole table; for fewer rows, in proportion."""
K = 20
SEARCHED_ROWS = 6_000


def drawn(whole: Labelled, rows: int) -> Labelled:
    """So many rows, at random."""
    return whole.take(np.sort(np.random.default_rng(0).permutation(whole.table.rows)[:rows]))


def prepared(method: ClassWiseCondensation | Condensation, whole: Labelled, rows: int) -> Work:
    part = drawn(whole, rows)
    return partial(method.fit_resample, part.table, part.labels)


def print_condensation(whole: Labelled) -> None:
    rows, columns = whole.table.shape
    sizes = [rows // 8, rows // 4, rows // 2, rows]
    print_header()
    for name, method, at in (
        (f"class-wise, t = {T}", ClassWiseCondensation(t=T, random_state=0), [rows]),
        (f"class-wise, k = {K}", ClassWiseCondensation(k=K, random_state=0), sizes),
        (f"k-means, k = {K}", Condensation(k=K, seeds="kmeans", random_state=0), sizes),
        (f"random seeds, k = {K}", Condensation(k=K, random_state=0), sizes),
    ):
        print_sizes(name, at, columns, partial(prepared, method, whole))


def print_searches(whole: Labelled, rows: int) -> None:
    part = drawn(whole, rows)
    t = round(T * part.table.rows / whole.table.rows)
    print(f"\n{part.table.rows:,} of {whole.table.rows:,} rows, t = {t}\n")
    print(f"{'search':12} {'sizes':>6} {'seconds':>8} {'found':>6} {'accuracy':>9} {'privacy':>8}", flush=True)
    seconds = [print_search(part, t, search) for search in ("exhaustive", "rule")]
    print(f"\nThe rule takes {seconds[1] / seconds[0]:.0%} of the time.")


def print_search(part: Labelled, t: int, search: str) -> float:
    looked = GroupSizeSearch(t=t, search=search, repeats=1, random_state=0)
    seconds, _ = timed(lambda: looked.fit(part.table, part.labels))
    best = looked.best_
    found = f"{best.group_size:6} {best.accuracy:9.4f} {best.privacy:8.4f}"
    print(f"{search:12} {len(looked.tried_):6} {seconds:8.1f} {found}", flush=True)
    return seconds


def main(folder: Path, searched_rows: int = SEARCHED_ROWS) -> None:
    whole = labelled(read_table(folder / "adult.csv"), complete=True)
    print_condensation(whole)
    print_searches(whole, searched_rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
