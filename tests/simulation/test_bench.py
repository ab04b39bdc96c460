"""`mixbayes bench`: every kind of task, small."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from typer.testing import CliRunner

from mixbayes.cli import bench as command
from mixbayes.cli.app import app
from mixbayes.simulation.bench import TASKS, Result, Task, measure

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
