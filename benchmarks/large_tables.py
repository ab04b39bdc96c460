"""Time and memory of `mixbayes protect` by rows: python benchmarks/large_tables.py [ROWS ...]

The table is drawn here, with columns like those of the Adult table: six of numbers, eight of names, and the class.
Every job is a process of its own, from reading the CSV file to writing the release.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import IO

import numpy as np

SIZES = (10_000, 20_000, 40_000)
METHODS = (
    ("class-wise-condensation", "k=100"),
    ("perturbation-tree", "leaf_size=100"),
)
NAMES = {
    "workclass": 8,
    "education": 16,
    "marital-status": 7,
    "occupation": 14,
    "relationship": 6,
    "race": 5,
    "sex": 2,
    "native-country": 41,
}
NUMBERS = {"age": (17, 91), "weight": (12_285, 1_484_706), "years": (1, 17), "hours": (1, 100)}
RARE = {"gain": 100_000, "loss": 4_357}
"""Numbers that are zero in most rows."""
GAPS = ("workclass", "occupation", "native-country")
AT_ONCE = 1 << 16


def write_table(file: IO[str], rows: int) -> None:
    """A table of so many rows, always the same."""
    random = np.random.default_rng(0)
    file.write(",".join((*NUMBERS, *RARE, *NAMES, "class")) + "\n")
    for start in range(0, rows, AT_ONCE):
        columns = _columns(random, min(AT_ONCE, rows - start))
        file.writelines(",".join(row) + "\n" for row in zip(*columns, strict=True))


def _columns(random: np.random.Generator, rows: int) -> list[list[str]]:
    numbers = [random.integers(*bounds, rows) for bounds in NUMBERS.values()]
    rare = [np.where(random.random(rows) < 0.08, random.integers(1, most, rows), 0) for most in RARE.values()]
    names = [_names(random, name, size, rows) for name, size in NAMES.items()]
    classes = np.array(["<=50K", ">50K"])[(random.random(rows) < 0.24).astype(int)]
    return [column.astype(str).tolist() for column in (*numbers, *rare, *names, classes)]


def _names(random: np.random.Generator, name: str, size: int, rows: int) -> np.ndarray:
    """The first value is the most frequent one; where there are gaps, they are in every fiftieth row or so."""
    values = np.array([f"{name} {at}" for at in range(size)] + ["?"])
    place = np.minimum(random.geometric(0.25, rows) - 1, size - 1)
    gap = (name in GAPS) & (random.random(rows) < 0.02)
    return values[np.where(gap, size, place)]


def measured(source: Path, method: str, setting: str) -> tuple[float, float, int]:
    """Seconds on the clock, those of the processor, and peak bytes of one release."""
    target = source.with_name("released.csv")
    command = ["protect", str(source), str(target), "--method", method, "--set", setting, "--json"]
    begun = perf_counter()
    with subprocess.Popen([sys.executable, "-m", "mixbayes", *command], stdout=subprocess.DEVNULL) as job:
        _, status, used = os.wait4(job.pid, 0)
        job.returncode = os.waitstatus_to_exitcode(status)
    if job.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {job.returncode}.")
    return perf_counter() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def main(sizes: Sequence[int] = SIZES) -> None:
    print(f"{'method':24} {'rows':>10} {'seconds':>8} {'processor':>10} {'peak MB':>8}")
    for rows in sizes:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "table.csv"
            with open(source, "w", encoding="utf-8") as file:
                write_table(file, rows)
            for method, setting in METHODS:
                seconds, processor, peak = measured(source, method, setting)
                print(f"{method:24} {rows:10,} {seconds:8.1f} {processor:10.1f} {peak / 1e6:8,.0f}", flush=True)


if __name__ == "__main__":
    main([int(rows) for rows in sys.argv[1:]] or SIZES)
