"""What a release with a promise costs: accuracy by ε, beside a public implementation of MST, and seconds.

    python benchmarks/synthesis.py FOLDER [--rows N] [--repeats R] [--peer PYTHON] [--peer-epsilons 1 ...]

FOLDER holds the public tables. Classifiers learn from releases of 70 % of a table, and are asked about the others.
PYTHON is an interpreter of another environment in which the package dpmm is installed (0.1.9 was tried). Its MST gets
a tenth of ε for its bins and the rest for its tables, the exact number of rows, means in the place of missing numbers,
and 300 turns of its fit, which takes it a minute for each release.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from mixbayes.local_methods import PrivateSynthesis
from mixbayes.local_methods.classifiers import NAIVE_BAYES, NEAREST_NEIGHBOUR, TREE, train
from mixbayes.local_methods.measures.utility import Labelled
from mixbayes.local_methods.tables import Column, Floats, Nominal, Numeric, Table
from mixbayes.research.reproduction.attributes import labelled
from mixbayes.tables.sources.opening import read_table

TABLES = ("adult", "heart_statlog", "pima", "vote", "german_credit", "credit_approval", "wdbc")
EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
JUDGES = (NAIVE_BAYES, TREE, NEAREST_NEIGHBOUR)
LEARNED, REPEATS, ROWS = 0.7, 3, 5_000_000
ASKED, COMPARED = 1_500, 4_000
"""Rows that are asked about, and rows among which the nearest is looked for, at the most."""
AT_ONCE = 1 << 17
NAMES = (2, 5, 7, 9, 16, 42, 100, 100)
"""How many values the nominal columns of the large table have; six more columns are numbers."""
PEER = """
import json, sys
import dpmm.models.base.mbi.inference as inference, pandas as pd
from dpmm.pipelines import MSTPipeline
made = inference.FactoredInference.__init__
def capped(self, *given, **named):
    made(self, *given, **named)
    self.iters = min(self.iters, 300)
inference.FactoredInference.__init__ = capped
source, domain, target, epsilon, seed = sys.argv[1:]
domain = json.loads(domain)
texts = {name: str for name, public in domain.items() if "categories" in public}
frame = pd.read_csv(source, dtype=texts, keep_default_na=False).astype({name: "category" for name in texts})
epsilon, seed = float(epsilon), int(seed)
mst = MSTPipeline(epsilon=0.9 * epsilon, delta=1e-6, proc_epsilon=0.1 * epsilon, n_jobs=1)
mst.fit(frame, domain, random_state=seed)
mst.generate(n_records=len(frame), random_state=seed).to_csv(target, index=False)
"""

Releasing = Callable[[Labelled, int], Labelled]


def public(whole: Labelled) -> dict[str, Sequence[Any]]:
    """Bounds and values as an agreement would have them: whole numbers, where all are whole."""
    return {name: _public(column) for name, column in zip(whole.table.names, whole.table.columns, strict=True)}


def _public(column: Column) -> Sequence[Any]:
    if isinstance(column, Nominal):
        return column.values.tolist()
    ends = np.nanmin(column.numbers), np.nanmax(column.numbers)
    present = column.numbers[~column.missing]
    return tuple(map(int, ends)) if np.array_equal(present, np.rint(present)) else tuple(map(float, ends))


def ours(epsilon: float, domain: Mapping[str, Sequence[Any]]) -> Releasing:
    def released(rows: Labelled, seed: int) -> Labelled:
        method = PrivateSynthesis(epsilon=epsilon, domain=domain, random_state=seed)
        return Labelled(*method.fit_resample(rows.table, rows.labels))

    return released


def of_peer(python: str, epsilon: float, domain: Mapping[str, Sequence[Any]]) -> Releasing:
    def released(rows: Labelled, seed: int) -> Labelled:
        with tempfile.TemporaryDirectory() as folder:
            source, target = Path(folder, "in.csv"), Path(folder, "out.csv")
            write(source, rows)
            said = json.dumps(_for_peer(rows, domain))
            command = [python, "-W", "ignore", "-c", PEER, source, said, target, str(epsilon), str(seed)]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            return read(target, rows)

    return released


def _for_peer(rows: Labelled, domain: Mapping[str, Sequence[Any]]) -> dict[str, dict[str, Any]]:
    columns = zip(rows.table.names, rows.table.columns, strict=True)
    found: dict[str, dict[str, Any]] = {
        name: {"categories": sorted(["?", *map(str, domain[name])])}
        if isinstance(column, Nominal)
        else dict(zip(("lower", "upper"), map(float, domain[name]), strict=True))
        for name, column in columns
    }
    return {**found, "class": {"categories": sorted(map(str, rows.labels.values))}}


def write(path: Path, rows: Labelled) -> None:
    columns = [_texts(column) for column in (*rows.table.columns, rows.labels)]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([(*rows.table.names, "class"), *zip(*columns, strict=True)])


def _texts(column: Column) -> list[Any]:
    if isinstance(column, Nominal):
        return ["?" if value is None else str(value) for value in column.cells().tolist()]
    return np.where(column.missing, np.nanmean(column.numbers), column.numbers).tolist()


def read(path: Path, like: Labelled) -> Labelled:
    with path.open(newline="") as file:
        header, *cells = csv.reader(file)
    texts = dict(zip(header, zip(*cells, strict=True), strict=True))
    pairs = zip(like.table.names, like.table.columns, strict=True)
    table = Table(like.table.names, tuple(_column(texts[name], column) for name, column in pairs), len(cells))
    labels = _column(texts["class"], like.labels)
    assert isinstance(labels, Nominal)
    return Labelled(table, labels)


def _column(texts: Sequence[str], like: Column) -> Column:
    if isinstance(like, Numeric):
        return Numeric(np.array(texts, np.float64))
    at = {str(value): place for place, value in enumerate(like.values.tolist())}
    return Nominal(np.array([at.get(text, -1) for text in texts], np.int64), like.values)


def judged(releasing: Releasing | None, whole: Labelled, repeats: int) -> Floats:
    """The accuracy of each classifier, in hundredths."""
    found = []
    for seed in range(repeats):
        order = np.random.default_rng(seed).permutation(whole.table.rows)
        learned, asked = np.split(order, [round(LEARNED * len(order))])
        rows, questions = whole.take(learned), whole.take(asked[:ASKED])
        made = rows if releasing is None else releasing(rows, seed)
        near = made.take(np.arange(min(COMPARED, made.table.rows)))
        judges = {NAIVE_BAYES: made, TREE: made, NEAREST_NEIGHBOUR: near}
        answers = [train(name, one.table, one.labels, seed)(questions.table) for name, one in judges.items()]
        found.append([(answer == questions.labels.codes).mean() for answer in answers])
    return 100 * np.mean(found, axis=0)


def print_accuracy(folder: Path, repeats: int, peer: str | None, peer_epsilons: Sequence[float]) -> None:
    there = [name for name in TABLES if (folder / f"{name}.csv").exists()]
    tables = {name: labelled(read_table(folder / f"{name}.csv")) for name in there}
    print(f"accuracy of {', '.join(JUDGES)}\n")
    print(f"{'':22}", *(f"{name:>16}" for name in tables), f"{'mean':>16} {'of all':>7}")
    print_line("original", [judged(None, whole, repeats) for whole in tables.values()])
    for epsilon in EPSILONS:
        print_line(f"ε = {epsilon:g}", [judged(ours(epsilon, public(one)), one, repeats) for one in tables.values()])
    if peer is None:
        print("\nNo interpreter with a public MST was named, so there is none beside.")
        return
    for epsilon in peer_epsilons:
        found = [judged(of_peer(peer, epsilon, public(one)), one, repeats) for one in tables.values()]
        print_line(f"public MST, ε = {epsilon:g}", found)


def print_line(name: str, figures: Sequence[Floats]) -> None:
    mean = np.mean(figures, axis=0)
    cells = (" ".join(f"{figure:.1f}" for figure in one) for one in (*figures, mean))
    print(f"{name:22}", *(f"{cell:>16}" for cell in cells), f"{mean.mean():7.1f}", flush=True)


def print_seconds(folder: Path, rows: int) -> None:
    adult = labelled(read_table(folder / "adult.csv"))
    begun = perf_counter()
    PrivateSynthesis(epsilon=1, domain=public(adult)).fit_resample(adult.table, adult.labels)
    print(f"\nadult, {adult.table.rows:,} rows: {perf_counter() - begun:.1f} s", flush=True)
    domain: dict[str, Sequence[Any]] = {f"n{at}": (0, 99) for at in range(6)}
    domain |= {f"w{at}": [f"v{value}" for value in range(many)] for at, many in enumerate(NAMES)}
    method, begun = PrivateSynthesis(epsilon=1, domain=domain), perf_counter()
    made = sum(part.rows for part, _ in method.fit_resample_parts(parts(rows, domain)))
    seconds, peak = perf_counter() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{rows:,} rows in parts, {made:,} released: {seconds:.1f} s; at most {peak:,.0f} MB in all")


def parts(rows: int, domain: Mapping[str, Sequence[Any]]) -> Iterator[tuple[Table, Nominal]]:
    """Rows that are drawn here: two classes, numbers and values that hang on them."""
    lists = [np.array(values) for name, values in domain.items() if name.startswith("w")]
    for start in range(0, rows, AT_ONCE):
        random, many = np.random.default_rng(start), min(AT_ONCE, rows - start)
        classes = random.integers(0, 2, many)
        numbers = np.clip(np.rint(random.normal(45 + 9 * classes, 15, (6, many))), 0, 99)
        columns: list[Column] = [Numeric(one) for one in numbers]
        columns += [Nominal(random.integers(0, len(one), many) * (1 + classes) // 2, one) for one in lists]
        yield Table(tuple(domain), tuple(columns), many), Nominal(classes, np.array(["ill", "well"]))


def main(
    folder: Path,
    rows: int = ROWS,
    repeats: int = REPEATS,
    peer: str | None = None,
    peer_epsilons: Sequence[float] = (1.0,),
) -> None:
    print_accuracy(folder, repeats, peer, peer_epsilons)
    print_seconds(folder, rows)


if __name__ == "__main__":
    asked = argparse.ArgumentParser()
    asked.add_argument("folder", type=Path)
    asked.add_argument("--rows", type=int, default=ROWS)
    asked.add_argument("--repeats", type=int, default=REPEATS)
    asked.add_argument("--peer", metavar="PYTHON")
    asked.add_argument("--peer-epsilons", type=float, nargs="*", default=[1.0])
    main(**vars(asked.parse_args()))
