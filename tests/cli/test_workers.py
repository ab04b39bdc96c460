"""`--workers`: a real scheduler with two real workers gives the figures of one process, or says why it cannot."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sklearn.datasets import load_iris

from mixbayes.cli import dask_workers
from mixbayes.cli.workers import spread
from mixbayes.research.tasks import in_turn
from tests.cli.in_process import Command, command
from tests.ports import free_port
from tests.research.study.four import write_tables

pytestmark = [
    pytest.mark.timeout(120),
    # joblib's backend leaves what it had asked its client for to the collector
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
ROOT = Path(__file__).parents[2]
QUIET = {"DASK_DISTRIBUTED__ADMIN__EVENT_LOOP_MONITOR_INTERVAL": "1h"}


@dataclass(frozen=True)
class Cluster:
    scheduler: str
    processes: Sequence[subprocess.Popen[bytes]]
    """The scheduler, and its workers."""


@contextmanager
def cluster(folder: Path, workers: int, scheme: str = "tcp", settings: dict[str, str] | None = None) -> Iterator[Cluster]:
    address = f"{scheme}://127.0.0.1:{free_port()}"
    environment = {**os.environ, **QUIET, "PYTHONPATH": str(ROOT), **(settings or {})}  # workers import this file
    with ExitStack() as stack:

        def start(*words: str) -> subprocess.Popen[bytes]:
            command = [sys.executable, "-m", f"distributed.cli.dask_{words[0]}", *words[1:], "--no-dashboard"]
            process = subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.DEVNULL)
            stack.callback(process.wait, 60)
            stack.callback(process.kill)
            return process

        scheduler = start("scheduler", "--host", address)
        own = ["--no-nanny", "--nthreads", "1", "--local-directory", str(folder)]
        yield Cluster(address, [scheduler, *(start("worker", address, *own) for _ in range(workers))])


@pytest.fixture(scope="module")
def lent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with cluster(tmp_path_factory.mktemp("dask"), 2) as found:
        yield found.scheduler


@pytest.fixture
def mixbayes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[str], Command]:
    return lambda name: command(name, monkeypatch, capsys)


@pytest.fixture
def iris(tmp_path: Path) -> Path:
    X, y = load_iris(return_X_y=True)
    lines = ["a,b,c,d,class", *(",".join(map(str, [*row, f"kind {c}"])) for row, c in zip(X, y, strict=True))]
    (tmp_path / "iris.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "iris.csv"


TUNED = {
    "sizes": "--method class-wise-condensation -t 40 --repeats 2",
    "parameter": "--method microaggregation --parameter k --from 3 --to 5 --repeats 2 --classifier tree",
    "pareto": "--method dmpd --population 6 --generations 2 --repeats 1 --classifier tree",
}


def without_seconds(document: Any) -> Any:
    if isinstance(document, dict):
        return {key: without_seconds(value) for key, value in document.items() if key != "seconds"}
    return list(map(without_seconds, document)) if isinstance(document, list) else document


@pytest.mark.parametrize("kind", TUNED)
def test_tune(mixbayes: Callable[[str], Command], lent: str, iris: Path, kind: str) -> None:
    words = (iris, *TUNED[kind].split(), "--json")
    elsewhere = mixbayes("tune")(*words, "--workers", lent)
    assert without_seconds(elsewhere.document) == without_seconds(mixbayes("tune")(*words).document)


def test_reproduce(mixbayes: Callable[[str], Command], lent: str, iris: Path) -> None:
    words = ("sap-figure-4.1", "sap-figure-4.4", "roy-table-4.1", "--data-dir", iris.parent, "--quick", "--json")
    here = without_seconds(mixbayes("reproduce")(*words).document)
    assert any(part["rows"] for part in here["experiments"][1]["parts"])
    assert without_seconds(mixbayes("reproduce")(*words, "--workers", lent).document) == here
    assert without_seconds(mixbayes("reproduce")(*words, "--jobs", 2).document) == here


def test_study(mixbayes: Callable[[str], Command], lent: str, tmp_path: Path) -> None:
    write_tables(tmp_path)
    words = ("--data-dir", tmp_path, "--quick", "--json")
    here = without_seconds(mixbayes("study")(*words).document)
    assert without_seconds(mixbayes("study")(*words, "--workers", lent).document) == here


def test_the_worker_does_it_with_one_thread(lent: str) -> None:
    with spread(1, lent):
        found = list(in_turn(_who, [()] * 4))
    assert os.getpid() not in {process for process, _ in found}
    assert {threads for _, threads in found} == {1}


def _who() -> tuple[int, int]:
    from threadpoolctl import threadpool_info

    return os.getpid(), max(library["num_threads"] for library in threadpool_info())


def _ends(number: int) -> None:
    os._exit(number)


def test_work_that_ends_every_worker_is_given_up(tmp_path: Path) -> None:
    allowed = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
    with cluster(tmp_path, 2, settings=allowed) as found, ExitStack() as stack:
        stack.enter_context(pytest.raises(dask_workers.WorkersFailed, match="several workers ended"))
        stack.enter_context(spread(1, found.scheduler))
        list(in_turn(_ends, [(1,)]))


def _slow(number: int) -> int:
    time.sleep(0.2)
    return number**2


def test_a_worker_that_dies_is_made_up_for(tmp_path: Path) -> None:
    with cluster(tmp_path, 2) as found, spread(1, found.scheduler):
        results = in_turn(_slow, [(number,) for number in range(20)])
        first = next(results)
        found.processes[1].kill()
        assert [first, *results] == [number**2 for number in range(20)]


@pytest.mark.parametrize(
    ("dying", "told"), [(slice(1), "the scheduler was lost"), (slice(1, None), "no worker is left")]
)
def test_nobody_waits_for_workers_that_are_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dying: slice, told: str
) -> None:
    with cluster(tmp_path, 1) as found, ExitStack() as stack:
        stack.enter_context(pytest.raises(dask_workers.WorkersFailed, match=told))
        stack.enter_context(spread(1, found.scheduler))
        monkeypatch.setattr(dask_workers, "PATIENCE", 1)
        for number in in_turn(_slow, [(number,) for number in range(50)]):
            if number == 0:
                for process in found.processes[dying]:
                    process.send_signal(signal.SIGKILL)
