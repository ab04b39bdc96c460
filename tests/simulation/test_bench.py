"""`mixbayes bench`: every kind of task, small."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import pytest
from typer.testing import CliRunner

from mixbayes.cli import bench as command
from mixbayes.cli.app import app
from mixbayes.node.disk.audit import Entry, Record
from mixbayes.protocol.attributes.nominal import Nominal
from mixbayes.protocol.errors import Unsupported
from mixbayes.simulation.bench import TASKS, Result, Task, measure
from mixbayes.simulation.bench_nodes import Span
from mixbayes.simulation.bench_slow_links import (
    SHAPES,
    SlowResult,
    agreement_of,
    measure_slow_links,
    span_of_training,
)
from mixbayes.simulation.bench_slow_links import TASKS as SLOW_TASKS
from mixbayes.simulation.slow_link import SlowLink

SMALL = (
    Task("transfers", 1 << 10),
    Task("train", 20),
    Task("gaussian training", 1, gaussian=True),
    Task("public", 3, 5),
    Task("private", 3),
)


@pytest.fixture(scope="module")
def results() -> list[Result]:
    """Measured once."""
    return list(measure(1, SMALL))


def test_small_tasks_are_of_every_kind_that_is_measured() -> None:
    assert {task.kind for task in SMALL} == {task.kind for task in TASKS}
    assert {task.gaussian for task in SMALL} == {task.gaussian for task in TASKS}


def test_tasks_have_different_names() -> None:
    assert len({task.named() for task in TASKS}) == len(TASKS)


def test_every_task_is_measured_in_its_order(results: list[Result]) -> None:
    assert [result.task for result in results] == [task.named() for task in SMALL]
    assert [result.size for result in results] == [task.size for task in SMALL]


def test_results_are_possible(results: list[Result]) -> None:
    for task, result in zip(SMALL, results, strict=True):
        assert result.seconds > 0, task
        assert (result.seconds_online > 0) == (task.kind != "transfers"), task
        assert 0 <= result.bytes_ahead <= result.bytes, task
        assert result.bytes > 0, task
        assert (result.rounds > 0) == (task.kind != "transfers"), task
        assert result.peak_megabytes > 10, task  # of the whole process, whatever it did before


def run(results: list[Result], monkeypatch: pytest.MonkeyPatch, *flags: str) -> Any:
    """The command with these results: what measures them has been tested above."""
    asked = []

    def measured(repeats: int) -> Iterator[Result]:
        asked.append(repeats)
        return iter(results)

    monkeypatch.setattr(command, "measure", measured)
    done = CliRunner().invoke(app, ["bench", *flags])
    assert done.exit_code == 0, done.output
    assert asked == [1]
    assert [line for line in done.stderr.splitlines() if line] == [f"measured: {result.task}" for result in results]
    return done


def test_json_is_one_document(results: list[Result], monkeypatch: pytest.MonkeyPatch) -> None:
    document = json.loads(run(results, monkeypatch, "--repeats", "1", "--json").stdout)
    assert [record["task"] for record in document] == [task.named() for task in SMALL]
    for record in document:
        assert set(record) == {
            *("task", "size", "seconds", "seconds_online", "bytes", "bytes_ahead", "rounds", "peak_megabytes")
        }


def test_table_has_a_line_for_every_task(results: list[Result], monkeypatch: pytest.MonkeyPatch) -> None:
    shown = run(results, monkeypatch, "--repeats", "1").stdout
    for task in SMALL:
        assert task.named() in shown
    assert "million a second and party" in shown


FAR = SlowLink.of(1, 800)
SLOW = (
    SlowResult("10,000 public instances, 2 classes", 25.0, 100.0, 10_000, 0.76, 5_674_037, 0.75, 5_000_000),
    SlowResult("210 cells to log-probabilities", 25.0, 100.0, None, 1.68, 2_580_603),
)


def test_slow_links_have_every_row_of_their_table() -> None:
    assert len({task.named() for task in SLOW_TASKS}) == len(SLOW_TASKS) == 10
    kinds = [(task.kind, task.size, task.classes) for task in SLOW_TASKS if not task.gaussian]
    asked = {(kind, 10_000, classes) for kind in ("public", "private") for classes in (2, 5)}
    assert set(kinds) == asked | {("public", 1, 2), ("private", 1, 2), ("train", 210, 2), ("train", 5000, 2)}
    assert [task.kind for task in SLOW_TASKS if task.gaussian] == ["gaussian training", "private"]


@pytest.mark.parametrize("cells", SHAPES)
def test_the_cells_of_a_training_are_its_values_in_every_class(cells: int) -> None:
    agreed = agreement_of(Task("train", cells))
    values = sum(len(attribute.values) for attribute in agreed.attributes if isinstance(attribute, Nominal))
    assert len(agreed.classes) * values == cells


def test_real_nodes_over_slow_links(roles_can_be_found: None) -> None:
    tasks = Task("train", 210), Task("public", 3), Task("private", 1)
    trained, public, private = measure_slow_links(FAR, 1, tasks)
    assert [result.task for result in (trained, public, private)] == [task.named() for task in tasks]
    assert (trained.rows, public.rows, private.rows) == (None, 3, 1)
    assert (trained.delay_ms, trained.mbit) == (1.0, pytest.approx(800))
    assert trained.seconds > 20 * FAR.delay
    assert trained.bytes > 100_000
    assert (trained.seconds_ahead, trained.bytes_ahead) == (None, None)
    for result in (public, private):
        assert min(result.seconds, result.seconds_ahead or 0.0) > 10 * FAR.delay
        assert min(result.bytes, result.bytes_ahead or 0) > 1000


def test_a_training_lasts_from_its_seal_to_its_service() -> None:
    def record(number: int, verb: str) -> Record:
        time = datetime.fromtimestamp(1000.0 + number, UTC)
        return Record(number, "", Entry(time, "mixer a", "mixer a", verb, "round 1", {}))

    trail = [
        record(number, verb) for number, verb in enumerate(("contributed", "sealed", "trains", "serves", "serves"))
    ]
    assert span_of_training(trail) == Span(1001.0, 1003.0)
    assert span_of_training(trail[:3]) is None


def bench(monkeypatch: pytest.MonkeyPatch, *flags: str) -> Any:
    def measured(link: SlowLink, repeats: int) -> Iterator[SlowResult]:
        assert (link, repeats) == (SlowLink.of(25, 100), 7)
        return iter(SLOW)

    monkeypatch.setattr(command, "measure_slow_links", measured)
    return CliRunner().invoke(app, ["bench", *flags])


@pytest.mark.parametrize("rate", [(), ("--rate", "100")])
def test_the_document_of_slow_links(rate: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    done = bench(monkeypatch, "--nodes", "--delay", "25", *rate, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == [asdict(result) for result in SLOW]


def test_the_table_of_slow_links(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = bench(monkeypatch, "--nodes", "--delay", "25").stdout
    assert "25 ms one way, 100 Mbit/s each way" in shown
    lines = {result.task: next(line for line in shown.splitlines() if result.task in line) for result in SLOW}
    assert lines[SLOW[0].task].replace("│", "").split()[-5:] == ["0.76", "5.67", "567", "0.75", "5.00"]
    assert lines[SLOW[1].task].replace("│", "").split()[-2:] == ["1.68", "2.58"]


@pytest.mark.parametrize(
    ("flags", "said"), [(("--delay", "25"), "add --nodes"), (("--nodes", "--rate", "100"), "add --delay MS")]
)
def test_half_a_link_is_refused(flags: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    error = bench(monkeypatch, *flags).exception
    assert isinstance(error, Unsupported)
    assert said in str(error)
