"""Work at several sizes, a line for each, for the benchmarks beside this file.

"growth" is the exponent of the processor's time from one size to the next: 1 is linear, 2 quadratic. Memory is the
most that was held at once beyond the table itself, per cell of the table; where it stays the same, it is linear.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence
from math import log
from time import perf_counter, process_time

Work = Callable[[], object]


def print_header() -> None:
    print(f"{'':32} {'rows':>9} {'seconds':>8} {'growth':>7} {'bytes per cell':>15}", flush=True)


def print_sizes(name: str, sizes: Sequence[int], columns: int, prepared: Callable[[int], Work]) -> None:
    """The work on so many rows of a table of so many columns."""
    before = None
    for rows in sizes:
        work = prepared(rows)
        seconds, busy = timed(work)
        growth = f"{log(busy / before[1]) / log(rows / before[0]):7.2f}" if before else " " * 7
        memory = bytes_held(work) / (rows * columns)
        print(f"{name:32} {rows:9,} {seconds:8.2f} {growth} {memory:15.1f}", flush=True)
        before = rows, busy


def timed(work: Work) -> tuple[float, float]:
    """Seconds on the clock, and of the processor."""
    clock, processor = perf_counter(), process_time()
    work()
    return perf_counter() - clock, process_time() - processor


def bytes_held(work: Work) -> int:
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak
