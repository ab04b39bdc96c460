"""How fast: the computing parties in two processes over socket pairs, the asker in a third, everything counted.

Every job runs several times from empty pools, so that making transfers is part of it ("all"), and then with transfers
made beforehand ("online"). The median counts.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Literal

import numpy as np

from mixbayes.protocol.arrays import Values, Words
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.gaussian import Gaussian
from mixbayes.protocol.attributes.layout import Layout
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.bayes import label
from mixbayes.protocol.bayes.classification import answer_private, answer_public, ask_private, ask_public
from mixbayes.protocol.bayes.counts import Codes, count
from mixbayes.protocol.bayes.model import Model
from mixbayes.protocol.bayes.precision import precision_for
from mixbayes.protocol.bayes.question import TableHolder, TableReader
from mixbayes.protocol.bayes.training import train
from mixbayes.protocol.circuits.logarithm import shared_log2
from mixbayes.protocol.computing_party import A, B, ComputingParty
from mixbayes.protocol.randomness import Randomness
from mixbayes.protocol.transfer.pool import BothWays, connect_pair
from mixbayes.simulation.crew import Crew
from mixbayes.simulation.links import MIXERS, Link
from mixbayes.transport.meter import Moved

ATTRIBUTES, VALUES, GAUSSIANS, MAX_ROWS = 13, 10, 30, 2**20
ASKER = "asker"
DEADLINE = 120.0
AHEAD_PAIRS = 1 << 21
TRANSFERS = 1 << 20


@dataclass(frozen=True)
class Task:
    """One thing to measure."""

    kind: Literal["transfers", "train", "gaussian training", "public", "private"]
    size: int
    classes: int = 2
    gaussian: bool = False

    def named(self) -> str:
        if self.kind == "transfers":
            return f"{2 * self.size:,} random transfers between two parties"
        if self.kind == "train":
            return f"{self.size:,} cells to log-probabilities"
        if self.kind == "gaussian training":
            return f"{GAUSSIANS} Gaussian attributes trained, {self.classes} classes"
        rows = f"{self.size:,} {self.kind} instance" + "s" * (self.size > 1)
        return f"{rows}, {self.classes} classes" + f", {GAUSSIANS} Gaussian" * self.gaussian


TASKS = (
    Task("transfers", TRANSFERS),
    Task("train", 210),
    Task("train", 5000),
    *(Task(kind, size, classes) for kind in ("public", "private") for size in (1, 10_000) for classes in (2, 5)),
    Task("gaussian training", 1, gaussian=True),
    *(Task(kind, 10_000, gaussian=True) for kind in ("public", "private")),
)


@dataclass(frozen=True)
class Result:
    """What a task took. Seconds are medians; bytes are over all channels, both directions."""

    task: str
    size: int
    seconds: float
    seconds_online: float
    bytes: int
    bytes_ahead: int
    rounds: int
    peak_megabytes: float


def measure(repeats: int = 7, tasks: tuple[Task, ...] = TASKS) -> Iterator[Result]:
    """Run every task and yield its result."""
    with Crew() as crew:
        (a_b, b_a), (a_ask, ask_a), (b_ask, ask_b) = Link.pair(), Link.pair(), Link.pair()
        crew.start(MIXERS[A], mixer, A, a_b, a_ask)
        crew.start(MIXERS[B], mixer, B, b_a, b_ask)
        crew.start(ASKER, asker, ask_a, ask_b)
        for task in tasks:
            _run(crew, task, ahead=False)  # the first run of a kind also warms allocators and caches
            cold = [_run(crew, task, ahead=False) for _ in range(repeats)]
            warm = [_run(crew, task, ahead=True) for _ in range(1 if task.kind == "transfers" else repeats)]
            yield _result(task, cold, warm)


@dataclass(frozen=True)
class _Lap:
    """What one role saw of one run."""

    seconds: float
    now: Moved
    ahead: Moved
    peak_megabytes: float


def _run(crew: Crew, task: Task, *, ahead: bool) -> list[_Lap]:
    for name in (*MIXERS, ASKER):
        crew.tell(name, (task, ahead))
    for name in (*MIXERS, ASKER):
        crew.hear(name)  # everybody is ready
    for name in (*MIXERS, ASKER):
        crew.tell(name, "go")
    return [crew.hear(name) for name in (*MIXERS, ASKER)]


def _result(task: Task, cold: list[list[_Lap]], warm: list[list[_Lap]]) -> Result:
    timed = 2 if task.kind in ("public", "private") else 0  # the asker's clock, or mixer a's
    last = cold[-1]
    counted = [last[0], last[2]]  # each channel once: those of mixer a, and the asker's
    ahead = round(statistics.mean(run[0].ahead.bytes + run[2].ahead.bytes for run in cold))
    return Result(
        task=task.named(),
        size=task.size,
        seconds=statistics.median(run[timed].seconds for run in cold),
        seconds_online=0.0 if task.kind == "transfers" else statistics.median(run[timed].seconds for run in warm),
        bytes=sum(lap.now.bytes for lap in counted) + ahead,
        bytes_ahead=ahead,
        rounds=max(lap.now.rounds for lap in counted),
        peak_megabytes=max(lap.peak_megabytes for run in cold for lap in run),
    )


def mixer(report: Connection, role: int, other: Link, asking: Link) -> None:
    """Connect once, then do what is asked, measured."""
    random = Randomness.from_system()
    to_other, ahead = other.channels(MIXERS[1 - role], DEADLINE)
    to_asker = asking.channel(ASKER, DEADLINE)
    me = ComputingParty(role, to_other, connect_pair(role, ahead, random), random)
    blinding = label.blinding_for(b"benchmark", label.common_blinding(me))
    holder = TableHolder(to_asker, random)
    models: dict[Dictionary, Model] = {}
    while True:
        task, prepared = report.recv()
        _stock(me.pool, AHEAD_PAIRS if prepared else 0)
        layout = Layout(dictionary(task))
        if task.kind in ("public", "private") and layout.dictionary not in models:
            models[layout.dictionary] = train(me, layout, _share(layout, role))
        with _Timed(report, (to_other,), (ahead,)):
            if task.kind == "transfers":
                me.pool.take(task.size)
            elif task.kind == "train":
                precision = precision_for(layout)
                shared_log2(me, _counts(task.size, role), precision.count_bits, precision.width)
            elif task.kind == "gaussian training":
                train(me, layout, _share(layout, role))
            elif task.kind == "public":
                answer_public(me, to_asker, layout, models[layout.dictionary], task.size, blinding)
            else:
                answer_private(me, holder, layout, models[layout.dictionary], task.size, blinding, about=_about(task))


def asker(report: Connection, to_mixer_a: Link, to_mixer_b: Link) -> None:
    """The hospital that asks."""
    random = Randomness.from_system()
    to_a, to_b = to_mixer_a.channel(MIXERS[A], DEADLINE), to_mixer_b.channel(MIXERS[B], DEADLINE)
    asking = TableReader((to_a, to_b), random)
    while True:
        task, _ = report.recv()
        layout = Layout(dictionary(task))
        codes = questions(layout, task.size)
        precision = precision_for(layout)
        with _Timed(report, (to_a, to_b), ()):
            if task.kind == "public":
                ask_public((to_a, to_b), layout, precision.width, codes)
            elif task.kind == "private":
                ask_private((to_a, to_b), layout, precision.width, codes, asking, about=_about(task))


def _about(task: Task) -> bytes:
    """What names the model that a question is about."""
    return f"{task.classes} {task.gaussian}".encode()


def dictionary(task: Task) -> Dictionary:
    """13 attributes of 10 values, or 30 Gaussian ones; and a million rows."""
    values = tuple(str(v) for v in range(VALUES))
    nominal: list[Attribute] = [Nominal(name=f"attribute {a}", values=values) for a in range(ATTRIBUTES)]
    gaussian: list[Attribute] = [Gaussian(name=f"attribute {a}", low=0.0, high=1.0) for a in range(GAUSSIANS)]
    names = tuple(f"class {c}" for c in range(task.classes))
    attributes = tuple(gaussian if task.gaussian else nominal)
    return Dictionary(class_column="class", classes=names, attributes=attributes, max_rows=MAX_ROWS)


def _share(layout: Layout, role: int) -> Words:
    """A share of the counts of some random rows."""
    random = np.random.default_rng(3)
    rows = Codes(questions(layout, 1000), random.integers(0, layout.classes, 1000).astype(np.int32))
    vector = count(layout, rows)
    return vector if role == A else np.zeros_like(vector)


def _counts(cells: int, role: int) -> Words:
    """A share of some counts; what they are changes nothing."""
    counts = np.random.default_rng(1).integers(0, 1000, cells).astype(np.uint64)
    return counts if role == A else np.zeros_like(counts)


def questions(layout: Layout, rows: int) -> Values:
    random = np.random.default_rng(2)
    columns = [random.integers(0, a.codes, (a.columns, rows)) for a in layout.dictionary.attributes]
    return np.concatenate(columns).astype(np.int32)


def _stock(pool: BothWays, count: int) -> None:
    """Bring a pool to so many, or to none."""
    if count:
        pool.reserve(count)
    else:
        pool.take(pool.left)


class _Timed:
    """Says that it is ready, waits for the start, and reports what happened until its end."""

    def __init__(self, report: Connection, now: tuple[Any, ...], ahead: tuple[Any, ...]) -> None:
        self._report, self._now, self._ahead = report, now, ahead

    def __enter__(self) -> None:
        self._before = self._moved()
        self._report.send("ready")
        self._report.recv()
        self._start = time.perf_counter()

    def __exit__(self, *error: object) -> None:
        seconds = time.perf_counter() - self._start
        now, ahead = (after - before for after, before in zip(self._moved(), self._before, strict=True))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        self._report.send(_Lap(seconds, now, ahead, peak))

    def _moved(self) -> tuple[Moved, Moved]:
        return sum(map(Moved.by, self._now), Moved()), sum(map(Moved.by, self._ahead), Moved())
