"""How a node hears that it is to stop."""

from __future__ import annotations

import io
import itertools
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from mixbayes.cli.nodes import until_stopped
from mixbayes.node.log import logger

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.timeout(120)
LATER = 3.0
"""Seconds until a node that is told by nobody is told from another thread."""


class Told:
    """A node that is told to stop once: before so many instructions of its wait, or by another thread at last."""

    def __init__(self, step: int) -> None:
        self._left = step
        self._once = threading.Lock()
        self._other = threading.Timer(LATER, self._tell)
        self.in_a_step = False
        self.threads: list[threading.Thread] = []

    def __enter__(self) -> Told:
        self._other.start()
        sys.settrace(self._trace)
        self._trace(sys._getframe(1), "call", None)  # pyright: ignore[reportPrivateUsage] - the one that waits
        return self

    def __exit__(self, *ended: object) -> None:
        sys.settrace(None)
        self._other.cancel()
        self._other.join()

    def _trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        frame.f_trace, frame.f_trace_opcodes = self._trace, True
        if event == "opcode":
            self._left -= 1
            if self._left == 0:
                self._tell(in_a_step=True)
        return self._trace

    def _tell(self, *, in_a_step: bool = False) -> None:
        if self._once.acquire(blocking=False):
            self.in_a_step = in_a_step
            signal.pthread_kill(threading.get_ident(), signal.SIGTERM)


def is_told_in(step: int) -> bool:
    """Whether the wait has so many steps; it ends either way."""
    told, journal = Told(step), io.StringIO()
    with suppress(SystemExit):  # if it is told before it is ready
        until_stopped(told, logger("mixer a", journal))
        assert '"stopping"' in journal.getvalue()
    return told.in_a_step


def steps_of_the_wait() -> int:
    """How many instructions its wait has; it is told to stop before each of them."""
    return next(step for step in itertools.count(1) if not is_told_in(step))


def test_whatever_it_does_when_it_is_told_to_stop() -> None:
    """Before each instruction of its wait: it may hold nothing that the handler of a signal needs.

    It runs in a process of its own, so that the trace of instructions meets no thread that other tests have left.
    """
    script = "from tests.cli.test_nodes import steps_of_the_wait; print(steps_of_the_wait())"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 10  # the way into its wait, and the wait


def test_a_node_that_waits_for_others_before_it_is_ready_stops_at_once() -> None:
    left = threading.Event()

    @contextmanager
    def waiting() -> Iterator[Told]:
        try:
            threading.Event().wait(60.0)
            yield Told(0)
        finally:
            left.set()

    main = threading.get_ident()
    telling = threading.Timer(0.1, lambda: signal.pthread_kill(main, signal.SIGTERM))
    telling.start()
    with pytest.raises(SystemExit) as ended:
        until_stopped(waiting(), logger("party north", io.StringIO()))
    assert (ended.value.code, left.is_set()) == (0, True)
