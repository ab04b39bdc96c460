"""A node that cannot start, cannot end or has lost a thread that it needs ends with an exit code and one error."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mixbayes.cli import nodes
from mixbayes.cli.nodes import until_stopped
from mixbayes.node.log import logger
from mixbayes.transport.errors import CannotServe
from tests.services.helpers import make_site

ROOT = Path(__file__).parents[2]


def ran(script: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own, which may be ended at once."""
    lines = "import threading, time; from mixbayes.cli import bounded; bounded.bound_this_process(); " + script
    return subprocess.run([sys.executable, "-c", lines], cwd=ROOT, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("waiting", ["time.sleep(60)", "threading.Thread(target=time.sleep, args=(60,)).start()"])
def test_a_step_that_takes_too_long_ends_the_process(waiting: str) -> None:
    """Also where the main thread is through, and another one holds the process up."""
    done = ran(f"bounded.begin('to start', 0.2); {waiting}")
    assert done.returncode == 1
    assert done.stderr.startswith("mixbayes: This node took too long to start, and gives up.")
    assert done.stderr.endswith("[E122]\n")
    assert done.stderr.count("\n") == 1


def test_a_step_that_is_over_may_be_followed_by_something_that_takes_long() -> None:
    done = ran("bounded.begin('to start', 0.2); bounded.over(); time.sleep(0.6); bounded.begin('to end', 60)")
    assert (done.returncode, done.stderr) == (0, "")


class AtWork:
    def __init__(self, *threads: threading.Thread) -> None:
        self.threads = threads


@contextmanager
def working(*threads: threading.Thread) -> Iterator[AtWork]:
    yield AtWork(*threads)


def test_a_node_ends_with_a_thread_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "_LOOK_EVERY", 0.05)
    left = threading.Event()
    lives, dies = threading.Thread(target=left.wait, name="lives"), threading.Thread(target=str, name="leader")
    lives.start()
    dies.start()
    with pytest.raises(CannotServe, match=r"A thread that this node needs has ended \(leader\)"):
        until_stopped(working(lives, dies), logger("mixer a", io.StringIO()))
    left.set()
    lives.join()


@pytest.mark.parametrize("error", [RuntimeError("can't start new thread"), MemoryError()])
def test_a_start_without_room_says_so(error: Exception) -> None:
    @contextmanager
    def starting() -> Iterator[AtWork]:
        raise error
        yield

    with pytest.raises(CannotServe, match=r"This node cannot start\. The system may have no threads or memory") as told:
        until_stopped(starting(), logger("mixer a", io.StringIO()))
    assert told.value.__cause__ is error


def test_a_mistake_at_the_start_is_no_lack_of_room() -> None:
    @contextmanager
    def starting() -> Iterator[AtWork]:
        raise RuntimeError("dictionary changed size during iteration")
        yield

    with pytest.raises(RuntimeError, match="dictionary changed"):
        until_stopped(starting(), logger("mixer a", io.StringIO()))


SCARCE = """
import sys, threading
left, usual = int(sys.argv.pop(1)), threading.Thread.start

def start(thread):
    global left
    left -= 1
    if left < 0:
        raise RuntimeError("can't start new thread")
    usual(thread)

threading.Thread.start = start
from mixbayes.cli import main
main()
"""
"""A command in a process that is given so many threads."""


def test_however_few_threads_there_are_a_mixer_ends_or_serves(tmp_path: Path) -> None:
    """Here it always ends: it would need more."""
    site = make_site(tmp_path / "site")
    for threads in (0, 1):
        words = (
            "mixer",
            "--federation",
            site.file,
            "--name",
            "a",
            "--keys",
            site.keys,
            "--state",
            tmp_path / f"{threads}",
        )
        command = [sys.executable, "-c", SCARCE, str(threads), *map(str, words)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
        assert done.returncode == 1, done.stderr
        assert done.stderr.count("[E122]") == 1
        assert '"ready"' not in done.stderr
