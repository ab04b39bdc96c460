"""Many hospitals contribute to two real mixers, and stay connected; many applications ask a node for single rows.

python benchmarks/many.py [--hospitals 100 300 1000] [--cells 5000] [--at-once 32]
                          [--connected 100 200 400] [--applications 1 16 50 200] [--seconds 10]

An empty list leaves a measurement out. All hospitals are in this process, and their keys are made before. Each
connects, contributes and hangs up, so many of them at a time.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial

from nodes import contribute, identity, play, with_cells

from mixbayes.agreement.files import written
from mixbayes.parties.asking import numbering
from mixbayes.parties.with_mixers.asking import Asking
from mixbayes.parties.with_mixers.both_mixers import both_mixers
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.simulation.bench import questions
from mixbayes.simulation.bench_many import Load, measure_applications, peak_megabytes, processor_seconds, until_serving
from mixbayes.simulation.crew import Crew
from mixbayes.simulation.stage import Stage
from mixbayes.transport.watch import Watch

_FEW_CELLS = 100


def hospitals(numbers: Sequence[int], cells: int, at_once: int) -> None:
    """How long the contributions of so many hospitals take, and the training, and what it takes of each mixer."""
    size = Layout(with_cells(cells)).size
    print(f"hospitals that contribute {size:,} cells each, {at_once} at a time")
    print(f"{'':9} {'seconds':>23}  {'processor, s':>13}  {'memory, MB':>13}  {'disk, MB':>13}  {'file, kB':>9}")
    pairs = "  ".join([f"{'a':>6} {'b':>6}"] * 3)
    print(f"{'hospitals':>9} {'contribute':>11} {'train':>11}  {pairs}  {'agreement':>9}")
    for number in numbers:
        names = [f"hospital-{one}" for one in range(1, number + 1)]
        with play(names, with_cells(cells)) as (set_up, crew):
            start = time.perf_counter()
            with ThreadPoolExecutor(at_once) as pool:
                list(pool.map(partial(contribute, set_up), names))
            contributed = time.perf_counter() - start
            disk = megabytes_on_disk(set_up)
            until_serving(set_up)
            trained = time.perf_counter() - start - contributed
            used = [of_both(crew, set_up, measure) for measure in (processor_seconds, peak_megabytes)]
        size = len(written(set_up.federation)) / 1e3
        took = f"{number:9} {contributed:11.1f} {trained:11.1f}"
        print(f"{took}  {'  '.join(map(columns, [*used, disk]))}  {size:9.1f}", flush=True)


def connected(numbers: Sequence[int]) -> None:
    """What conversations in which nobody asks take of each mixer: every hospital has asked about one hidden row."""
    print("hospitals with an open conversation")
    print(f"{'hospitals':>9}  {'memory, MB':>13}  {'threads':>13}")
    names = [f"hospital-{one}" for one in range(1, max(numbers) + 1)]
    with play(names, with_cells(_FEW_CELLS)) as (set_up, crew), ExitStack() as open_ones:
        for name in names:
            contribute(set_up, name)
        until_serving(set_up)
        for number, name in enumerate(names, start=1):
            own = identity(set_up, name)
            mixers = open_ones.enter_context(both_mixers(set_up.federation, own, Watch()))
            asking = Asking(mixers, set_up.federation.layout, numbering(own.seal))
            open_ones.callback(asking.close)
            list(asking.labels(1, questions(set_up.federation.layout, 1), private=True))
            if number in numbers:
                used = [of_both(crew, set_up, measure) for measure in (peak_megabytes, threads)]
                print(f"{number:9}  {'  '.join(map(columns, used))}", flush=True)


def threads(process: int | None) -> float:
    return float(len(os.listdir(f"/proc/{process}/task")))


def of_both(crew: Crew, set_up: Stage, measure: Callable[[int | None], float]) -> list[float]:
    """A measure of both mixers' processes."""
    mixers = set_up.federation.mixers
    return [measure(crew.process_of(set_up.federation.title(mixer.name))) for mixer in mixers]


def megabytes_on_disk(set_up: Stage) -> list[float]:
    """The state folders of both mixers."""
    folders = [set_up.state(mixer.name) for mixer in set_up.federation.mixers]
    return [sum(file.stat().st_size for file in folder.iterdir()) / 1e6 for folder in folders]


def columns(pair: Sequence[float]) -> str:
    return " ".join(f"{value:6.1f}" for value in pair)


def applications(numbers: Sequence[int], seconds: float) -> None:
    """How many single rows a second a hospital's node has classified, and how long each takes."""
    print(f"applications that ask for single rows, {seconds:g} s each; milliseconds, and of the processor for a row")
    heads = f"{'processor: node, a, b':^24}  {'memory: node, a, b, MB':^24}"
    print(f"{'':20} {'rows a s':>8} {'median':>8} {'99 %':>8}  {heads}")
    loads = [Load(number, private, seconds) for private in (True, False) for number in numbers]
    for found in measure_applications(loads):
        kind = "hidden" if found.load.private else "shown"
        took = f"{found.rows_a_second:8.0f} {1e3 * found.median:8.0f} {1e3 * found.slowest:8.0f}"
        processor = " ".join(f"{1e3 * one:7.2f}" for one in found.processor)
        memory = " ".join(f"{one:7.0f}" for one in found.megabytes)
        print(f"{found.load.applications:11,} {kind:>8} {took}  {processor:^24}  {memory:^24}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hospitals", type=int, nargs="*", default=[100, 300, 1000])
    parser.add_argument("--cells", type=int, default=5000)
    parser.add_argument("--at-once", type=int, default=32)
    parser.add_argument("--connected", type=int, nargs="*", default=[100, 200, 400])
    parser.add_argument("--applications", type=int, nargs="*", default=[1, 16, 50, 200])
    parser.add_argument("--seconds", type=float, default=10.0)
    chosen = parser.parse_args()
    print(f"load of this machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    if chosen.hospitals:
        hospitals(chosen.hospitals, chosen.cells, chosen.at_once)
    if chosen.connected:
        connected(chosen.connected)
    if chosen.applications:
        applications(chosen.applications, chosen.seconds)
    print(f"load of this machine after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
