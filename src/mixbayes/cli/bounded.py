"""Steps of a node's process that end in time, or end the process, so that whoever supervises it can start it again.

gRPC, for one, waits for ever for a thread that the system does not give it, in a place that no signal reaches.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import suppress
from typing import NoReturn

from mixbayes.transport.errors import NO_ROOM, CannotServe

TO_START, TO_END = 90.0, 25.0
"""Seconds. A supervisor usually kills a node 30 s after it has told it to stop."""


class _Bound:
    """One thread from the beginning on: once the system is out of threads, it could not be had any more."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._until: float | None = None
        self._step = ""
        threading.Thread(target=self._watch, name="bound", daemon=True).start()

    def set(self, step: str, seconds: float | None) -> None:
        with self._changed:
            self._step, self._until = step, None if seconds is None else time.monotonic() + seconds
            self._changed.notify()

    def _watch(self) -> None:
        with self._changed:
            while (left := self._left()) is None or left > 0:
                self._changed.wait(left)
        error = CannotServe(f"This node took too long {self._step}, and gives up. {NO_ROOM}")
        print(f"mixbayes: {error} [{error.code}]", file=sys.stderr, flush=True)
        os._exit(error.exit_code)

    def _left(self) -> float | None:
        return None if self._until is None else self._until - time.monotonic()


_bounds: list[_Bound] = []
"""None, unless this process is a node and nothing else."""


def bound_this_process() -> None:
    """From now on `begin` means it. Only for a process that is a node and nothing else."""
    try:
        _bounds.append(_Bound())
    except RuntimeError:
        raise CannotServe(f"The system gives this node no thread. {NO_ROOM}") from None


def begin(step: str, seconds: float) -> None:
    """This step, such as `to start`, takes no longer than so many seconds. The one before is over."""
    for bound in _bounds:
        bound.set(step, seconds)


def over() -> None:
    """The step is over, and what follows may take as long as it likes."""
    for bound in _bounds:
        bound.set("", None)


def end_process(code: str | int | None) -> NoReturn:
    """End now, with the code of a `SystemExit`, and without waiting for any thread."""
    if isinstance(code, str):
        print(code, file=sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # nobody reads it any more
            stream.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))
