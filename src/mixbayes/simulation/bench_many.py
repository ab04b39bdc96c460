"""How many rows a second a hospital's node has classified, while many applications ask it for single rows at once."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from mixbayes.mixers.node import Settings as MixerSettings
from mixbayes.node.identity import Identity
from mixbayes.node.log import logger
from mixbayes.node.rounds.state import SERVING
from mixbayes.parties.settings import Settings as PartySettings
from mixbayes.parties.with_mixers.both_mixers import both_mixers
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.simulation import roles
from mixbayes.simulation.applications import application
from mixbayes.simulation.bench import VALUES, Task, dictionary, questions
from mixbayes.simulation.crew import Crew
from mixbayes.simulation.stage import Stage, stage
from mixbayes.transport.watch import Watch
from mixbayes.wire.v1.node_pb2 import Column, Rows

HOSPITALS = "north", "south"
ASKER = "applications"
_ROWS = 1000
_WARM_UP = 0.3
"""Of the seconds that are measured, as many before them are not."""


@dataclass(frozen=True)
class Load:
    """So many applications ask for one row after the other, each for so many seconds."""

    applications: int
    private: bool
    seconds: float


@dataclass(frozen=True)
class Answered:
    """What a load had for answers, and the largest memory of the node and of each mixer so far, in megabytes."""

    load: Load
    rows_a_second: float
    median: float
    slowest: float
    """The 99th percentile of the seconds from a row to its label."""
    megabytes: tuple[float, ...]
    processor: tuple[float, ...]
    """Seconds of a processor that the node and each mixer took for a row."""


def measure_applications(loads: list[Load]) -> Iterator[Answered]:
    """A hospital's node, two mixers, and the applications in a process of their own."""
    agreed = dictionary(Task("private", 1))
    with stage(HOSPITALS, agreed, "shares", two_party=False, timeout=60.0) as set_up, Crew(preload=__name__) as crew:
        nodes = serve(crew, set_up)
        crew.start(ASKER, applications, set_up)
        for load in loads:
            processes = [crew.process_of(node) for node in nodes]
            before = np.array([processor_seconds(process) for process in processes])
            crew.tell(ASKER, load)
            rows, found = crew.hear(ASKER)
            after = np.array([processor_seconds(process) for process in processes])
            half, last = np.quantile(found, [0.5, 0.99])
            yield Answered(
                load,
                len(found) / load.seconds,
                float(half),
                float(last),
                tuple(map(peak_megabytes, processes)),
                tuple(((after - before) / rows).tolist()),
            )


def serve(crew: Crew, set_up: Stage) -> tuple[str, str, str]:
    """Start both mixers, and the hospitals, who contribute. Returns the first hospital and the mixers."""
    federation, layout, random = set_up.federation, set_up.federation.layout, np.random.default_rng(3)
    for mixer in federation.mixers:
        settings = MixerSettings(federation, mixer.name, set_up.keys(mixer.name), set_up.state(mixer.name))
        crew.start(federation.title(mixer.name), roles.mixer, settings)
        crew.hear(federation.title(mixer.name))
    for name in federation.names:
        rows = Codes(questions(layout, _ROWS), random.integers(0, layout.classes, _ROWS).astype(np.int32))
        vector = count(layout, rows)
        crew.start(name, roles.hospital, PartySettings(federation, name, set_up.keys(name), set_up.state(name), vector))
        crew.hear(name)
        crew.tell(name, "contribute")
    for name in federation.names:
        crew.hear(name)
    until_serving(set_up)
    first, second = (federation.title(mixer.name) for mixer in federation.mixers)
    return federation.names[0], first, second


def until_serving(set_up: Stage) -> None:
    """Until both mixers answer questions."""
    name = set_up.federation.names[0]
    identity = Identity(set_up.keys(name), name, logger("benchmark"))
    with both_mixers(set_up.federation, identity, Watch()) as mixers:
        while mixers.status().state != SERVING:
            time.sleep(0.05)


def applications(report: Connection, set_up: Stage) -> None:
    """The applications of the first hospital: each in a thread, with a connection of its own to the node."""
    name = set_up.federation.names[0]
    while True:
        try:
            load: Load = report.recv()
        except EOFError:
            return
        begin = time.perf_counter() + 1.0 + load.applications / 50
        with ThreadPoolExecutor(load.applications) as pool:
            work = partial(_ask_on, set_up, name, load, begin)
            found = list(pool.map(work, range(load.applications)))
            report.send((sum(rows for rows, _ in found), [seconds for _, counted in found for seconds in counted]))


def _ask_on(set_up: Stage, name: str, load: Load, begin: float, number: int) -> tuple[int, list[float]]:
    """One row after the other, from a moment on. How many, and the seconds that each took, the first ones left out."""
    message, rows, found = _message(set_up, load, number), 0, list[float]()
    counted = begin + _WARM_UP * load.seconds
    with application(set_up, name) as desk:
        desk.status()
        time.sleep(max(0.0, begin - time.perf_counter()))
        while (start := time.perf_counter()) < counted + load.seconds or not found:
            list(desk.classified(iter([message])))
            rows += 1
            if start >= counted:
                found.append(time.perf_counter() - start)
    return rows, found


def _message(set_up: Stage, load: Load, number: int) -> Rows:
    """A row of random values."""
    names, random = set_up.federation.dictionary.names, np.random.default_rng(number)
    cells = random.integers(0, VALUES, len(names)).astype(str).tolist()
    columns = [Column(name=name, cells=[cell]) for name, cell in zip(names, cells, strict=True)]
    return Rows(columns=columns, public=not load.private)


def peak_megabytes(process: int | None) -> float:
    """The most memory that a process of this machine had so far."""
    status = Path(f"/proc/{process}/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def processor_seconds(process: int | None) -> float:
    """What a process of this machine has used of its processors so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
