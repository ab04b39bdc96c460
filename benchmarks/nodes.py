"""The real nodes beside plain socket pairs, and queries for minutes on end.

python benchmarks/nodes.py [--repeats 7] [--soak MINUTES]
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from mixbayes.mixers.node import Settings as MixerSettings
from mixbayes.node.identity import Identity
from mixbayes.node.log import logger
from mixbayes.parties.asking import numbering
from mixbayes.parties.with_mixers.asking import Asking
from mixbayes.parties.with_mixers.both_mixers import both_mixers
from mixbayes.parties.with_mixers.contributing import messages
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.randomness import Randomness
from mixbayes.simulation import roles
from mixbayes.simulation.bench import dictionary, measure, questions
from mixbayes.simulation.bench_many import until_serving
from mixbayes.simulation.bench_nodes import TASKS, measure_nodes
from mixbayes.simulation.crew import Crew
from mixbayes.simulation.stage import Stage, stage
from mixbayes.transport.watch import Watch

ROWS = 1000


def compared(repeats: int) -> None:
    """The same questions over socket pairs and over gRPC with TLS, everything counted."""
    print(f"{'ms, median of ' + str(repeats):40} {'sockets':>9} {'nodes':>9} {'ratio':>7}")
    over_sockets = {result.task: result.seconds for result in measure(repeats, TASKS)}
    for result in measure_nodes(repeats):
        sockets = over_sockets[result.task]
        print(f"{result.task:40} {1e3 * sockets:9.1f} {1e3 * result.seconds:9.1f} {result.seconds / sockets:7.2f}")


def soak(minutes: float) -> None:
    """Queries for minutes, private and public, one conversation after the other; what the mixers use of the machine."""
    agreed = dictionary(TASKS[0])
    with play(["north", "south"], agreed) as (set_up, crew):
        for name in set_up.federation.names:
            contribute(set_up, name)
        until_serving(set_up)
        print(f"{'minute':>6} {'questions':>9} {'rows':>9}  megabytes, descriptors, MB on disk at a and at b")
        began, minute, asked, rows = time.monotonic(), 0, 0, 0
        while time.monotonic() - began < 60 * minutes:
            done = ask_once(set_up)
            asked, rows = asked + done[0], rows + done[1]
            if time.monotonic() - began >= 60 * minute:
                used = "  ".join(usage(crew, set_up, mixer.name) for mixer in set_up.federation.mixers)
                print(f"{minute:6} {asked:9,} {rows:9,}  {used}", flush=True)
                minute += 1


def ask_once(set_up: Stage) -> tuple[int, int]:
    """One conversation with questions of many sizes; how many, and rows."""
    name, layout = "north", set_up.federation.layout
    sizes = [1] * 50 + [10, 100, 1000]
    own = identity(set_up, name)
    with both_mixers(set_up.federation, own, Watch()) as mixers:
        asking = Asking(mixers, layout, numbering(own.seal))
        for number, size in enumerate(sizes):
            list(asking.labels(1, questions(layout, size), private=number % 2 == 0))
        asking.close()
    return len(sizes), sum(sizes)


def usage(crew: Crew, set_up: Stage, name: str) -> str:
    """Of one mixer's process and folder."""
    process = crew.process_of(set_up.federation.title(name))
    status = Path(f"/proc/{process}/status").read_text()
    memory = next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS"))
    descriptors = len(os.listdir(f"/proc/{process}/fd"))
    size = sum(file.stat().st_size for file in set_up.state(name).iterdir()) / 1e6
    return f"{memory:6.0f} {descriptors:4} {size:6.1f}"


def with_cells(cells: int) -> Dictionary:
    """Two classes, attributes of ten values, about so many cells."""
    values = tuple(str(value) for value in range(10))
    per_attribute = 2 * (len(values) + 1)
    attributes: list[Attribute] = [
        Nominal(name=f"attribute {number}", values=values) for number in range(cells // per_attribute)
    ]
    return Dictionary(class_column="class", classes=("no", "yes"), attributes=tuple(attributes))


@contextmanager
def play(names: list[str], agreed: Dictionary) -> Iterator[tuple[Stage, Crew]]:
    """Two mixers that listen."""
    with stage(names, agreed, "shares", two_party=False, timeout=60.0) as set_up, Crew(preload=roles.__name__) as crew:
        for mixer in set_up.federation.mixers:
            settings = MixerSettings(set_up.federation, mixer.name, set_up.keys(mixer.name), set_up.state(mixer.name))
            crew.start(set_up.federation.title(mixer.name), roles.mixer, settings)
            crew.hear(set_up.federation.title(mixer.name))
        yield set_up, crew


def contribute(set_up: Stage, name: str) -> None:
    """Connect to both mixers, send the counts of some random rows, hear that both have them."""
    federation, random = set_up.federation, np.random.default_rng(1)
    layout = federation.layout
    rows = Codes(questions(layout, ROWS), random.integers(0, layout.classes, ROWS).astype(np.int32))
    made = messages(name, federation.digest(), 1, count(layout, rows), Randomness.from_system())
    with both_mixers(federation, identity(set_up, name), Watch()) as mixers:
        mixers.contribute("a", made.to_a)
        mixers.contribute("b", made.to_b)


def identity(set_up: Stage, name: str) -> Identity:
    return Identity(set_up.keys(name), name, logger("benchmark"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--soak", type=float, default=0.0, metavar="MINUTES")
    chosen = parser.parse_args()
    if chosen.soak:
        soak(chosen.soak)
    else:
        compared(chosen.repeats)


if __name__ == "__main__":
    main()
