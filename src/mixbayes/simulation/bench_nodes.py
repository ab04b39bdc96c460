"""How fast the real nodes are: gRPC with TLS between processes, everything on disk that has to be.

The dictionary is the benchmark's of `bench`, so that its jobs over plain socket pairs can be set beside these.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection

import numpy as np

from mixbayes.mixers.node import Settings as MixerSettings
from mixbayes.node.identity import Identity
from mixbayes.node.log import logger
from mixbayes.node.rounds.state import SERVING
from mixbayes.parties.asking import numbering
from mixbayes.parties.settings import Settings as PartySettings
from mixbayes.parties.with_mixers.asking import Asking
from mixbayes.parties.with_mixers.both_mixers import both_mixers
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.simulation import roles
from mixbayes.simulation.bench import Task, dictionary, questions
from mixbayes.simulation.crew import Crew
from mixbayes.simulation.stage import Stage, stage
from mixbayes.transport.watch import Watch

HOSPITALS = "north", "south"
TASKS = tuple(Task(kind, size) for kind in ("public", "private") for size in (1, 10_000))
_ROWS = 1000
_ASKER = "asker"


@dataclass(frozen=True)
class NodeResult:
    """Seconds from the question to the last label, medians: as it comes, and with transfers made ahead."""

    task: str
    size: int
    seconds: float
    seconds_warm: float


def measure_nodes(repeats: int = 7, tasks: tuple[Task, ...] = TASKS) -> Iterator[NodeResult]:
    """Ask two mixers, again and again, through one conversation."""
    agreed = dictionary(tasks[0])
    with stage(HOSPITALS, agreed, "shares", two_party=False, timeout=60.0) as set_up, Crew(preload=__name__) as crew:
        _start(crew, set_up, agreed)
        crew.start(_ASKER, asker, set_up)
        crew.hear(_ASKER)
        for task in tasks:
            _ask(crew, task, warm=False)
            cold = [_ask(crew, task, warm=False) for _ in range(repeats)]
            warm = [_ask(crew, task, warm=True) for _ in range(repeats)]
            yield NodeResult(task.named(), task.size, statistics.median(cold), statistics.median(warm))


def asker(report: Connection, set_up: Stage) -> None:
    """A hospital that asks, and says how long it took."""
    name = set_up.federation.names[0]
    layout = set_up.federation.layout
    identity = Identity(set_up.keys(name), name, logger("benchmark"))
    with both_mixers(set_up.federation, identity, Watch()) as mixers:
        while (status := mixers.status()).state != SERVING:
            time.sleep(0.05)
        asking = Asking(mixers, layout, numbering(identity.seal))
        report.send("ready")
        while True:
            try:
                task, warm = report.recv()
            except EOFError:
                break
            if warm:
                asking.warm()
            codes = questions(layout, task.size)
            start = time.perf_counter()
            for _ in asking.labels(status.round, codes, private=task.kind == "private"):
                pass
            report.send(time.perf_counter() - start)
        asking.close()


def _start(crew: Crew, set_up: Stage, agreed: Dictionary) -> None:
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


def _ask(crew: Crew, task: Task, *, warm: bool) -> float:
    crew.tell(_ASKER, (task, warm))
    seconds: float = crew.hear(_ASKER)
    return seconds
