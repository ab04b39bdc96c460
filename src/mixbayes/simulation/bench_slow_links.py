"""How long jobs of the real nodes take over slow links: seconds, and bytes through the links.

As in `bench_nodes`, but every connection to a mixer passes a proxy that delays and throttles. A training is timed by
the audit trail of mixer a, from the entry that the round is sealed to the entry that it serves. All messages of the
training are sent between these two, and both mixers write their disks.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

from mixbayes.agreement.agreement import USUAL_AHEAD
from mixbayes.node.disk.audit import Record, entries
from mixbayes.protocol.attributes.dictionary import Dictionary
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.attributes.registry import Attribute
from mixbayes.protocol.transfer.kinds import KindName
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
from mixbayes.simulation.stage import Rules, Stage, free_ports, stage
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
_QUIET, _HARDLY = 1.0, 10_000
"""Seconds, and the bytes in them that nodes may exchange while nobody asks and no transfers are made."""
_PROXY = "proxy"
LEADING = "a"
_SEALED, _SERVES = "sealed", "serves"


@dataclass(frozen=True)
class SlowResult:
    """Medians. Of a question they are from the question to the last label, in a conversation that stands.

    Mixers make no transfers ahead, but for `ahead`: there they have made as many as are usual before the task begins.
    So they have for `new`, a question with all that comes before the first one: dialling, TLS, opening a conversation.
    """

    task: str
    delay_ms: float
    mbit: float
    transfers: str
    """How the mixers make them."""
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


def measure_slow_links(
    link: SlowLink, repeats: int = 7, transfers: KindName = "silent", tasks: tuple[Task, ...] = TASKS
) -> Iterator[SlowResult]:
    """Every task, over links of this kind. Tasks in a row that have one dictionary have one federation."""
    for agreed, some in groupby(tasks, agreement_of):
        far = _Far(link, agreed, transfers)
        for trains, alike in groupby(some, training):
            yield from (_trainings if trains else _questions)(far, list(alike), repeats)


@dataclass(frozen=True)
class _Far:
    """What is agreed, and how far the nodes are from each other."""

    link: SlowLink
    dictionary: Dictionary
    transfers: KindName

    @contextmanager
    def federation(self, *, ahead: bool) -> Iterator[tuple[Crew, Stage]]:
        """Nodes at work, each mixer behind the proxy. The hospitals have contributed, once transfers were made."""
        rules = Rules(transfers=self.transfers, ahead=USUAL_AHEAD if ahead else 0)
        set_up_by = stage(HOSPITALS, self.dictionary, "shares", two_party=False, timeout=_TIMEOUT, rules=rules)
        with set_up_by as set_up, Crew(preload=__name__) as crew:
            behind: dict[int, int] = {}
            listen: dict[str, str] = {}
            for mixer, port in zip(set_up.federation.mixers, free_ports(2), strict=True):
                behind[int(mixer.address.rpartition(":")[2])] = port
                listen[mixer.name] = f"127.0.0.1:{port}"
            crew.start(_PROXY, delaying_proxy, self.link, behind)
            crew.hear(_PROXY)
            start_nodes(crew, set_up, listen, partial(self.until_quiet, crew) if ahead else _at_once)
            yield crew, set_up

    def until_quiet(self, crew: Crew) -> None:
        """Until hardly anything has passed for longer than any two messages are apart."""
        apart, until = _QUIET + 4 * self.link.delay, time.monotonic() + PATIENCE
        time.sleep(apart)
        while _passed(crew, Span(time.time() - apart, time.time())) > _HARDLY and time.monotonic() < until:
            time.sleep(_LOOK_EVERY)


def _at_once() -> None:
    """Nothing is waited for."""


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


def _questions(far: _Far, tasks: Sequence[Task], repeats: int) -> Iterator[SlowResult]:
    with far.federation(ahead=False) as (crew, set_up):
        start_asker(crew, set_up)
        cold = [_asked(crew, task, repeats) for task in tasks]
    with far.federation(ahead=True) as (crew, set_up):
        start_asker(crew, set_up)
        start_newcomer(crew, set_up)
        for task, laps in zip(tasks, cold, strict=True):
            warm = [_ask_warm(far, crew, task) for _ in range(repeats)]
            new = [_ask_anew(far, crew, task) for _ in range(repeats)]
            yield _result(far, task, laps, warm, new)


def _asked(crew: Crew, task: Task, repeats: int) -> list[_Lap]:
    """One after the other. The first run also warms caches, and does not count."""
    ask(crew, task)
    return [_lap(crew, ask(crew, task)) for _ in range(repeats)]


def _ask_warm(far: _Far, crew: Crew, task: Task) -> _Lap:
    warm_up(crew)
    far.until_quiet(crew)
    return _lap(crew, ask(crew, task))


def _ask_anew(far: _Far, crew: Crew, task: Task) -> _Lap:
    far.until_quiet(crew)
    return _lap(crew, ask_anew(crew, task))


def _trainings(far: _Far, tasks: Sequence[Task], repeats: int) -> Iterator[SlowResult]:
    for task in tasks:
        cold, warm = ([_train(far, ahead=ahead) for _ in range(repeats)] for ahead in (False, True))
        yield _result(far, task, cold, warm)


def _train(far: _Far, *, ahead: bool) -> _Lap:
    with far.federation(ahead=ahead) as (crew, set_up):
        return _lap(crew, _until_trained(crew, set_up))


def _lap(crew: Crew, span: Span) -> _Lap:
    return _Lap(span.seconds, _passed(crew, span))


def _passed(crew: Crew, span: Span) -> int:
    """Bytes through the links."""
    crew.tell(_PROXY, (span.begin, span.end))
    count: int = crew.hear(_PROXY)
    return count


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


def _result(far: _Far, task: Task, *laps: list[_Lap]) -> SlowResult:
    rows = None if training(task) else task.size
    medians = [figure for some in laps for figure in _medians(some)]
    link = 1e3 * far.link.delay, far.link.rate * 8 / 1e6
    return SlowResult(task.named(), *link, far.transfers, rows, *medians)


def _medians(laps: list[_Lap]) -> Iterator[Any]:
    yield statistics.median(lap.seconds for lap in laps)
    yield round(statistics.median(lap.bytes for lap in laps))
