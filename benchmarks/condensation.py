"""Condensation of Adult, what the rule saves in the search for its group size, and what not being exact costs.

    python benchmarks/condensation.py FOLDER [ROWS]

FOLDER holds adult.csv; its complete rows are taken. Both searches try their sizes once, on ROWS of the rows, by default
6,000, which takes a minute or two; with as many as there are, or more, it is the whole table, which takes many. Then
the other tables that FOLDER holds are released, by class-wise condensation and by its former, exact kind, whose groups
have the moments of the original ones to the last digit, and can therefore be undone. Classifiers that learned from
either are asked about rows that were not released.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from sizes import Work, print_header, print_sizes, timed
from sklearn.model_selection import StratifiedKFold

from mixbayes.local_methods import ClassWiseCondensation, Condensation, GroupSizeSearch
from mixbayes.local_methods.base import Work as Task
from mixbayes.local_methods.classifiers import NAIVE_BAYES, NEAREST_NEIGHBOUR, TREE, train
from mixbayes.local_methods.condensation.resynthesis import Grouped
from mixbayes.local_methods.coordinates import nominals
from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.local_methods.tables import Floats, Table
from mixbayes.research.reproduction.attributes import labelled
from mixbayes.tables.sources.opening import read_table

T = 1120
"""The paper's smallest group size for the whole table; for fewer rows, in proportion."""
K = 20
SEARCHED_ROWS = 6_000
TABLES = ("pima", "heart_statlog", "iris", "wdbc", "vote", "german_credit", "credit_approval")
JUDGES = (NAIVE_BAYES, TREE, NEAREST_NEIGHBOUR)
SIZES = (5, 20)
FOLDS, REPEATS = 5, 2
EXACT = 1e-9
"""Of the largest singular value: less is none."""


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


class ExactCondensation(ClassWiseCondensation):
    """Draws each group with its exact mean and covariance, and shuffles each nominal column within its group."""

    def _drawn(self, work: Task, grouped: Grouped) -> tuple[Table, int]:
        numbers, order = work.table.numbers(), np.empty(work.table.rows, np.intp)
        for members in (each for part in grouped.parts for each in part):
            numbers[members] = recoloured(numbers[members], work.random)
            order[members] = work.random.permutation(members)
        values = {at: column.take(order) for at, column in nominals(work.table)}
        table = work.table.with_numbers(numbers).with_columns(values)
        return Table((*table.names, ""), (*table.columns, work.classes), table.rows), 0


def recoloured(rows: Floats, random: np.random.Generator) -> Floats:
    """As many rows with the same mean and covariance."""
    mean = rows.mean(axis=0)
    _, lengths, axes = np.linalg.svd(rows - mean, full_matrices=False)
    white = random.normal(size=(len(rows), int((lengths > EXACT * lengths.max(initial=1)).sum())))
    orthonormal = np.linalg.qr(white - white.mean(axis=0))[0]
    return mean + orthonormal * lengths[: white.shape[1]] @ axes[: white.shape[1]]


def judged(method: ClassWiseCondensation | None, rows: Labelled, repeats: int) -> Floats:
    """The accuracy of each classifier in folds, in hundredths, after learning from the release."""
    found = []
    for seed in range(repeats):
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
        for learned, asked in folds.split(rows.labels.codes, rows.labels.codes):
            table, labels = rows.table.take(learned), rows.labels.take(learned)
            if method is not None:
                table, labels = method.set_params(random_state=seed).fit_resample(table, labels)
            answers = [train(name, table, labels, seed)(rows.table.take(asked)) for name in JUDGES]
            found.append([(answer == rows.labels.codes[asked]).mean() for answer in answers])
    return 100 * np.mean(found, axis=0)


def print_accuracy(folder: Path, repeats: int) -> None:
    kinds = [("original", None)]
    for k in SIZES:
        kinds += [(f"exact, k = {k}", ExactCondensation(k=k, missing="fill"))]
        kinds += [(f"k = {k}", ClassWiseCondensation(k=k, missing="fill"))]
    print(f"\naccuracy of {', '.join(JUDGES)}\n")
    print(f"{'':20}", *(f"{name:>18}" for name, _ in kinds))
    lines = []
    for name in TABLES:
        if (folder / f"{name}.csv").exists():
            rows = labelled(read_table(folder / f"{name}.csv"))
            lines.append([judged(method, rows, repeats) for _, method in kinds])
            print_line(name, lines[-1])
    print_line("mean", np.mean(lines, axis=0))


def print_line(name: str, figures: Sequence[Floats]) -> None:
    print(f"{name:20}", *(f"{' '.join(f'{figure:.1f}' for figure in one):>18}" for one in figures), flush=True)


def main(folder: Path, searched_rows: int = SEARCHED_ROWS, repeats: int = REPEATS) -> None:
    whole = labelled(read_table(folder / "adult.csv"), complete=True)
    print_condensation(whole)
    print_searches(whole, searched_rows)
    print_accuracy(folder, repeats)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
