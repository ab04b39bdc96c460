"""How long jobs of the real nodes take over slow links: seconds, and bytes through the links.

As in `bench_nodes`, but every connection to a mixer passes a proxy that delays and throttles. A training is timed by
the audit trail of mixer a, from the entry that the round is sealed to the entry that it serves. All messages of the
training are sent between these two, and both mixers write their disks.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from mixbayes.node.disk.audit import Record, entries
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.simulation import bench
from mixbayes.simulation.bench import MAX_ROWS, Task
from mixbayes.simulation.bench_nodes import (
    HOSPITALS,
    Span,
    ask,
    ask_anew,
    start_asker,
    start_newcomer,
    start_nodes,
    warm_up,
)
from mixbayes.simulation.crew import PATIENCE, Crew
from mixbayes.simulation.delaying_proxy import delaying_proxy
from mixbayes.simulation.slow_link import SlowLink
from mixbayes.simulation.stage import Stage, free_ports, stage
from mixbayes.transport.errors import TooEarly

TASKS = (
    Task("public", 10_000, 2),
    Task("private", 10_000, 2),
    Task("public", 1, 2),
    Task("private", 1, 2),
    Task("public", 10_000, 5),
    Task("private", 10_000, 5),
    Task("train", 210),
    Task("train", 5000),
    Task("gaussian training", 1, gaussian=True),
    Task("private", 10_000, gaussian=True),
)
SHAPES = {210: (2, 21, 5), 5000: (5, 100, 10)}
"""By cells: classes, attributes, and values of each."""
_TIMEOUT = 120.0
_LOOK_EVERY = 0.05
_QUIET, _HARDLY = 0.3, 10_000
"""Seconds, and the bytes in them that hospitals' nodes may exchange with mixers while nobody asks."""
_PROXY = "proxy"
LEADING = "a"
_SEALED, _SERVES = "sealed", "serves"


@dataclass(frozen=True)
class SlowResult:
    """Medians, of a question in a conversation that stands.

    `ahead` is with transfers that were made before the question, as far as nodes make them ahead; `new` is in a
    conversation of its own, with dialling, TLS and base transfers.
    """

    task: str
    delay_ms: float
    mbit: float
    rows: int | None
    """None for a training."""
    seconds: float
    bytes: int
    """Of both directions of all links."""
    seconds_ahead: float | None = None
    bytes_ahead: int | None = None
    seconds_new: float | None = None
    bytes_new: int | None = None


@dataclass(frozen=True)
class _Lap:
    """One run."""

    seconds: float
    bytes: int


def measure_slow_links(link: SlowLink, repeats: int = 7, tasks: tuple[Task, ...] = TASKS) -> Iterator[SlowResult]:
    """Every task, over links of this kind. Tasks in a row that have one dictionary have one federation."""
    for agreed, some in groupby(tasks, agreement_of):
        together = list(some)
        trainings = [task for task in together if training(task)]
        for task in trainings:
            laps = [_train(link, agreed) for _ in range(repeats)]
            yield _result(task, link, laps)
        asked = [task for task in together if not training(task)]
        if asked:
            yield from _questions(link, agreed, asked, repeats)


def training(task: Task) -> bool:
    return task.kind in ("train", "gaussian training")


def agreement_of(task: Task) -> Dictionary:
    """The dictionary of a task. That of a training on cells has as many joint counts of value and class."""
    if task.kind != "train":
        return bench.dictionary(task)
    classes, attributes, values = SHAPES[task.size]
    names = tuple(str(value) for value in range(values))
    nominal: list[Attribute] = [Nominal(name=f"attribute {a}", values=names) for a in range(attributes)]
    labels = tuple(f"class {c}" for c in range(classes))
    return Dictionary(class_column="class", classes=labels, attributes=tuple(nominal), max_rows=MAX_ROWS)


def _questions(link: SlowLink, agreed: Dictionary, tasks: Iterable[Task], repeats: int) -> Iterator[SlowResult]:
    with _federation(link, agreed) as (crew, set_up):
        start_asker(crew, set_up)
        start_newcomer(crew, set_up)
        for task in tasks:
            ask(crew, task)
            cold = [_lap(crew, ask(crew, task)) for _ in range(repeats)]
            warm = [_ask_warm(crew, link, task) for _ in range(repeats)]
            new = [_lap(crew, ask_anew(crew, task)) for _ in range(repeats)]
            yield _result(task, link, cold, warm, new)


def _ask_warm(crew: Crew, link: SlowLink, task: Task) -> _Lap:
    """With transfers made ahead, once the mixers are done with making them: they take longer than the hospital."""
    warm_up(crew)
    _until_quiet(crew, link)
    return _lap(crew, ask(crew, task))


def _until_quiet(crew: Crew, link: SlowLink) -> None:
    """Until hardly anything has passed for longer than any two messages are apart."""
    apart, until = _QUIET + 4 * link.delay, time.monotonic() + PATIENCE
    time.sleep(apart)
    while _passed(crew, Span(time.time() - apart, time.time())) > _HARDLY and time.monotonic() < until:
        time.sleep(_LOOK_EVERY)


def _train(link: SlowLink, agreed: Dictionary) -> _Lap:
    with _federation(link, agreed) as (crew, set_up):
        return _lap(crew, _until_trained(crew, set_up))


def _lap(crew: Crew, span: Span) -> _Lap:
    return _Lap(span.seconds, _passed(crew, span))


def _passed(crew: Crew, span: Span) -> int:
    """Bytes through the links."""
    crew.tell(_PROXY, (span.begin, span.end))
    count: int = crew.hear(_PROXY)
    return count


@contextmanager
def _federation(link: SlowLink, agreed: Dictionary) -> Iterator[tuple[Crew, Stage]]:
    """Nodes at work, each mixer behind the proxy. The hospitals have contributed."""
    set_up_by = stage(HOSPITALS, agreed, "shares", two_party=False, timeout=_TIMEOUT)
    with set_up_by as set_up, Crew(preload=__name__) as crew:
        behind: dict[int, int] = {}
        listen: dict[str, str] = {}
        for mixer, port in zip(set_up.federation.mixers, free_ports(2), strict=True):
            behind[int(mixer.address.rpartition(":")[2])] = port
            listen[mixer.name] = f"127.0.0.1:{port}"
        crew.start(_PROXY, delaying_proxy, link, behind)
        crew.hear(_PROXY)
        start_nodes(crew, set_up, listen)
        yield crew, set_up


def _until_trained(crew: Crew, set_up: Stage) -> Span:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        crew.raise_failures()
        if span := span_of_training(entries(set_up.state(LEADING))):
            return span
        time.sleep(_LOOK_EVERY)
    raise TooEarly(f"The round is not trained after {PATIENCE:g} s.")


def span_of_training(trail: Iterable[Record]) -> Span | None:
    """From the entry of a mixer's audit trail that the round is sealed to that it serves; None if it does not yet."""
    times: dict[str, float] = {}
    for record in trail:
        times.setdefault(record.entry.verb, record.entry.time.timestamp())
    return Span(times[_SEALED], times[_SERVES]) if _SERVES in times else None


def _result(task: Task, link: SlowLink, *laps: list[_Lap]) -> SlowResult:
    """Laps as they come, and of a question also those with transfers made ahead and those in new conversations."""
    rows = None if training(task) else task.size
    medians = [figure for some in laps for figure in _medians(some)]
    return SlowResult(task.named(), 1e3 * link.delay, link.rate * 8 / 1e6, rows, *medians)


def _medians(laps: list[_Lap]) -> Iterator[Any]:
    yield statistics.median(lap.seconds for lap in laps)
    yield round(statistics.median(lap.bytes for lap in laps))
