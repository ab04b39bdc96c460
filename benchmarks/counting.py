"""Seconds and memory of counting a table where it is, beside what a database's own counts of it take; and in folds.

python benchmarks/counting.py [--rows 10000000] [--postgres URL] [nominal csv gaussian folds postgres]

Each figure is of a process of its own, which has loaded the libraries of both sides before its clock starts; it is the
median of three, in turns. The tables are made first, in a temporary folder; the one in PostgreSQL, in the database at
the URL, is called mixbayes_benchmark and removed at the end.
"""

from __future__ import annotations

import argparse
import resource
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import duckdb
import psycopg
import pyarrow.csv
import pyarrow.parquet

from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.tables.counting import counted
from mixbayes.tables.folding import folded
from mixbayes.tables.sources.how import How
from mixbayes.tables.sources.opening import open_table

SIZES = [2, 3, 4, 5, 8, 10, 10, 10, 12, 15, 20, 40, 100]
"""Values of each nominal column."""
GAUSSIAN = 30
COLUMNS = 12
"""Of CSV files, and of tables that are counted in folds."""
FOLDS = 5
LOADED = pyarrow.csv, pyarrow.parquet
CLASSES = ("class 0", "class 1", "class 2")
ROWS = 10_000_000
TURNS = 3
TABLE = "mixbayes_benchmark"
USUAL = How()


def nominal_cells(columns: int) -> list[str]:
    """Expressions of SQL for texts in pseudorandom order, one cell in fifty null."""
    mixed = [f"(i * {2 * at + 1} + i // {at + 7}) * 2654435761 % 4294967291" for at in range(columns)]
    return [
        f"case when {number} % 50 = 0 then null else 'value ' || (({number}) // 64 % {size}) end as a{at}"
        for at, (number, size) in enumerate(zip(mixed, SIZES, strict=False))
    ]


def label() -> str:
    return f"'class ' || ((i * 7919 + i // 3) % {len(CLASSES)}) as class"


def numbers() -> list[str]:
    return [f"sin(i * {at + 1}.37) * 50 + 100 as x{at}" for at in range(GAUSSIAN)]


def make(path: Path, rows: int, cells: Sequence[str]) -> None:
    """The table in a file, Parquet also in one of DuckDB's. Another process makes them: this one stays small."""
    with get_context("spawn").Pool(1) as pool:
        pool.apply(_made, (path, rows, cells))


def _made(path: Path, rows: int, cells: Sequence[str]) -> None:
    with duckdb.connect() as connection:
        kind = "csv" if path.suffix == ".csv" else "parquet"
        connection.execute("SET enable_progress_bar = false")
        select = f"select {', '.join([*cells, label()])} from range({rows}) as numbers(i)"
        connection.execute(f"copy ({select}) to '{path}' (format {kind})")
    if kind == "parquet":
        with duckdb.connect(path.with_suffix(".db")) as connection:
            connection.execute(f"create table {TABLE} as from '{path}'")


def nominal_layout(columns: int, rows: int) -> Layout:
    sizes = SIZES[:columns]
    attributes = [
        Nominal(name=f"a{at}", values=tuple(f"value {i}" for i in range(size))) for at, size in enumerate(sizes)
    ]
    return layout(attributes, rows)


def gaussian_layout(rows: int, columns: int = GAUSSIAN) -> Layout:
    return layout([Gaussian(name=f"x{at}", low=50, high=150) for at in range(columns)], rows)


def layout(attributes: Sequence[Attribute], rows: int) -> Layout:
    return Layout(
        Dictionary(class_column="class", classes=CLASSES, attributes=tuple(attributes), max_rows=max(rows, 1 << 20))
    )


def count(address: str, wanted: Layout, how: How = USUAL) -> None:
    counted(wanted, open_table(address, how))


def fold(address: str, wanted: Layout) -> None:
    in_folds = Layout(wanted.dictionary, replace(wanted.terms, folds=FOLDS))
    folded(in_folds, open_table(address, USUAL), test_share=Fraction(1, 10), secret=bytes(32))


def ask_duckdb(statements: Sequence[str]) -> None:
    with duckdb.connect() as connection:
        for statement in ("SET enable_progress_bar = false", *statements):
            connection.execute(statement).fetchall()


def ask_postgres(url: str, statements: Sequence[str]) -> None:
    with psycopg.connect(url) as connection:
        for statement in statements:
            connection.execute(statement.encode()).fetchall()


def measured(work: Callable[[], None]) -> tuple[float, float, float]:
    """Seconds of the work, of all its threads together, and the largest memory of a new process that does it, in MB."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_timed, (work,))


def _timed(work: Callable[[], None]) -> tuple[float, float, float]:
    start, spent = perf_counter(), process_time()
    work()
    return perf_counter() - start, process_time() - spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def compare(what: str, ours: Callable[[], None], theirs: Callable[[], None], whose: str) -> None:
    turns = ((measured(ours), measured(theirs)) for _ in range(TURNS))
    mine, its = (sorted(runs)[TURNS // 2] for runs in zip(*turns, strict=True))
    print(f"{what}: {_shown(mine)}; {whose}: {_shown(its)}; ratio {mine[0] / its[0]:.2f}", flush=True)


def _shown(figures: tuple[float, float, float]) -> str:
    seconds, spent, memory = figures
    return f"{seconds:.2f} s ({spent:.2f} s of processors), {memory:.0f} MB"


def nominal(folder: Path, rows: int) -> None:
    path, columns = folder / "nominal.parquet", len(SIZES)
    make(path, rows, nominal_cells(columns))
    counts = [f"select a{at}, class, count(*) from '{path}' group by all" for at in range(columns)]
    ours = partial(count, str(path), nominal_layout(columns, rows))
    compare(f"Parquet, {rows} rows, {columns} nominal columns", ours, partial(ask_duckdb, counts), "DuckDB's counts")
    in_duckdb = path.with_suffix(".db")
    ours = partial(count, f"duckdb:{in_duckdb}", nominal_layout(columns, rows))
    attached = [
        f"attach '{in_duckdb}' as there (read_only)",
        *(text.replace(f"'{path}'", f"there.{TABLE}") for text in counts),
    ]
    compare(f"DuckDB, {rows} rows, {columns} nominal columns", ours, partial(ask_duckdb, attached), "its own counts")


def csv(folder: Path, rows: int) -> None:
    path = folder / "patients.csv"
    make(path, rows, nominal_cells(COLUMNS))
    counts = ", ".join(f"count(a{at})" for at in range(COLUMNS))
    scan = [f"select {counts}, count(class) from read_csv('{path}', all_varchar = true)"]
    ours = partial(count, str(path), nominal_layout(COLUMNS, rows))
    compare(f"CSV, {rows} rows, {COLUMNS} columns", ours, partial(ask_duckdb, scan), "DuckDB's scan")


def gaussian(folder: Path, rows: int) -> None:
    path = folder / "numbers.parquet"
    make(path, rows, numbers())
    sums = ", ".join(f"sum(x{at}), sum(x{at} * x{at})" for at in range(GAUSSIAN))
    theirs = partial(ask_duckdb, [f"select class, {sums} from '{path}' group by class"])
    ours = partial(count, str(path), gaussian_layout(rows))
    compare(f"Parquet, {rows} rows, {GAUSSIAN} Gaussian columns", ours, theirs, "DuckDB's sums by class")
    in_duckdb = path.with_suffix(".db")
    ours = partial(count, f"duckdb:{in_duckdb}", gaussian_layout(rows))
    its = [f"attach '{in_duckdb}' as there (read_only)", f"select class, {sums} from there.{TABLE} group by class"]
    compare(
        f"DuckDB, {rows} rows, {GAUSSIAN} Gaussian columns", ours, partial(ask_duckdb, its), "its own sums by class"
    )


def folds(folder: Path, rows: int) -> None:
    """Half of the columns are texts, half of them numbers."""
    texts, half = nominal_layout(COLUMNS // 2, rows), gaussian_layout(rows, COLUMNS // 2)
    wanted = layout([*texts.dictionary.attributes, *half.dictionary.attributes], rows)
    for path in (folder / "folds.parquet", folder / "folds.csv"):
        make(path, rows, [*nominal_cells(COLUMNS // 2), *numbers()[: COLUMNS // 2]])
        ours, usual = partial(fold, str(path), wanted), partial(count, str(path), wanted)
        compare(f"{path.name}, {rows} rows, {COLUMNS} columns in {FOLDS} folds", ours, usual, "without folds")


def postgres(url: str, rows: int) -> None:
    cells = [cell.replace("//", "/") for cell in [*nominal_cells(len(SIZES)), *numbers(), label()]]
    numbers_too = f"generate_series(0::bigint, {rows - 1}) as numbers(i)"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"drop table if exists {TABLE}".encode())
        connection.execute(f"create table {TABLE} as select {', '.join(cells)} from {numbers_too}".encode())
        connection.execute(f"vacuum analyze {TABLE}".encode())
    counts = [f"select a{at}, class, count(*) from {TABLE} group by a{at}, class" for at in range(len(SIZES))]
    sums = ", ".join(f"sum(x{at}), sum(x{at} * x{at})" for at in range(GAUSSIAN))
    pairs = [
        ("nominal", nominal_layout(len(SIZES), rows), counts, "its own counts"),
        (
            "Gaussian",
            gaussian_layout(rows),
            [f"select class, {sums} from {TABLE} group by class"],
            "its own sums by class",
        ),
    ]
    for kind, wanted, statements, whose in pairs:
        ours = partial(count, url, wanted, How(table=TABLE))
        what = f"PostgreSQL, {rows} rows, {len(wanted.rows)} {kind} columns"
        compare(what, ours, partial(ask_postgres, url, statements), whose)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"drop table {TABLE}".encode())


def main(rows: int = ROWS, kinds: Sequence[str] = (), url: str | None = None) -> None:
    """Each kind of table; numbers and CSV have fewer rows, because they take more room."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        if "nominal" in kinds:
            nominal(folder, rows)
        if "csv" in kinds:
            csv(folder, max(rows // 2, 1))
        if "gaussian" in kinds:
            gaussian(folder, max(rows // 5, 1))
        if "folds" in kinds:
            folds(folder, max(rows // 10, 1))
    if url and "postgres" in kinds:
        postgres(url, max(rows // 10, 1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", default=["nominal", "csv", "gaussian", "folds", "postgres"])
    parser.add_argument("--rows", type=int, default=ROWS, help="of nominal columns")
    parser.add_argument("--postgres", help="a database in which a table may be made")
    chosen = parser.parse_args()
    main(chosen.rows, chosen.kinds, chosen.postgres)
