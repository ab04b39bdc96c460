"""`--workers`: a real scheduler with two real workers gives the figures of one process, or says why it cannot."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from dask import config
from distributed import Client
from distributed.scheduler import KilledWorker
from sklearn.datasets import load_iris

from mixbayes.cli import dask_workers
from mixbayes.cli.workers import spread
from mixbayes.keys.authority import make_authority, make_request, sign
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
"""Workers import this file."""


@dataclass(frozen=True)
class Cluster:
    scheduler: str
    processes: Sequence[subprocess.Popen[bytes]]
    """The scheduler, and its workers."""


@contextmanager
def cluster(folder: Path, workers: int, scheme: str = "tcp", options: Sequence[str] = ()) -> Iterator[Cluster]:
    address = f"{scheme}://127.0.0.1:{free_port()}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with ExitStack() as stack:

        def start(*words: str) -> subprocess.Popen[bytes]:
            command = [sys.executable, "-m", f"distributed.cli.dask_{words[0]}", *words[1:], *options]
            process = subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.DEVNULL)
            stack.callback(process.wait, 60)
            stack.callback(process.kill)
            return process

        here = ["--dashboard-address", "127.0.0.1:0"]
        scheduler = start("scheduler", "--host", address, *here)
        own = ["--no-nanny", "--nthreads", "1", "--local-directory", str(folder), *here]
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


@dataclass(frozen=True)
class _Unreadable:
    """What nobody can unpack."""

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return int, ("none",)


def test_work_that_never_begins_is_told(lent: str) -> None:
    with pytest.raises(RuntimeError, match="deserialization"), spread(1, lent):
        list(in_turn(str, [(_Unreadable(),)]))


def test_work_of_which_workers_die_is_given_up(lent: str) -> None:
    died: Any = None
    with pytest.raises(dask_workers.WorkersFailed, match="several workers ended"), spread(1, lent):
        raise KilledWorker("work", died, 3)


def _slow(number: int) -> int:
    time.sleep(0.1)
    return number**2


def test_a_worker_that_dies_is_made_up_for_and_the_last_one_is_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived = []
    with cluster(tmp_path, 2) as found, ExitStack() as stack:
        stack.enter_context(pytest.raises(dask_workers.WorkersFailed, match="no worker is left"))
        stack.enter_context(spread(1, found.scheduler))
        monkeypatch.setattr(dask_workers, "PATIENCE", 1)
        for process in found.processes[1:]:
            results = in_turn(_slow, [(number,) for number in range(20)])
            first = next(results)
            process.kill()
            assert [first, *results] == [number**2 for number in range(20)]
            lived.append(process)
    assert lived == [found.processes[1]]


def test_a_scheduler_that_dies_is_missed(tmp_path: Path) -> None:
    with cluster(tmp_path, 1) as found, ExitStack() as stack:
        stack.enter_context(pytest.raises(dask_workers.WorkersFailed, match="the scheduler was lost"))
        stack.enter_context(config.set({"distributed.comm.timeouts.connect": 1}))
        stack.enter_context(spread(1, found.scheduler))
        for number in in_turn(_slow, [(number,) for number in range(50)]):
            if number == 0:
                found.processes[0].kill()


def test_over_tls(tmp_path: Path) -> None:
    make_authority(tmp_path)
    make_request("work", tmp_path)
    sign(tmp_path / "work.csr", tmp_path, tmp_path / "work.pem")
    files = {name: str(tmp_path / f"{own}.pem") for name, own in (("ca-file", "authority"), ("cert", "work"))}
    files["key"] = str(tmp_path / "work.key")
    options = [word for name, file in files.items() for word in (f"--tls-{name}", file)]
    with cluster(tmp_path, 1, "tls", options) as found:
        with pytest.raises(dask_workers.WorkersFailed, match="dask has no certificates"), spread(1, found.scheduler):
            pass
        names = {"ca-file": "ca-file", "cert": "client.cert", "key": "client.key"}
        mine = {f"distributed.comm.tls.{names[name]}": file for name, file in files.items()}
        with config.set(mine), spread(1, found.scheduler):
            assert list(in_turn(_slow, [(3,)])) == [9]


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("--jobs", "2", "--workers", "tcp://127.0.0.1:1"), 2, "choose one"),
        (("--workers", "127.0.0.1:8786"), 2, "tcp://HOST:PORT or tls://HOST:PORT"),
        (("--workers", "tcp://127.0.0.1:1"), 4, "no scheduler answers there"),
    ],
)
def test_what_cannot_be_used_is_refused(
    mixbayes: Callable[[str], Command],
    iris: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: Sequence[str],
    code: int,
    why: str,
) -> None:
    monkeypatch.setattr(dask_workers, "PATIENCE", 0.3)
    done = mixbayes("tune")(iris, *TUNED["sizes"].split(), *words)
    assert done.code == code
    assert why in done.err


@pytest.mark.parametrize(("whose", "named"), [("scheduler", "the scheduler"), ("workers", "tcp://127.0.0.1:")])
def test_another_version_is_refused(lent: str, monkeypatch: pytest.MonkeyPatch, whose: str, named: str) -> None:
    versions = Client.get_versions

    def found(client: Client, **asked: Any) -> Any:
        answer: Any = versions(client, **asked)
        one = answer["scheduler"] if whose == "scheduler" else next(iter(answer["workers"].values()))
        one["packages"]["scikit-learn"] = "0.1"
        return answer

    monkeypatch.setattr(Client, "get_versions", found)
    with pytest.raises(dask_workers.WorkersFailed, match=rf"{named}.* has scikit-learn 0\.1, here it is \d"):
        spread(1, lent).__enter__()


def test_tables_that_leave_the_machine_unencrypted_are_mentioned(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for address in ("tcp://127.0.0.1:8786", "tcp://[::1]:8786", "tls://dask.example:8786"):
        spread(1, address)
    assert capsys.readouterr().err == ""
    spread(1, "tcp://dask.example:8786")
    assert "without encryption" in capsys.readouterr().err
