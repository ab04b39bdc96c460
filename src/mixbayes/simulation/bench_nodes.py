"""How fast the real nodes are: gRPC with TLS between processes, everything on disk that has to be.

The dictionary is the benchmark's of `bench`, so that its jobs over plain socket pairs can be set beside these.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from mixbayes.mixers.node import Settings as MixerSettings
from mixbayes.node.identity import Identity
from mixbayes.node.log import logger
from mixbayes.node.rounds.state import SERVING
from mixbayes.parties.asking import Numbering, numbering
from mixbayes.parties.settings import Settings as PartySettings
from mixbayes.parties.with_mixers.asking import Asking
from mixbayes.parties.with_mixers.both_mixers import BothMixers, both_mixers
from mixbayes.protocol.arrays import Words
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.simulation import roles
from mixbayes.simulation.bench import Task, dictionary, questions
from mixbayes.simulation.crew import Crew
from mixbayes.simulation.roles import FIRST_ROUND
from mixbayes.simulation.stage import Stage, stage
from mixbayes.transport.watch import Watch

HOSPITALS = "north", "south"
TASKS = tuple(Task(kind, size) for kind in ("public", "private") for size in (1, 10_000))
_ROWS = 1000
_ASKER, _NEWCOMER = "asker", "newcomer"
_READY = "ready"


@dataclass(frozen=True)
class Span:
    """When something began and ended, in seconds of `time.time`: every process of this machine has the same."""

    begin: float
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.begin


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
        start_nodes(crew, set_up)
        start_asker(crew, set_up)
        for task in tasks:
            ask(crew, task)
            cold = [ask(crew, task).seconds for _ in range(repeats)]
            warm = [ask_warm(crew, task).seconds for _ in range(repeats)]
            yield NodeResult(task.named(), task.size, statistics.median(cold), statistics.median(warm))


def asker(report: Connection, set_up: Stage) -> None:
    """A hospital that asks what it is told, and says when. Told nothing, it has transfers made ahead."""
    layout = set_up.federation.layout
    with _mixers(set_up) as (mixers, numbered):
        while mixers.status().state != SERVING:
            time.sleep(0.05)
        asking = Asking(mixers, layout, numbered)
        report.send(_READY)
        for task in _told(report):
            if task is None:
                asking.warm()
                report.send(_READY)
            else:
                report.send(_asked(asking, layout, task))
        asking.close()


def newcomer(report: Connection, set_up: Stage) -> None:
    """A hospital that asks what it is told, and connects anew for every question."""
    report.send(_READY)
    for task in _told(report):
        with _mixers(set_up) as (mixers, numbered):
            asking = Asking(mixers, set_up.federation.layout, numbered)
            report.send(_asked(asking, set_up.federation.layout, task))
            asking.close()


@contextmanager
def _mixers(set_up: Stage) -> Iterator[tuple[BothMixers, Numbering]]:
    """Both mixers as the first hospital dials them, and what numbers its questions."""
    name = set_up.federation.names[0]
    identity = Identity(set_up.keys(name), name, logger("benchmark"))
    with both_mixers(set_up.federation, identity, Watch()) as mixers:
        yield mixers, numbering(identity.seal)


def _told(report: Connection) -> Iterator[Any]:
    while True:
        try:
            yield report.recv()
        except EOFError:
            return


def _asked(asking: Asking, layout: Layout, task: Task) -> Span:
    codes = questions(layout, task.size)
    begin = time.time()
    for _ in asking.labels(FIRST_ROUND, codes, private=task.kind == "private"):
        pass
    return Span(begin, time.time())


def start_nodes(
    crew: Crew, set_up: Stage, listen: Mapping[str, str] = {}, before: Callable[[], None] = lambda: None
) -> None:
    """Both mixers, and hospitals that have contributed when this returns.

    `listen` says where mixers listen. `before` is called before the hospitals contribute.
    """
    federation = set_up.federation
    for one in federation.mixers:
        keys, state = set_up.keys(one.name), set_up.state(one.name)
        crew.start(
            federation.title(one.name),
            roles.mixer,
            MixerSettings(federation, one.name, keys, state, listen.get(one.name)),
        )
        crew.hear(federation.title(one.name))
    for name in federation.names:
        settings = PartySettings(federation, name, set_up.keys(name), set_up.state(name), _some_counts(set_up))
        crew.start(name, roles.hospital, settings)
        crew.hear(name)
    before()
    for name in federation.names:
        crew.tell(name, "contribute")
    for name in federation.names:
        crew.hear(name)


def start_asker(crew: Crew, set_up: Stage) -> None:
    """Returns once the round serves and the hospital is ready to ask."""
    crew.start(_ASKER, asker, set_up)
    crew.hear(_ASKER)


def start_newcomer(crew: Crew, set_up: Stage) -> None:
    crew.start(_NEWCOMER, newcomer, set_up)
    crew.hear(_NEWCOMER)


def ask(crew: Crew, task: Task) -> Span:
    """From the question to the last label, in the conversation of all these questions."""
    return _told_to(crew, _ASKER, task)


def ask_anew(crew: Crew, task: Task) -> Span:
    """From dialling to the last label."""
    return _told_to(crew, _NEWCOMER, task)


def _told_to(crew: Crew, name: str, task: Task) -> Span:
    crew.tell(name, task)
    span: Span = crew.hear(name)
    return span


def warm_up(crew: Crew) -> None:
    """Have transfers made ahead. Mixers may still be at it when this returns."""
    crew.tell(_ASKER, None)
    crew.hear(_ASKER)


def ask_warm(crew: Crew, task: Task) -> Span:
    warm_up(crew)
    return ask(crew, task)


def _some_counts(set_up: Stage) -> Words:
    layout, random = set_up.federation.layout, np.random.default_rng(3)
    rows = Codes(questions(layout, _ROWS), random.integers(0, layout.classes, _ROWS).astype(np.int32))
    return count(layout, rows)
